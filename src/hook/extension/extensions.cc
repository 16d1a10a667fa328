#include "hook/extension/extensions.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/utf8.h"
#include "hook/extension/process.h"
#include "hook/process.h"
#include "json/view.h"
#include "json/writer.h"

namespace stet::hook {
namespace {

constexpr std::size_t kMaxDataBytes = 65'536;
constexpr std::size_t kMaxNoticeBytes = 2000;

Raw ActivationOf(const ExtensionSession& session) {
  Raw params{""};
  JsonWriter(params.text)
      .BeginObject()
      .Member("protocol", 1)
      .Member("sessionId", session.session_id)
      .Member("project", session.project)
      .EndObject();
  return params;
}

/// The occasion's members, with what earlier ones made of the input and the output.
Raw ParamsOf(const Occasion& occasion, const Verdict& verdict) {
  Raw params{""};
  JsonWriter writer(params.text);
  writer.BeginObject();
  const std::string members = "{" + occasion.members + "}";
  JsonView(members).ForEachMember([&](std::string_view key, const JsonView& value) {
    if (key == "tool_input" && verdict.updated_input) {
      writer.Member(key, *verdict.updated_input);
    } else if (key == "tool_response" && verdict.updated_output) {
      writer.Key(key).BeginObject().Member("content", verdict.updated_output->text).EndObject();
    } else {
      writer.Key(key).Text(value.text());
    }
  });
  writer.EndObject();
  return params;
}

}  // namespace

/// One extension: its manifest and its process.
class Extensions::One : public std::enable_shared_from_this<Extensions::One> {
 public:
  One(ExtensionManifest manifest, const ExtensionSession& session, const ExtensionHost& host)
      : manifest_(std::move(manifest)),
        loop_(session.loop),
        host_(host),
        process_(
            session.loop,
            {.command = manifest_.command,
             .folder = manifest_.folder,
             .environment = WithProject(session.variables(), session.project),
             .timeout = timeout()},
            {.asked = [this](std::string_view method,
                             const Raw& params) { return Asked(method, params); },
             .told =
                 [this](const std::string& text) { host_.notice(by(), "it was stopped: " + text); },
             .activation = [activation = ActivationOf(session)] { return activation; }}) {}

  [[nodiscard]] const ExtensionManifest& manifest() const { return manifest_; }
  [[nodiscard]] std::string by() const { return "extension:" + manifest_.id; }
  [[nodiscard]] std::chrono::milliseconds timeout() const {
    return std::chrono::seconds(manifest_.timeout);
  }
  ExtensionProcess& process() { return process_; }

  Async<Result<Raw>> Ask(std::string method, Raw params, CancelToken cancel) {
    Result<Raw> reply =
        co_await process_.Ask(std::move(method), std::move(params), timeout(), std::move(cancel));
    co_return reply;
  }
  void Complain(const Error& error) const { host_.notice(by(), error.message); }

  Async<void> Settle() {
    if (converting_ == 0) co_return;
    const Pending<bool> settled = settled_.emplace(loop_);
    co_await settled;
  }

 private:
  /// What it asks of us.
  Result<Raw> Asked(std::string_view method, const Raw& params) {
    const JsonView given(params.text);
    Raw done{"null"};
    if (method == "notify") {
      const std::string text = given["text"].StringOr("");
      host_.notice(by(), text.substr(0, Utf8PrefixLength(text, kMaxNoticeBytes)));
      return done;
    }
    const std::string own = given["kind"].StringOr("");
    const bool named = !own.empty() && own.size() <= 64;
    if (!named) return Fail(Code::kInvalid, "kind must be a short text");
    const std::string kind = manifest_.id + "." + own;
    if (method == "read") return host_.read(kind);
    const JsonView data = given["data"];
    const Raw kept{data ? std::string(data.text()) : std::string("null")};
    if (kept.text.size() > kMaxDataBytes) return Fail(Code::kInvalid, "data is too long");
    if (method == "append") {
      RETURN_IF_ERROR(host_.append(kind, kept));
      return done;
    }
    if (method != "message") return Fail(Code::kNotFound, "there is no such method");
    ExtensionMessage message{.kind = kind, .text = given["text"].StringOr(""), .data = kept};
    ++converting_;
    loop_.Spawn(Send(shared_from_this(), std::move(message), own));
    return done;
  }

