// What can be chosen about a session, as the protocol has it: modes, and the options mode, model
// and effort. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "json/writer.h"
#include "protocol/live.h"
#include "protocol/models.h"

namespace stet::acp {

/// The modes and the one in force, as an object.
void WriteModes(JsonWriter& writer, const protocol::LiveState& state);

/// The options and what each is now, as an array. Models are those that can be asked here.
void WriteOptions(JsonWriter& writer, const protocol::LiveState& state,
                  const protocol::ModelList& models);

/// What a choice changes: nothing when that is so already. kInvalid names an option that there is
/// not.
Result<protocol::Change> ReadChoice(std::string_view option, const std::string& value,
                                    const protocol::LiveState& state);

}  // namespace stet::acp
