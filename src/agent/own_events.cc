#include "agent/own_events.h"

#include "base/seal.h"
#include "json/writer.h"

namespace stet::agent {
namespace {

/// Unambiguous: each part is quoted.
std::string MacText(const std::string& session_id, const log::Grant& answer) {
  std::string text;
  JsonWriter writer(text);
  writer.BeginArray().String("permission").String(session_id).String(answer.request_id);
  writer.String(answer.tool_call_id).String(answer.args_hash).String(answer.answer);
  writer.String(answer.edited).String(answer.rule).String(answer.scope).EndArray();
  return text;
}

std::string MacOf(const OwnEvents& own, const std::string& session_id, const log::Grant& answer) {
  return own.key.empty() ? "" : MacHex(MacText(session_id, answer), own.key);
}

}  // namespace

std::string MacOf(const OwnEvents& own, const std::string& session_id,
                  const protocol::Permission& answer) {
  return MacOf(own, session_id, log::GrantOf(answer));
}

bool IsOwn(const OwnEvents& own, const std::string& session_id, const log::Grant& answer) {
  return SameBytes(answer.mac, MacOf(own, session_id, answer));
}

}  // namespace stet::agent
