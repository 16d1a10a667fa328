// The header: line 1 of every log. It is not an event: it has no seq, no id and no parent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "protocol/content.h"

namespace stet::protocol {

/// The version of the log format that this program writes, and the newest that it reads.
inline constexpr std::int64_t kLogVersion = 1;

struct Origin {
  STET_FIELDS(Origin, (Text, session_id), (OptionalText, event_id))
};
using OptionalOrigin = std::optional<Origin>;

struct SessionMeta {
  STET_FIELDS(SessionMeta, (Text, project_id), (Text, cwd), (OptionalText, title), (Text, model))
};

struct Header {
  STET_FIELDS(Header,
              (std::int64_t, version),
              (Text, session_id),
              (Text, device_id),
              (std::int64_t, created_at),
              (OptionalOrigin, cloned_from),
              (Text, kind),  // Open set: chat, agent, workflow, board, workspace, ...
              (OptionalText, parent_session_id),
              (OptionalText, root_session_id),
              (OptionalText, agent_id),
              (OptionalText, task_id),
              (OptionalText, parent_tool_call_id),
              (SessionMeta, meta))
};

}  // namespace stet::protocol
