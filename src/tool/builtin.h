// The tools that come with stet. Each is a file of its own; this is how the rest gets them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "tool/shell/shells.h"
#include "tool/tool.h"

namespace stet::net {
class HttpClient;
}

namespace stet::tool {

std::unique_ptr<Tool> MakeReadTool();
std::unique_ptr<Tool> MakeWriteTool();
std::unique_ptr<Tool> MakeEditTool();
std::unique_ptr<Tool> MakeGlobTool();
/// Uses ripgrep when it is on PATH.
std::unique_ptr<Tool> MakeGrepTool();
/// What the tools for commands work with.
struct ShellAccess {
  /// What commands get of the environment: no keys of model providers.
  Variables variables;
  /// Of the session; outlives the tools.
  Shells& shells;
  /// Commands may be kept in a sandbox: the model is told how to ask for a way out.
  bool sandboxed = false;
  /// Names of variables that commands do not get where another program starts them.
  std::vector<std::string> hidden = {};
};
std::unique_ptr<Tool> MakeBashTool(ShellAccess access);
std::unique_ptr<Tool> MakeBashTaskTool(Shells& shells);
std::unique_ptr<Tool> MakeTodoWriteTool();
std::unique_ptr<Tool> MakeAskUserTool();
std::unique_ptr<Tool> MakeExitPlanTool();
/// What WebFetch works with.
struct WebAccess {
  net::HttpClient* http = nullptr;         // Outlives the tool.
  std::vector<std::string> private_hosts;  // May be asked though they are not public.
};
std::unique_ptr<Tool> MakeWebFetchTool(WebAccess access);
inline constexpr std::string_view kStructuredOutput = "StructuredOutput";
/// Not among the builtin ones: for a turn whose answer must fit `schema`, an object's.
std::unique_ptr<Tool> MakeStructuredOutputTool(std::string schema,
                                               std::function<void(const Raw&)> take);

/// Hides a finished turn of the model's from it, or, with `undo`, shows it again; without a turn,
/// lists what can be named. Gives what came of it in words.
using Snipper =
    std::function<Result<std::string>(const std::optional<std::string>& turn, bool undo)>;
/// Not among the builtin ones either: turns are the session's.
std::unique_ptr<Tool> MakeSnipTool(Snipper snip);

/// All of them, WebFetch only with a client. A caller that has keys in the environment leaves them
/// out of what it hands over.
std::vector<std::unique_ptr<Tool>> BuiltinTools(ShellAccess shell, WebAccess web = {});

}  // namespace stet::tool
