#include "agent/session_tools.h"

#include "agent/workbench.h"

namespace stet::agent {

void SessionTools::Open(log::Log& log, const std::optional<log::LastToolset>& last,
                        std::int64_t context_window) {
  window_ = context_window;
  begun_ = last.has_value();
  if (!last) return Replace(protocol::toolset_cause::kFirst);
  kept_only_ = last->toolset.only;
  const Result<std::string> json = log.blobs().Get(last->toolset.blob);
  Result<protocol::ToolSpecs> specs =
      json ? tool::DecodeToolSpecs(*json) : std::unexpected(json.error());
  if (!specs) return Replace(protocol::toolset_cause::kDamage);
  toolset_ = tool::Toolset(*std::move(specs));
  blob_ = last->toolset.blob;
  // An older log says it from here on.
  if (last->event == log::kNone)
    cause_ = protocol::toolset_cause::kFirst;
  else
    kept_blob_ = blob_;
  const protocol::OptionalInt made_for = last->toolset.window;
  if (box_.OptionsDiffer(small(), toolset_))
    Replace(protocol::toolset_cause::kOption);
  else if (made_for && tool::IsSmallWindow(*made_for) != small())
    Replace(protocol::toolset_cause::kWindow);
  // The same tools under another option: later replacements are held to it.
  if (cause_.empty() && box_.only() != kept_only_) cause_ = protocol::toolset_cause::kOption;
}

void SessionTools::UseWindow(std::int64_t context_window) {
  const bool was_small = small();
  window_ = context_window;
  if (small() != was_small) Replace(protocol::toolset_cause::kWindow);
}

void SessionTools::Renew() { Replace(protocol::toolset_cause::kCompaction); }

/// Takes the toolset that the box gives now, unless it is the same one.
void SessionTools::Replace(std::string_view why) {
  tool::Toolset now = box_.Assemble(small());
  if (now == toolset_ && !blob_.empty()) return;
  toolset_ = std::move(now);
  blob_.clear();
  cause_ = begun_ ? why : protocol::toolset_cause::kFirst;
}

Result<std::optional<protocol::Toolset>> SessionTools::Unkept(log::Log& log) {
  if (cause_.empty()) return std::nullopt;
  if (blob_.empty()) {
    ASSIGN_OR_RETURN(blob_, log.blobs().Put(tool::EncodeToolSpecs(toolset_.specs())));
  }
  if (blob_ == kept_blob_ &&
      box_.only() == kept_only_) {  // It was replaced, and then came back before a model was asked.
    cause_.clear();
    return std::nullopt;
  }
  protocol::Toolset event;
  event.blob = blob_;
  event.cause = cause_;
  event.window = window_;
  event.only = box_.only();
  return event;
}

void SessionTools::SetKept() {
  begun_ = true;
  kept_blob_ = blob_;
  kept_only_ = box_.only();
  cause_.clear();
}

Status KeepToolset(Workbench& bench, const protocol::Stamp& stamp) {
  ASSIGN_OR_RETURN(std::optional<protocol::Toolset> event, bench.tools.Unkept(bench.log));
  if (!event) return {};
  RETURN_IF_ERROR(AppendEvent(bench.log, *std::move(event), stamp));
  bench.tools.SetKept();
  return {};
}

}  // namespace stet::agent
