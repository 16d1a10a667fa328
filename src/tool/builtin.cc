#include "tool/builtin.h"

namespace stet::tool {

std::vector<std::unique_ptr<Tool>> BuiltinTools() {
  std::vector<std::unique_ptr<Tool>> tools;
  tools.push_back(MakeReadTool());
  tools.push_back(MakeWriteTool());
  tools.push_back(MakeEditTool());
  return tools;
}

}  // namespace stet::tool
