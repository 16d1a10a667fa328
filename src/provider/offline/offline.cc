#include "provider/offline/offline.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/utf8.h"
#include "provider/offline/plan.h"
#include "provider/selection.h"

namespace stet::provider {
namespace {

constexpr std::string_view kIntroduction =
    "I am stet's built-in offline model: a few rules, not a language model. I understand:\n\n"
    "- read FILE\n"
    "- list FILES (a pattern such as src/*.cc)\n"
    "- search TEXT [in PATH]\n"
    "- run COMMAND\n"
    "- replace A with B in FILE\n"
    "- write FILE: TEXT\n"
    "- several of these joined by \"then\"\n\n"
    "For real work, give stet a language model: set its key (for example ANTHROPIC_API_KEY) and "
    "name it with --model PROVIDER/ID, or write it into config.toml:\n\n"
    "    [model]\n"
    "    provider = \"anthropic\"\n"
    "    id = \"claude-sonnet-5-5\"\n\n"
    "`stet models` lists what can be named.";

/// A token is about four bytes of anything.
constexpr std::size_t kBytesPerToken = 4;
constexpr std::size_t kMaxReported = 2000;

std::string Bounded(std::string text) {
  if (text.size() <= kMaxReported) return text;
  const std::size_t left = text.size() - kMaxReported;
  text.resize(Utf8PrefixLength(text, kMaxReported));
  return fmt::format("{}\n[{} more bytes]", text, left);
}

constexpr std::string_view kReminder = "<system-reminder>";

/// What a tool gave, without what the harness added to it.
std::string OwnText(const ToolResult& result) {
  std::string text = protocol::PlainText(result.content);
  text.resize(std::min(text.find(fmt::format("\n\n{}", kReminder)), text.size()));
  return text;
}

/// Where the conversation stands: the last request, and what was done about it since.
struct Standing {
  std::string request;
  std::vector<const ToolResult*> results;
};

Standing Read(const Request& request) {
  Standing standing;
  for (const Entry& entry : request.entries) {
    if (const auto* input = std::get_if<UserInput>(&entry)) {
      std::string text = protocol::PlainText(input->blocks);
      if (text.starts_with(kReminder)) continue;  // Not the user's.
      standing = {.request = std::move(text), .results = {}};
    } else if (const auto* result = std::get_if<ToolResult>(&entry)) {
      standing.results.push_back(result);
    }
  }
  return standing;
}

class Speaker {
 public:
  Speaker(const Model& model, const Request& request, Sink& sink, Random& random)
      : request_(request), builder_(model, sink, random) {}

  Reply Answer(std::int64_t input_tokens);

 private:
  void Say(std::string_view text);
  void Call(const PlannedCall& call);
  void Report(const std::vector<PlannedCall>& plan, const Standing& standing);
  [[nodiscard]] bool HasTool(const std::string& name) const {
    return std::ranges::any_of(request_.tools,
                               [&](const ToolSpec& tool) { return tool.name == name; });
  }

  const Request& request_;
  ReplyBuilder builder_;
  std::size_t output_bytes_ = 0;
};

/// In pieces of a word each, as a model would.
void Speaker::Say(std::string_view text) {
  const ReplyBuilder::Handle block = builder_.OpenText();
  output_bytes_ += text.size();
  while (!text.empty()) {
    const std::size_t blank = text.find_first_of(" \n");
    const std::size_t size = blank == std::string_view::npos ? text.size() : blank + 1;
    builder_.Append(block, text.substr(0, size));
    text.remove_prefix(size);
  }
  builder_.Close(block);
}

void Speaker::Call(const PlannedCall& call) {
  if (!HasTool(call.tool)) {
    Say(fmt::format("For this I need the tool {}, which I am not given here.", call.tool));
    return;
  }
  Say(call.saying);
  const ReplyBuilder::Handle block = builder_.OpenToolCall(call.tool, "");
  builder_.AppendArgs(block, call.args.text);
  builder_.Close(block);
  output_bytes_ += call.args.text.size();
}

void Speaker::Report(const std::vector<PlannedCall>& plan, const Standing& standing) {
  const std::size_t done = std::min(plan.size(), standing.results.size());
  const ToolResult& last = *standing.results[done - 1];
  const std::string output = Bounded(OwnText(last));
  if (last.is_error) {
    const std::size_t left = plan.size() - done;
    Say(fmt::format("{} did not succeed:\n\n{}{}", plan[done - 1].tool, output,
                    left > 0 ? fmt::format("\n\nI did not go on; {} left undone.", left) : ""));
  } else {
    Say(output.empty() ? "Done."
                       : fmt::format("Done. {} gave:\n\n{}", plan[done - 1].tool, output));
  }
}

Reply Speaker::Answer(std::int64_t input_tokens) {
  builder_.Start("offline");
  const Standing standing = Read(request_);
  const auto plan = PlanRequest(standing.request);
  const bool failed = !standing.results.empty() && standing.results.back()->is_error;
  if (!plan) {
    Say(kIntroduction);
  } else if (standing.results.size() < plan->size() && !failed) {
    Call((*plan)[standing.results.size()]);
  } else {
    Report(*plan, standing);
  }
  protocol::Usage usage;
  usage.input = input_tokens;
  usage.output = static_cast<std::int64_t>((output_bytes_ / kBytesPerToken) + 1);
  builder_.Report(usage, true);
  builder_.Stop(stop::kEnd);
  builder_.End();
  return builder_.TakeReply();
}

}  // namespace

OfflineProvider::OfflineProvider(Random& random) : model_(OfflineModel()), random_(random) {}

/// In the form of a wire that others speak, so that it can be hashed and compared like theirs.
Result<WireRequest> OfflineProvider::Encode(const Request& request) const {
  return openai_completions::Encode(model_, request);
}

Async<CallResult> OfflineProvider::Stream(const Request& request, const WireRequest& wire,
                                          Sink& sink, CancelToken cancel) {
  CallResult call;
  call.model = model_;
  protocol::Attempt attempt;
  if (cancel.cancelled()) {
    Failure failure{.kind = FailureKind::kCancelled, .message = "cancelled"};
    call.reply.failure = std::move(failure);
    call.reply.partial = true;
    attempt.outcome = "cancelled";
  } else {
    Speaker speaker(model_, request, sink, random_);
    call.reply = speaker.Answer(static_cast<std::int64_t>(wire.body.size() / kBytesPerToken));
    attempt.outcome = "done";
  }
  attempt.usage = call.reply.content.usage;
  call.attempts.push_back(std::move(attempt));
  co_return call;
}

Async<Result<std::int64_t>> OfflineProvider::CountTokens(const Request&, CancelToken) {
  co_return Fail(Code::kUnsupported, "the offline model has no server that counts tokens");
}

}  // namespace stet::provider
