#include "log/summary.h"

#include "base/fs.h"
#include "base/plain_file.h"
#include "base/text.h"
#include "base/utf8.h"

namespace stet::log {
namespace {

constexpr std::size_t kMaxSummaryBytes = std::size_t{1} << 20;

void CutTo(std::size_t max_bytes, std::string& text) {
  if (text.size() > max_bytes) text.resize(Utf8PrefixLength(text, max_bytes));
}

}  // namespace

void Bound(SessionSummary& summary) {
  for (std::string* text :
       {&summary.session_id, &summary.title, &summary.first_prompt, &summary.last_prompt,
        &summary.model, &summary.kind, &summary.device_id})
    CutTo(kMaxTitleBytes, *text);
  for (protocol::OptionalText* id :
       {&summary.parent_session_id, &summary.root_session_id, &summary.agent_id}) {
    if (*id) CutTo(kMaxTitleBytes, **id);
  }
  if (summary.cloned_from) {
    CutTo(kMaxTitleBytes, summary.cloned_from->session_id);
    if (summary.cloned_from->event_id) CutTo(kMaxTitleBytes, *summary.cloned_from->event_id);
  }
  CutTo(kMaxPathBytes, summary.project_id);
  CutTo(kMaxPathBytes, summary.cwd);
}

SessionSummary MakeSummary(const protocol::Header& header, const Index& index) {
  const SessionState& state = index.state();
  SessionSummary summary;
  summary.session_id = header.session_id;
  summary.title = state.info.title.value_or(
      header.meta.title.value_or(std::string(FirstLine(Trimmed(state.first_prompt)))));
  summary.first_prompt = state.first_prompt;
  summary.last_prompt = state.last_prompt;
  summary.project_id = header.meta.project_id;
  summary.cwd = state.info.cwd.value_or(header.meta.cwd);
  summary.model = state.info.model.value_or(header.meta.model);
  summary.kind = header.kind;
  summary.device_id = header.device_id;
  summary.created_at = header.created_at;
  summary.updated_at = std::max(state.updated_at, header.created_at);
  summary.user_messages = state.user_messages;
  summary.assistant_messages = state.assistant_messages;
  summary.tool_results = state.tool_results;
  summary.parent_session_id = header.parent_session_id;
  summary.root_session_id = header.root_session_id;
  summary.agent_id = header.agent_id;
  summary.cloned_from = header.cloned_from;
  summary.log_bytes = index.bytes();
  Bound(summary);
  return summary;
}

Status WriteSummary(const Paths& paths, const SessionSummary& summary) {
  return ReplaceFile(paths.summary(), Encode(summary) + "\n", Durable::kNo);
}

Result<SessionSummary> ReadSummary(const Paths& paths) {
  ASSIGN_OR_RETURN(const std::string text, ReadPlainFile(paths.summary(), kMaxSummaryBytes));
  ASSIGN_OR_RETURN(SessionSummary summary, Decode<SessionSummary>(text));
  Bound(summary);
  return summary;
}

protocol::Header RebuildHeader(const Paths& paths) {
  protocol::Header header;
  header.version = protocol::kLogVersion;
  header.session_id = paths.session_id();
  header.kind = "chat";
  if (const Result<SessionSummary> summary = ReadSummary(paths)) {
    header.device_id = summary->device_id;
    header.created_at = summary->created_at;
    header.kind = summary->kind;
    header.cloned_from = summary->cloned_from;
    header.parent_session_id = summary->parent_session_id;
    header.root_session_id = summary->root_session_id;
    header.agent_id = summary->agent_id;
    header.meta.project_id = summary->project_id;
    header.meta.cwd = summary->cwd;
    header.meta.model = summary->model;
    if (!summary->title.empty()) header.meta.title = summary->title;
  }
  return header;
}

}  // namespace stet::log
