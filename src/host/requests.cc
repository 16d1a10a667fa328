#include "host/requests.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "agent/instructions.h"
#include "agent/opening.h"
#include "agent/request.h"
#include "agent/room.h"
#include "base/hash.h"
#include "base/loop.h"
#include "host/model_access.h"
#include "host/model_names.h"
#include "provider/dialect.h"
#include "provider/offline.h"
#include "provider/selection.h"
#include "tool/builtin.h"
#include "tool/registry.h"
#include "tool/shells.h"

namespace stet::host {
namespace {

/// Encodes requests of any model that the configuration knows. Keys are not needed for that.
class Encoder {
 public:
  explicit Encoder(const config::Settings& settings) : settings_(settings) {}

  Result<const provider::Model*> ModelNamed(const std::string& name) {
    const auto found = models_.find(name);
    if (found != models_.end()) return &found->second;
    ASSIGN_OR_RETURN(provider::Selected selected,
                     provider::SelectModel(settings_, AskedFor(settings_, name),
                                           [](const std::string&) { return std::string("-"); }));
    return &models_.emplace(name, std::move(selected.access.model)).first->second;
  }

  /// In `dialect`, if it is one: the model may have been configured in another one since.
  Result<provider::WireRequest> Encode(const std::string& name, const std::string& dialect,
                                       const provider::Request& request) {
    ASSIGN_OR_RETURN(const provider::Model* found, ModelNamed(name));
    provider::Model model = *found;
    model.dialect = provider::DialectFrom(dialect).value_or(model.dialect);
    if (model.dialect == provider::Dialect::kOffline)
      return provider::OfflineProvider(ProcessRandom()).Encode(request);
    return provider::EncodeRequest(model, request);
  }

 private:
  const config::Settings& settings_;
  std::map<std::string, provider::Model> models_;
};

/// Makes the requests of one log again, in file order.
class Maker {
 public:
  Maker(log::Log& log, const config::Settings& settings) : log_(log), encoder_(settings) {}

  Status Open() {
    ASSIGN_OR_RETURN(const agent::Opening opening, agent::ReadOpening(log_));
    if (!opening.snapshot)
      return Fail(Code::kNotFound, "the session has no instructions yet: nothing was ever sent");
    parts_.system = agent::RenderSnapshot(*opening.snapshot);
    parts_.cache_key = agent::CacheKeyOf(*opening.snapshot);
    snapshot_ = *opening.snapshot;
    return {};
  }

  /// The request of the `model_call` start that is the event `at`, made at `leaf`.
  Result<provider::WireRequest> Make(const protocol::ModelCall& start, log::Ordinal leaf,
                                     log::Ordinal at) {
    if (start.toolset && *start.toolset != toolset_) {
      ASSIGN_OR_RETURN(const std::string json, log_.blobs().Get(*start.toolset));
      ASSIGN_OR_RETURN(parts_.tools, agent::ToolsFrom(json));
      toolset_ = *start.toolset;
    }
    if (!start.toolset) parts_.tools.clear();
    agent::TakeParams(start.params.value_or(Raw{"{}"}), parts_);
    RETURN_IF_ERROR(conversation_.Update(log_, leaf, at));
    return Encode(start.model.value_or(""), start.dialect.value_or(""));
  }

  /// What would follow the leaf, with the tools there are now.
  Result<provider::WireRequest> MakeNext(const std::string& model,
                                         std::vector<provider::ToolSpec> tools) {
    parts_.tools = std::move(tools);
    RETURN_IF_ERROR(conversation_.Update(log_));
    return Encode(model, "");
  }

  Result<const provider::Model*> ModelNamed(const std::string& name) {
    return encoder_.ModelNamed(name);
  }
  [[nodiscard]] const agent::RequestParts& parts() const { return parts_; }
  [[nodiscard]] const context::Conversation& conversation() const { return conversation_; }
  context::Conversation TakeConversation() { return std::move(conversation_); }
  [[nodiscard]] const protocol::InstructionSnapshot& snapshot() const { return snapshot_; }

 private:
  Result<provider::WireRequest> Encode(const std::string& model, const std::string& dialect) {
    provider::Request request = agent::MakeRequest(parts_, conversation_, log_);
    Result<provider::WireRequest> wire = encoder_.Encode(model, dialect, request);
    conversation_.TakeBack(std::move(request.entries));
    return wire;
  }

