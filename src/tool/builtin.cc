#include "tool/builtin.h"

namespace stet::tool {

std::vector<std::unique_ptr<Tool>> BuiltinTools() {
  std::vector<std::unique_ptr<Tool>> tools;
  tools.push_back(MakeReadTool());
  return tools;
}

}  // namespace stet::tool
