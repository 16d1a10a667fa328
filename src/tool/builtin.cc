#include "tool/builtin.h"

namespace stet::tool {

std::vector<std::unique_ptr<Tool>> BuiltinTools(ShellAccess access) {
  std::vector<std::unique_ptr<Tool>> tools;
  tools.push_back(MakeReadTool());
  tools.push_back(MakeWriteTool());
  tools.push_back(MakeEditTool());
  tools.push_back(MakeGlobTool());
  tools.push_back(MakeGrepTool());
  Shells& shells = access.shells;
  tools.push_back(MakeBashTool(std::move(access)));
  tools.push_back(MakeBashTaskTool(shells));
  tools.push_back(MakeTodoWriteTool());
  tools.push_back(MakeAskUserTool());
  return tools;
}

}  // namespace stet::tool