  static Async<void> Send(std::shared_ptr<One> self, ExtensionMessage message, std::string own) {
    co_await Convert(self, std::move(message), std::move(own));
    if (--self->converting_ == 0 && self->settled_) self->settled_->Set(true);
  }

  /// Asks the extension once for the text that the model is shown; that text is what is stored.
  static Async<void> Convert(std::shared_ptr<One> self, ExtensionMessage message, std::string own) {
    if (self->manifest_.Intercepts(intercept::kConvertToLlm)) {
      Raw params{""};
      JsonWriter(params.text)
          .BeginObject()
          .Member("kind", own)
          .Member("data", message.data)
          .EndObject();
      const CancelToken never;
      std::string method(intercept::kConvertToLlm);
      const Result<Raw> reply = co_await self->Ask(std::move(method), std::move(params), never);
      if (self->process_.closed()) co_return;
      const Result<CommandReply> text =
          reply ? ReadCommandReply(*reply) : std::unexpected(reply.error());
      if (!text) {
        self->Complain(text.error());
        co_return;
      }
      message.text = text->text;
    }
    message.text.resize(Utf8PrefixLength(message.text, kMaxTextBytes));
    if (message.text.find_first_not_of(" \t\r\n") == std::string::npos) co_return;
    self->host_.message(std::move(message));
  }

  ExtensionManifest manifest_;
  Loop& loop_;
  ExtensionHost host_;
  ExtensionProcess process_;
  std::size_t converting_ = 0;            // Messages on their way to the model.
  std::optional<Pending<bool>> settled_;  // Set when none is.
};

namespace {

/// A tool that an extension runs. What it does is unknown, so policy treats it as an effect.
template <class One>
class RemoteTool final : public tool::Tool {
 public:
  RemoteTool(std::shared_ptr<One> owner, ExtensionTool facts)
      : owner_(std::move(owner)), facts_(std::move(facts)) {}

  [[nodiscard]] std::string_view name() const override { return facts_.name; }
  [[nodiscard]] std::string_view description() const override { return facts_.description; }
  [[nodiscard]] std::string_view schema() const override { return facts_.schema; }
  [[nodiscard]] Result<tool::Intent> Intend(const Raw& args,
                                            const tool::Workspace&) const override {
    constexpr std::size_t kMaxSummary = 200;
    tool::Intent intent;
    intent.effects = true;
    intent.summary = fmt::format("{} {}", facts_.name, args.text.substr(0, kMaxSummary));
    return intent;
  }
  Async<tool::Outcome> Run(const Raw& args, tool::Call& call) override {
    Raw params{""};
    JsonWriter(params.text)
        .BeginObject()
        .Member("name", facts_.name)
        .Member("input", args)
        .Member("callId", call.tool_call_id)
        .EndObject();
    std::string method = "tool";
    const Result<Raw> reply =
        co_await owner_->Ask(std::move(method), std::move(params), call.cancel);
    Result<tool::Outcome> outcome = reply ? ReadToolReply(*reply) : std::unexpected(reply.error());
    if (!outcome)
      co_return tool::Problem(fmt::format("The extension {} failed: {}", owner_->manifest().id,
                                          outcome.error().message));
    co_return *std::move(outcome);
  }

