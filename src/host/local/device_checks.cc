// What `stet doctor` looks at, each for itself: one that fails keeps no other from being looked at.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fs.h"
#include "config/settings.h"
#include "device/model_access.h"
#include "host/local/device.h"
#include "provider/selection.h"
#include "sandbox/support.h"
#include "store/session_store.h"

namespace stet::host {
namespace {

using protocol::CheckRow;

CheckRow Row(std::string_view name, std::string_view verdict, std::string found,
             std::string_view advice = "") {
  CheckRow row;
  row.name = name;
  row.verdict = verdict;
  row.found = std::move(found);
  if (!advice.empty()) row.advice = advice;
  return row;
}

/// The folder itself, or the nearest one above it that is there.
std::string Standing(std::string path) {
  while (!Exists(path) && path != "/" && path != ".") path = ParentDir(path);
  return path;
}

CheckRow CheckFolder(std::string_view name, const std::string& path) {
  const std::string standing = Standing(path);
  if (::access(standing.c_str(), W_OK | X_OK) != 0)
    return Row(name, "fail", fmt::format("{} cannot be written", standing),
               "Give yourself the right to write there, or set STET_HOME to another folder.");
  return Row(name, "ok", standing == path ? path : path + " (made when it is needed)");
}

CheckRow CheckConfig(const config::Roots& roots) {
  const std::string path = roots.settings();
  if (const Result<config::Settings> settings = config::ReadSettings(path); !settings)
    return Row("configuration", "fail", settings.error().message,
               "Correct the file; `stet config check` says when it is right.");
  return Row("configuration", "ok", Exists(path) ? path : "none, the defaults hold");
}

CheckRow CheckModel(const config::Roots& roots) {
  const Result<config::Settings> settings = config::ReadSettings(roots.settings());
  if (!settings) return Row("model", "fail", "unknown while the configuration is wrong");
  const Result<provider::Selected> selected =
      provider::SelectModel(*settings, "", device::KeyLookup(roots));
  if (!selected)
    return Row("model", "fail", selected.error().message,
               selected.error().code == Code::kAuth ? "Export the variable in your shell's profile."
                                                    : "Run `stet setup`.");
  if (selected->offline())
    return Row("model", "warn", "only the built-in offline model", "Run `stet setup`.");
  return Row("model", "ok", selected->access.model.FullName());
}

struct Program {
  std::string_view name;
  std::string_view without;  // What is not there without it.
};
constexpr std::array kPrograms = {
    Program{"git", "Without git stet cannot tell what belongs to a repository."},
    Program{"rg", "Without ripgrep searches are slower."},
    Program{"bwrap", "Without bubblewrap commands cannot be kept in a sandbox."},
};

std::string FindProgram(std::string_view name) {
  const std::string path = device::ProcessEnvironment("PATH");
  for (std::string_view rest = path; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string file = fmt::format("{}/{}", rest.substr(0, end), name);
    if (end > 0 && ::access(file.c_str(), X_OK) == 0) return file;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return "";
}

CheckRow CheckProgram(const Program& program) {
  const std::string found = FindProgram(program.name);
  if (found.empty())
    return Row(program.name, "warn", "not found",
               fmt::format("{} Install it to have that.", program.without));
  return Row(program.name, "ok", found);
}

/// What commands can be kept in here, best first, and why not in the others.
CheckRow CheckSandbox(const config::Roots& roots) {
  const Result<config::Settings> settings = config::ReadSettings(roots.settings());
  const bool required = settings && settings->sandbox.required.value_or(false);
  std::string why_not;
  for (const sandbox::Tried& tried : sandbox::TryAll()) {
    const std::string_view name = sandbox::MechanismName(tried.mechanism);
    if (!tried.works) {
      why_not += fmt::format("; {} does not work: {}", name, tried.why_not);
      continue;
    }
    const std::string_view lacks = sandbox::Shortcoming(tried.mechanism);
    if (lacks.empty()) return Row("sandbox", "ok", std::string(name));
    return Row("sandbox", "warn", fmt::format("{}: {}{}", name, lacks, why_not),
               "Install bubblewrap to have all of it.");
  }
  return Row("sandbox", required ? "fail" : "warn", fmt::format("none{}", why_not),
             "Install bubblewrap, or allow user namespaces; without it commands are only asked "
             "about.");
}

CheckRow CheckDisk(const config::Roots& roots) {
  constexpr std::uint64_t kMega = std::uint64_t{1} << 20;
  constexpr std::uint64_t kFail = 100 * kMega;
  constexpr std::uint64_t kWarn = 1024 * kMega;
  struct statvfs facts{};
  const std::string folder = Standing(roots.data);
  if (::statvfs(folder.c_str(), &facts) != 0)
    return Row("disk", "warn", fmt::format("{} cannot be measured", folder));
  const std::uint64_t free = std::uint64_t{facts.f_bavail} * facts.f_frsize;
  const std::string found = fmt::format("{} MB free for {}", free / kMega, roots.data);
  if (free >= kWarn) return Row("disk", "ok", found);
  return Row(
      "disk", free < kFail ? "fail" : "warn", found,
      "Make room: `stet sessions du` shows what sessions take, `stet sessions gc` frees some.");
}

CheckRow CheckSessions(const config::Roots& roots) {
  const Result<std::vector<protocol::SessionSummary>> all = store::SessionStore(roots).List();
  if (!all) return Row("sessions", "fail", all.error().Text(), "Look at the folder's rights.");
  // One that cannot be read is listed by its id alone.
  const auto bad = std::ranges::count(*all, 0, &protocol::SessionSummary::created_at);
  if (bad > 0)
    return Row(
        "sessions", "fail", fmt::format("{} of {} cannot be read", bad, all->size()),
        "`stet sessions verify --all` says what is wrong, `stet sessions repair ID` mends it.");
  return Row("sessions", "ok", fmt::format("{}", all->size()));
}

}  // namespace

protocol::CheckRows ExamineDevice(const config::Roots& roots) {
  protocol::CheckRows rows;
  rows.push_back(CheckFolder("data", roots.data));
  if (roots.config != roots.data) rows.push_back(CheckFolder("config folder", roots.config));
  rows.push_back(CheckConfig(roots));
  rows.push_back(CheckModel(roots));
  for (const Program& program : kPrograms) rows.push_back(CheckProgram(program));
  rows.push_back(CheckSandbox(roots));
  rows.push_back(CheckDisk(roots));
  rows.push_back(CheckSessions(roots));
  return rows;
}

}  // namespace stet::host
