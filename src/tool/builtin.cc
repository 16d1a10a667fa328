#include "tool/builtin.h"

namespace stet::tool {

std::vector<std::unique_ptr<Tool>> BuiltinTools(std::vector<std::string> secret_variables) {
  std::vector<std::unique_ptr<Tool>> tools;
  tools.push_back(MakeReadTool());
  tools.push_back(MakeWriteTool());
  tools.push_back(MakeEditTool());
  tools.push_back(MakeGlobTool());
  tools.push_back(MakeGrepTool());
  tools.push_back(MakeBashTool(std::move(secret_variables)));
  tools.push_back(MakeTodoWriteTool());
  tools.push_back(MakeAskUserTool());
  return tools;
}

}  // namespace stet::tool