 private:
  std::shared_ptr<One> owner_;
  ExtensionTool facts_;
};

}  // namespace

Extensions::Extensions(std::vector<ExtensionManifest> manifests, const ExtensionSession& session,
                       const ExtensionHost& host) {
  for (ExtensionManifest& manifest : manifests)
    all_.push_back(std::make_shared<One>(std::move(manifest), session, host));
}

Extensions::~Extensions() = default;

std::vector<std::unique_ptr<tool::Tool>> Extensions::MakeTools() {
  std::vector<std::unique_ptr<tool::Tool>> tools;
  for (const std::shared_ptr<One>& one : all_) {
    for (const ExtensionTool& facts : one->manifest().tools)
      tools.push_back(std::make_unique<RemoteTool<One>>(one, facts));
  }
  return tools;
}

std::vector<ExtensionCommand> Extensions::commands() const {
  std::vector<ExtensionCommand> commands;
  for (const std::shared_ptr<One>& one : all_)
    commands.insert(commands.end(), one->manifest().commands.begin(),
                    one->manifest().commands.end());
  return commands;
}

Async<Result<CommandReply>> Extensions::RunCommand(std::string name, std::string text,
                                                   CancelToken cancel) {
  for (const std::shared_ptr<One>& one : all_) {
    const std::vector<ExtensionCommand>& own = one->manifest().commands;
    if (std::ranges::find(own, name, &ExtensionCommand::name) == own.end()) continue;
    Raw params{""};
    JsonWriter(params.text).BeginObject().Member("name", name).Member("text", text).EndObject();
    std::string method = "command";
    const Result<Raw> reply =
        co_await one->Ask(std::move(method), std::move(params), std::move(cancel));
    if (!reply) co_return std::unexpected(Error(reply.error()).While(one->by()));
    co_return ReadCommandReply(*reply);
  }
  co_return Fail(Code::kNotFound, fmt::format("there is no /{}", name));
}

bool Extensions::Intercepts(std::string_view what) const {
  return std::ranges::any_of(
      all_, [&](const std::shared_ptr<One>& one) { return one->manifest().Intercepts(what); });
}

Async<void> Extensions::Judge(Occasion occasion, Verdict& verdict, CancelToken cancel) {
  const bool before = occasion.event == Event::kPreToolUse;
  const std::string method(before ? intercept::kBeforeToolCall : intercept::kAfterToolCall);
  for (const std::shared_ptr<One>& one : all_) {
    if (!one->manifest().Intercepts(method)) continue;
    Raw params = ParamsOf(occasion, verdict);
    const Result<Raw> reply = co_await one->Ask(method, std::move(params), cancel);
    if (cancel.cancelled()) co_return;
    Result<Output> output =
        reply ? ReadOutput(occasion.event, reply->text) : std::unexpected(reply.error());
    Outcome outcome{.by = one->by(), .output = {}, .trouble = {}};
    if (output) {
      outcome.output = *std::move(output);
    } else if (!one->manifest().fail_closed) {
      outcome.trouble = output.error().message;
    } else if (before) {
      outcome.output =
          BlockOf(occasion.event, "it must be asked, and failed: " + output.error().message);
    } else {
      outcome.output.updated_output =
          fmt::format("(Not shown: {}, which must see it first, failed: {})", one->by(),
                      output.error().message);
    }
    Add(verdict, std::move(outcome));
  }
}

Async<Result<std::vector<ContextChange>>> Extensions::Transform(Raw events, CancelToken cancel) {
  std::vector<ContextChange> changes;
  for (const std::shared_ptr<One>& one : all_) {
    if (!one->manifest().Intercepts(intercept::kTransformContext)) continue;
    Raw params{"{\"events\":" + events.text + "}"};
    std::string method(intercept::kTransformContext);
    const Result<Raw> reply = co_await one->Ask(std::move(method), std::move(params), cancel);
    if (cancel.cancelled()) break;
    Result<std::vector<ContextOperation>> operations =
        reply ? ReadOperations(*reply) : std::unexpected(reply.error());
    if (operations) {
      changes.push_back({one->by(), *std::move(operations)});
    } else if (one->manifest().fail_closed) {
      co_return std::unexpected(std::move(operations).error().While(one->by()));
    } else {
      one->Complain(operations.error());
    }
  }
  co_return changes;
}

Async<void> Extensions::Settle() {
  for (const std::shared_ptr<One>& one : all_) co_await one->Settle();
}

bool Extensions::Hears(std::string_view event) const {
  return std::ranges::any_of(
      all_, [&](const std::shared_ptr<One>& one) { return one->manifest().Hears(event); });
}

void Extensions::Tell(std::string_view event, const Raw& data) {
  Raw params{""};
  JsonWriter(params.text).BeginObject().Member("name", event).Member("data", data).EndObject();
  for (const std::shared_ptr<One>& one : all_) {
    if (one->manifest().Hears(event)) one->process().Tell("event", params);
  }
}

Async<void> Extensions::Close() {
  for (const std::shared_ptr<One>& one : all_) co_await one->process().Close();
}

}  // namespace stet::hook
