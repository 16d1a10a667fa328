#include "lane/request_maker.h"

#include <algorithm>

#include "agent/instructions.h"
#include "agent/unfinished.h"
#include "device/model_names.h"
#include "provider/offline/offline.h"
#include "provider/selection.h"
#include "tool/toolset.h"

namespace stet::lane {

std::vector<TurnCall> LastTurnCalls(const log::Log& log, std::size_t count) {
  std::vector<TurnCall> calls;
  const std::vector<log::Entry>& entries = log.index().entries();
  std::map<std::string, protocol::OptionalUsage> usages;  // Of the calls below, by their id.
  for (std::size_t at = entries.size(); at > 0 && calls.size() < count; --at) {
    if (entries[at - 1].type != protocol::kTypeNumber<protocol::ModelCall>) continue;
    const Result<protocol::Event> event = log.EventAt(static_cast<log::Ordinal>(at - 1));
    const auto* call = event ? std::get_if<protocol::ModelCall>(&event->payload) : nullptr;
    if (call == nullptr) continue;
    if (call->phase == protocol::phase::kEnd && call->attempts && !call->attempts->empty())
      usages[call->call_id] = call->attempts->back().usage;
    if (call->phase == protocol::phase::kStart && call->purpose == "turn")
      calls.push_back({.at = static_cast<log::Ordinal>(at - 1),
                       .ts = event->stamp.ts,
                       .start = *call,
                       .usage = usages[call->call_id]});
  }
  std::ranges::reverse(calls);
  return calls;
}

std::int64_t PromptTokens(const protocol::Usage& usage) {
  return usage.input + usage.cache_read.value_or(0) + usage.cache_write.value_or(0);
}

Status RequestMaker::ReadSnapshots() {
  const std::vector<log::Entry>& entries = log_.index().entries();
  for (log::Ordinal at = 0; at < entries.size(); ++at) {
    if (entries[at].type != protocol::kTypeNumber<protocol::InstructionSnapshot>) continue;
    ASSIGN_OR_RETURN(const protocol::Event event, log_.EventAt(at));
    if (const auto* found = std::get_if<protocol::InstructionSnapshot>(&event.payload))
      snapshots_.emplace(at, *found);
  }
  return {};
}

void RequestMaker::UseSnapshot(log::Ordinal at) {
  auto found = snapshots_.upper_bound(at);
  if (found != snapshots_.begin()) --found;
  snapshot_ = found->second;
  parts_.system = agent::RenderSnapshot(snapshot_);
  parts_.cache_key = agent::CacheKeyOf(snapshot_);
}

Status RequestMaker::Open() {
  ASSIGN_OR_RETURN(const agent::Unfinished unfinished, agent::ReadUnfinished(log_));
  RETURN_IF_ERROR(ReadSnapshots());
  if (snapshots_.empty())
    return Fail(Code::kNotFound, "the session has no instructions yet: nothing was ever sent");
  UseSnapshot(log::kNone);
  if (unfinished.toolset) next_toolset_ = unfinished.toolset->toolset.blob;
  return {};
}

/// An empty name: none at all.
Status RequestMaker::UseTools(const std::string& blob) {
  if (blob == toolset_) return {};
  protocol::ToolSpecs tools;
  if (!blob.empty()) {
    ASSIGN_OR_RETURN(const std::string json, log_.blobs().Get(blob));
    ASSIGN_OR_RETURN(tools, tool::DecodeToolSpecs(json));
  }
  parts_.tools = std::move(tools);
  toolset_ = blob;
  return {};
}

Result<provider::WireRequest> RequestMaker::Make(const protocol::ModelCall& start,
                                                 log::Ordinal at) {
  if (snapshots_.size() > 1) UseSnapshot(at);
  RETURN_IF_ERROR(UseTools(start.toolset.value_or("")));
  agent::TakeParams(start.params.value_or(Raw{"{}"}), parts_);
  RETURN_IF_ERROR(conversation_.Update(log_, log_.index().entries()[at].parent, at));
  return Encode(start.model.value_or(""), start.dialect.value_or(""));
}

Result<provider::WireRequest> RequestMaker::MakeNext(const std::string& model) {
  if (snapshots_.size() > 1) UseSnapshot(log::kNone);
  RETURN_IF_ERROR(UseTools(next_toolset_));
  RETURN_IF_ERROR(conversation_.Update(log_));
  return Encode(model, "");
}

Result<const provider::Model*> RequestMaker::ModelNamed(const std::string& name) {
  const auto found = models_.find(name);
  if (found != models_.end()) return &found->second;
  ASSIGN_OR_RETURN(provider::Selected selected,
                   provider::SelectModel(settings_, device::AskedFor(settings_, name),
                                         [](const std::string&) { return std::string("-"); }));
  return &models_.emplace(name, std::move(selected.access.model)).first->second;
}

/// In `dialect`, if it is one: the model may have been configured in another one since.
Result<provider::WireRequest> RequestMaker::Encode(const std::string& name,
                                                   const std::string& dialect) {
  ASSIGN_OR_RETURN(const provider::Model* found, ModelNamed(name));
  provider::Model model = *found;
  model.dialect = provider::DialectFrom(dialect).value_or(model.dialect);
  provider::Request request = Lend();
  Result<provider::WireRequest> wire =
      model.dialect == provider::Dialect::kOffline
          ? provider::OfflineProvider(ProcessRandom()).Encode(request)
          : provider::EncodeRequest(model, request);
  TakeBack(std::move(request));
  return wire;
}

}  // namespace stet::lane
