// Control requests of stream-json that need no session to be understood, and the lines that answer
// them. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "json/view.h"
#include "protocol/live.h"

namespace stet::sdk {

/// What `initialize` asks for, put into how the session will be opened. kInvalid names what there
/// is not here.
Status ApplyInitialize(const JsonView& request, protocol::Attach& attach);
/// Whether `initialize` asks for anything that must be known before the session is opened.
bool ShapesSession(const JsonView& request);

/// The answer to a request; `response` is a JSON object.
std::string ControlSuccess(std::string_view request_id, std::string_view response = "{}");
std::string ControlError(std::string_view request_id, std::string_view error);

/// What `initialize` is answered with.
std::string InitializeResponse();

}  // namespace stet::sdk
