// Events as people read them: plain data.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/content.h"

namespace stet::protocol {

struct DisplayPart {
  STET_FIELDS(DisplayPart,
              (Text, kind),  // text; thinking; call: `text` is the tool, `detail` its arguments;
                             // image: `detail` is its media type; output: of a tool.
              (Text, text),
              (Text, detail))
};
using DisplayParts = std::vector<DisplayPart>;

struct DisplayRow {
  STET_FIELDS(DisplayRow,
              (Text, id),  // The event's.
              (std::int64_t, ts),
              (Text, tone),  // user, assistant, tool, problem, notice or aside
              (Text, title),
              (DisplayParts, parts),
              (bool, hidden))  // From people, unless they look at everything.
};

}  // namespace stet::protocol