  log::Log& log_;
  Encoder encoder_;
  agent::RequestParts parts_;
  std::string toolset_;
  context::Conversation conversation_;
  protocol::InstructionSnapshot snapshot_;
};

using StartVisitor =
    std::function<Status(const protocol::Event&, const protocol::ModelCall&, log::Ordinal at)>;

/// Calls `visit` for every start of a model call.
Status ForEachStart(const log::Log& log, const StartVisitor& visit) {
  const std::vector<log::Entry>& entries = log.index().entries();
  for (log::Ordinal event = 0; event < entries.size(); ++event) {
    if (entries[event].type != protocol::kTypeNumber<protocol::ModelCall>) continue;
    ASSIGN_OR_RETURN(const protocol::Event found, log.EventAt(event));
    const auto* call = std::get_if<protocol::ModelCall>(&found.payload);
    if (call != nullptr && call->phase == "start") RETURN_IF_ERROR(visit(found, *call, event));
  }
  return {};
}

/// The last request of a turn, and what its server counted.
struct LastCall {
  log::Ordinal at = log::kNone;
  std::int64_t ts = 0;
  protocol::ModelCall start;
  protocol::OptionalUsage usage;
};

std::optional<LastCall> FindLastCall(const log::Log& log) {
  const std::vector<log::Entry>& entries = log.index().entries();
  std::map<std::string, protocol::OptionalUsage> usages;  // Of the calls below, by their id.
  for (std::size_t at = entries.size(); at > 0; --at) {
    if (entries[at - 1].type != protocol::kTypeNumber<protocol::ModelCall>) continue;
    const Result<protocol::Event> event = log.EventAt(static_cast<log::Ordinal>(at - 1));
    const auto* call = event ? std::get_if<protocol::ModelCall>(&event->payload) : nullptr;
    if (call == nullptr) continue;
    if (call->phase == "end" && call->attempts && !call->attempts->empty())
      usages[call->call_id] = call->attempts->back().usage;
    if (call->phase == "start" && call->purpose == "turn")
      return LastCall{.at = static_cast<log::Ordinal>(at - 1),
                      .ts = event->stamp.ts,
                      .start = *call,
                      .usage = usages[call->call_id]};
  }
  return std::nullopt;
}

constexpr std::int64_t kBytesPerToken = 4;

void AddPart(protocol::ContextReport& report, std::string_view name, std::size_t bytes) {
  const auto found = std::ranges::find(report.parts, name, &protocol::ContextPart::name);
  protocol::ContextPart& part = found != report.parts.end() ? *found : report.parts.emplace_back();
  part.name = name;
  part.count += 1;
  part.bytes += static_cast<std::int64_t>(bytes);
  part.tokens = part.bytes / kBytesPerToken;
}

std::size_t SizeOf(const protocol::Blocks& blocks) { return Encode(blocks).size(); }

std::vector<provider::ToolSpec> BuiltinSpecs() {
  Loop loop;
  ModelAccess access(loop);
  tool::Shells none({});
  tool::Registry registry;
  for (std::unique_ptr<tool::Tool>& builtin : tool::BuiltinTools({{}, none}, {&access.http(), {}}))
    (void)registry.Add(std::move(builtin));
  std::vector<provider::ToolSpec> specs;
  for (tool::ToolSpec& spec : registry.Specs())
    specs.push_back({std::move(spec.name), std::move(spec.description), std::move(spec.schema)});
  return specs;
}

void DescribeParts(const Maker& maker, protocol::ContextReport& report) {
  for (const protocol::Section& section : maker.snapshot().snapshot.sections) {
    if (!section.rendered_block.empty())
      AddPart(report, "system." + section.kind, section.rendered_block.size());
  }
  for (const provider::ToolSpec& tool : maker.parts().tools)
    AddPart(report, "tools", tool.name.size() + tool.description.size() + tool.schema.text.size());
  for (const provider::Entry& entry : maker.conversation().Entries()) {
    if (const auto* user = std::get_if<provider::UserInput>(&entry)) {
      const bool reminder = protocol::PlainText(user->blocks).starts_with("<system-reminder>");
      AddPart(report, reminder ? "reminders" : "user", SizeOf(user->blocks));
    } else if (const auto* turn = std::get_if<provider::AssistantTurn>(&entry)) {
      AddPart(report, "assistant", SizeOf(turn->blocks));
    } else if (const auto* result = std::get_if<provider::ToolResult>(&entry)) {
      AddPart(report, "tool results", SizeOf(result->content));
    }
  }
}

}  // namespace

Result<protocol::ReplayReport> ReplayRequests(log::Log& log, const config::Settings& settings) {
  protocol::ReplayReport report;
  report.session_id = log.header().session_id;
  Maker maker(log, settings);
  RETURN_IF_ERROR(maker.Open());
  RETURN_IF_ERROR(ForEachStart(
      log, [&](const protocol::Event& event, const protocol::ModelCall& call, log::Ordinal at) {
        protocol::ReplayRow& row = report.requests.emplace_back();
        row.call_id = call.call_id;
        row.turn_id = event.stamp.turn_id.value_or("");
        row.purpose = call.purpose.value_or("");
        row.model = call.model.value_or("");
        row.dialect = call.dialect.value_or("");
        row.recorded_hash = call.request_hash.value_or("");
        row.verdict = "not_compared";
        if (row.purpose != "turn") {
          row.why = "it was not made for a turn";
          ++report.not_compared;
          return Status();
        }
        const Result<provider::WireRequest> wire =
            maker.Make(call, log.index().entries()[at].parent, at);
        if (!wire) {
          row.why = wire.error().Text();
          ++report.not_compared;
          return Status();
        }
        row.hash = FastHashHex(wire->body);
        row.bytes = static_cast<std::int64_t>(wire->body.size());
        const bool same = row.hash == row.recorded_hash;
        row.verdict = same ? "same" : "different";
        if (!same) row.why = "the log gives other bytes than were sent";
        ++(same ? report.same : report.different);
        return Status();
      }));
  return report;
}

void PrimeRequests(agent::Workbench& bench, const config::Settings& settings) {
  const std::optional<LastCall> last = FindLastCall(bench.log);
  Maker maker(bench.log, settings);
  if (!last || !maker.Open()) return;
  const Result<provider::WireRequest> wire =
      maker.Make(last->start, bench.log.index().entries()[last->at].parent, last->at);
  const Result<const provider::Model*> model = maker.ModelNamed(last->start.model.value_or(""));
  if (!wire || !model) return;
  bench.account.Prime("turn", **model, *wire, last->usage, last->ts, last->at);
  bench.fixed_bytes = agent::BytesOf(maker.parts());
  bench.conversation = maker.TakeConversation();
  agent::LearnTokens(bench, last->usage);
}

Result<protocol::ContextReport> DescribeContext(log::Log& log, const config::Settings& settings) {
  Maker maker(log, settings);
  RETURN_IF_ERROR(maker.Open());
  protocol::ContextReport report;
  report.session_id = log.header().session_id;
  report.model = log.index().state().info.model.value_or(log.header().meta.model);
  // The last request of a turn, to compare with.
  std::optional<protocol::ModelCall> last;
  log::Ordinal last_at = log::kNone;
  RETURN_IF_ERROR(ForEachStart(
      log, [&](const protocol::Event&, const protocol::ModelCall& call, log::Ordinal at) {
        if (call.purpose == "turn") {
          last = call;
          last_at = at;
        }
        return Status();
      }));
  std::string before;
  if (last) {
    if (Result<provider::WireRequest> wire =
            maker.Make(*last, log.index().entries()[last_at].parent, last_at))
      before = std::move(wire->body);
  }
  std::vector<provider::ToolSpec> tools =
      last && last->toolset ? maker.parts().tools : BuiltinSpecs();
  ASSIGN_OR_RETURN(const provider::WireRequest next,
                   maker.MakeNext(report.model, std::move(tools)));
  ASSIGN_OR_RETURN(const provider::Model* model, maker.ModelNamed(report.model));
  report.dialect = provider::DialectName(model->dialect);
  report.context_window = model->context_window;
  report.bytes = static_cast<std::int64_t>(next.body.size());
  report.tokens = report.bytes / kBytesPerToken;
  DescribeParts(maker, report);
  if (before.empty()) return report;
  const auto differs = std::ranges::mismatch(before, next.body);
  report.same_bytes = differs.in1 - before.begin();
  const bool moved = last->model != report.model;
  report.difference = fmt::format("up to byte {} of {}: {}", *report.same_bytes, before.size(),
                                  moved ? "the model changed" : "the conversation went on");
  return report;
}

}  // namespace stet::host
