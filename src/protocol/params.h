// The params and replies of methods that are no concept of their own. protocol/methods.h says which
// method has which.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/content.h"
#include "protocol/files.h"
#include "protocol/limits.h"
#include "protocol/live.h"
#include "protocol/session.h"
#include "protocol/tasks.h"
#include "protocol/turn_report.h"
#include "protocol/wire.h"

namespace stet::protocol {

struct Nothing {
  STET_FIELDS(Nothing)
};

struct SessionRef {
  STET_FIELDS(SessionRef, (Text, session_id))
};

struct PathParams {
  STET_FIELDS(PathParams, (Text, path))
};
struct ProjectRef {
  STET_FIELDS(ProjectRef, (Text, project_id))
};
struct ProjectList {
  STET_FIELDS(ProjectList, (Projects, projects))
};

struct ListParams {
  STET_FIELDS(ListParams,
              (OptionalText, project_id),
              (OptionalText, text),  // In the title, the first or the last prompt.
              (OptionalBool, all),  // Child sessions too, behind their root.
              (OptionalInt, limit))  // 200 when it is absent.
  static constexpr std::array kLimits = {Limit{.member = "limit", .least = 0, .most = 1000}};
};
struct SessionList {
  STET_FIELDS(SessionList, (std::vector<SessionSummary>, sessions))  // The newest first.
};
struct FolderParams {
  STET_FIELDS(FolderParams, (Text, cwd))
  static constexpr std::array kLimits = {Limit{.member = "cwd", .required = true}};
};

/// Where the leaf should be; it is not moved when it is not `expected_leaf`.
struct MoveLeaf {
  STET_FIELDS(MoveLeaf, (Text, session_id), (OptionalText, target), (OptionalText, expected_leaf))
};
struct CloneParams {
  STET_FIELDS(CloneParams, (Text, session_id), (OptionalText, at))
};

struct RecentParams {
  STET_FIELDS(RecentParams, (Text, session_id), (std::int64_t, count))
  static constexpr std::array kLimits = {Limit{.member = "count", .least = 0}};
};
struct EventList {
  STET_FIELDS(EventList, (Raws, events))
};

struct TurnRef {
  STET_FIELDS(TurnRef, (Text, session_id), (Text, turn_id))
};
struct CancelParams {
  STET_FIELDS(CancelParams,
              (Text, session_id),
              (OptionalText, turn_id))  // Absent: whichever turn runs or waits then.
};
struct TurnList {
  STET_FIELDS(TurnList, (TurnRows, turns))
};

struct QueueParams {
  STET_FIELDS(QueueParams,
              (Text, session_id),
              (Text, queue),  // follow_up or steer
              (QueueItems, items))  // All that remain of it.
  static constexpr std::array kLimits = {
      Limit{.member = "queue", .required = true, .words = "follow_up steer"},
      Limit{.member = "items", .required = true}};
};

struct CommandParams {
  STET_FIELDS(CommandParams, (Text, session_id), (Text, name), (Text, text))
};
/// What to show.
struct Said {
  STET_FIELDS(Said, (Text, text))
};

struct BlobParams {
  STET_FIELDS(BlobParams, (Text, session_id), (Text, name))
};
struct Blob {
  STET_FIELDS(Blob, (Text, name), (Text, base64))
};

}  // namespace stet::protocol
