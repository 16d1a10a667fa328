#include "acp/params.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/version.h"
#include "json/writer.h"

namespace stet::acp {
namespace {

/// The real path of a folder that a client names.
Result<std::string> FolderOf(std::string_view name, const std::string& path) {
  if (!path.starts_with('/') || path.find('\0') != std::string::npos)
    return Fail(Code::kInvalid, fmt::format("{} must be an absolute path", name));
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  if (error || !std::filesystem::is_directory(real, error))
    return Fail(Code::kInvalid, fmt::format("{}: there is no folder {}", name, path));
  return real.string();
}

bool Offers(const JsonView& capability) { return capability.is_object(); }

}  // namespace

Result<std::string> TextParam(const JsonView& params, std::string_view name) {
  std::string text = params[name].StringOr("");
  if (text.empty()) return Fail(Code::kInvalid, fmt::format("{} must be a string", name));
  return text;
}

Result<protocol::Attach> ReadAttach(const JsonView& params, bool servers_required) {
  protocol::Attach attach;
  ASSIGN_OR_RETURN(const std::string cwd, TextParam(params, "cwd"));
  ASSIGN_OR_RETURN(attach.cwd, FolderOf("cwd", cwd));
  const JsonView servers = params["mcpServers"];
  const bool none = !servers || servers.is_null();
  if (none ? servers_required : !servers.is_array())
    return Fail(Code::kInvalid, "mcpServers must be an array");
  bool any = false;
  servers.ForEach([&](const JsonView&) { any = true; });
  if (any)
    return Fail(Code::kInvalid,
                "mcpServers: MCP servers are not supported here yet; send an empty list");
  Status added;
  params["additionalDirectories"].ForEach([&](const JsonView& folder) {
    Result<std::string> real = FolderOf("additionalDirectories", folder.StringOr(""));
    if (real)
      attach.add_dirs.push_back(*std::move(real));
    else if (added)
      added = std::unexpected(real.error());
  });
  RETURN_IF_ERROR(added);
  attach.answers = true;
  return attach;
}

ClientTraits ReadTraits(const JsonView& params) {
  const JsonView can = params["clientCapabilities"];
  ClientTraits traits{.forms = Offers(can["elicitation"]["form"]),
                      .notices = Offers(can["session"]["notices"]),
                      .compactions = Offers(can["session"]["compaction"]),
                      .offers = {}};
  const auto offers = [&](const JsonView& capability, std::string_view what) {
    if (capability.Bool().value_or(false)) traits.offers.emplace_back(what);
  };
  offers(can["fs"]["readTextFile"], protocol::offer::kRead);
  offers(can["fs"]["writeTextFile"], protocol::offer::kWrite);
  offers(can["terminal"], protocol::offer::kTerminal);
  return traits;
}

std::string InitializeResult(bool terminal_login) {
  std::string result;
  JsonWriter writer(result);
  writer.BeginObject().Member("protocolVersion", 1).Key("agentCapabilities").BeginObject();
  writer.Member("loadSession", true).Key("promptCapabilities").BeginObject();
  writer.Member("image", true).Member("audio", false).Member("embeddedContext", true).EndObject();
  writer.Key("mcpCapabilities")
      .BeginObject()
      .Member("http", false)
      .Member("sse", false)
      .EndObject();
  writer.Key("sessionCapabilities").BeginObject();
  for (const char* name : {"list", "delete", "resume", "close", "additionalDirectories"})
    writer.Key(name).Text("{}");
  writer.EndObject().EndObject().Key("agentInfo").BeginObject().Member("name", "stet");
  writer.Member("title", "stet").Member("version", ProgramVersion()).EndObject();
  writer.Key("authMethods").BeginArray().BeginObject().Member("id", "key");
  writer.Member("name", "A model's key")
      .Member("description",
              "Run `stet setup` in a terminal to choose a model, and put its key into the "
              "environment or into `stet vault`.");
  writer.EndObject();
  if (terminal_login) {
    writer.BeginObject().Member("type", "terminal").Member("id", "setup");
    writer.Member("name", "Set up in a terminal").Key("args").Text(R"(["setup"])").EndObject();
  }
  writer.EndArray().EndObject();
  return result;
}

}  // namespace stet::acp
