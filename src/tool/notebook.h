// Notebooks (.ipynb) as text for the model: the cells in order, with what they printed.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace stet::tool {

/// At most about `max_bytes`; what is left out is said. Images in outputs are only named. kInvalid
/// when the text is no notebook.
Result<std::string> RenderNotebook(std::string_view json, std::size_t max_bytes);

}  // namespace stet::tool
