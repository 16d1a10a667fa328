// The tools that come with stet. Each is a file of its own; this is how the rest gets them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tool/tool.h"

namespace stet::tool {

std::unique_ptr<Tool> MakeReadTool();
std::unique_ptr<Tool> MakeWriteTool();
std::unique_ptr<Tool> MakeEditTool();

/// All of them.
std::vector<std::unique_ptr<Tool>> BuiltinTools();

}  // namespace stet::tool
