// The check of a call before anything else is done with it. Every error is for the model.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/json.h"
#include "json/schema/schema.h"

namespace stet::tool {

/// A schema as everything that has the same one shares it: sessions of a host have the same tools.
/// kInvalid or kUnsupported when it cannot be used. May be called from any thread.
Result<std::shared_ptr<const JsonSchema>> SharedSchema(std::string_view text);

/// kInvalid lists what is wrong with the arguments.
Status CheckArguments(std::string_view tool, const JsonSchema& schema, const Raw& args);

/// kNotFound; says which of `names` are nearest to what was called.
Error NoSuchTool(std::string_view called, const std::vector<std::string_view>& names);

}  // namespace stet::tool
