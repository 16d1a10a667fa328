#include "acp/listing.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include <fmt/format.h>

#include "base/clock.h"
#include "json/writer.h"

namespace stet::acp {
namespace {

using protocol::SessionSummary;

constexpr std::size_t kPageSize = 100;

/// Where a session stands in the list: the newest first.
struct Place {
  std::int64_t updated_at = 0;
  std::string session_id;

  friend bool operator<(const Place& a, const Place& b) {
    return std::tie(b.updated_at, a.session_id) < std::tie(a.updated_at, b.session_id);
  }
};

Place PlaceOf(const SessionSummary& session) { return {session.updated_at, session.session_id}; }

std::string CursorOf(const Place& place) {
  return fmt::format("{}.{}", place.updated_at, place.session_id);
}

Result<Place> ReadCursor(const std::string& cursor) {
  Place place;
  const char* end = cursor.data() + cursor.size();
  const auto [rest, error] = std::from_chars(cursor.data(), end, place.updated_at);
  if (error != std::errc() || rest == end || *rest != '.')
    return Fail(Code::kInvalid, "cursor: it is not one that session/list gave");
  place.session_id.assign(rest + 1, end);
  return place;
}

void WriteSession(JsonWriter& writer, const SessionSummary& session) {
  writer.BeginObject().Member("sessionId", session.session_id).Member("cwd", session.cwd);
  if (!session.title.empty()) writer.Member("title", session.title);
  writer.Member("updatedAt", FormatUtc(session.updated_at)).EndObject();
}

}  // namespace

Result<std::string> ListPage(std::vector<SessionSummary> sessions, const ListWanted& wanted) {
  std::optional<Place> behind;
  if (wanted.cursor) {
    ASSIGN_OR_RETURN(behind, ReadCursor(*wanted.cursor));
  }
  std::erase_if(sessions, [&](const SessionSummary& session) {
    return session.user_messages == 0 || session.parent_session_id || session.cwd.empty() ||
           (wanted.cwd && session.cwd != *wanted.cwd) || (behind && !(*behind < PlaceOf(session)));
  });
  std::ranges::sort(sessions, std::less(), PlaceOf);
  const std::size_t count = std::min(sessions.size(), kPageSize);
  std::string result;
  JsonWriter writer(result);
  writer.BeginObject().Key("sessions").BeginArray();
  for (std::size_t i = 0; i < count; ++i) WriteSession(writer, sessions[i]);
  writer.EndArray();
  if (count < sessions.size()) writer.Member("nextCursor", CursorOf(PlaceOf(sessions[count - 1])));
  writer.EndObject();
  return result;
}

}  // namespace stet::acp
