#include "tool/builtin.h"

namespace stet::tool {

std::vector<std::unique_ptr<Tool>> BuiltinTools(ShellAccess shell, WebAccess web) {
  std::vector<std::unique_ptr<Tool>> tools;
  tools.push_back(MakeReadTool());
  tools.push_back(MakeWriteTool());
  tools.push_back(MakeEditTool());
  tools.push_back(MakeGlobTool());
  tools.push_back(MakeGrepTool());
  Shells& shells = shell.shells;
  tools.push_back(MakeBashTool(std::move(shell)));
  tools.push_back(MakeBashTaskTool(shells));
  tools.push_back(MakeTodoWriteTool());
  tools.push_back(MakeAskUserTool());
  tools.push_back(MakeExitPlanTool());
  if (web.http != nullptr) tools.push_back(MakeWebFetchTool(std::move(web)));
  return tools;
}

}  // namespace stet::tool
