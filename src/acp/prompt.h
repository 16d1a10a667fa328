// A prompt of the Agent Client Protocol as a message to a session. Pure.
//
// Links to files become mentions (`@path`), so that their content goes along as with any mention;
// embedded texts stand behind the message, each under the name of where it is from; images go along
// as images.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "json/view.h"
#include "protocol/live.h"

namespace stet::acp {

/// kInvalid names the block that cannot be taken, or says that nothing is said.
Result<protocol::Send> ReadPrompt(const JsonView& blocks, std::string_view cwd);

/// The path of a file's URI, with its escapes resolved; empty when it is no URI of a file here.
std::string PathOfUri(std::string_view uri);

}  // namespace stet::acp
