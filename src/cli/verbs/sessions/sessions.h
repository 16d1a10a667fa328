// `stet sessions`: what its verbs take, and what each does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "client/await.h"
#include "client/live.h"
#include "client/sessions.h"
#include "face/console.h"
#include "face/exit_codes.h"
#include "face/slow_notice.h"
#include "json/describe.h"

namespace stet::cli {

/// What the verbs take, each some of it.
struct SessionsArguments {
  std::string id;                // As typed; empty where it may be left out.
  std::vector<std::string> ids;  // rm takes several.
  std::string file;              // import's.
  std::string event;             // rewind's target, branch's leaf.
  std::optional<std::string> at;
  std::optional<std::string> expect;
  std::string output;
  bool json = false;
  bool cost = false;
  bool jsonl = false;
  bool reveal = false;
  bool yes = false;
  bool all = false;
  bool to_start = false;
  bool new_id = false;
  bool with_trash = false;
  bool dry_run = false;
  bool stop_tasks = false;
};

struct SessionRef {
  STET_FIELDS(SessionRef, (std::string, session_id))
};

/// What every verb works with.
struct SessionsWork {
  const SessionsArguments& given;
  client::Sessions& sessions;
  face::Console& console;

  /// The session that is named.
  [[nodiscard]] Result<std::string> Id() const {
    return client::Await(sessions, &client::Sessions::Resolve, given.id);
  }

  /// Await for what changes a session, which its host may have to do: says so when that takes long.
  template <class Call, class... Arguments>
  auto Change(Call call, Arguments&&... arguments) const {
    const face::SlowNotice slow(console, "the background host to answer");
    return client::Await(sessions, call, std::forward<Arguments>(arguments)...);
  }

  template <class T>
  Result<int> PrintJson(const T& value) const {
    return PrintJsonText(Encode(value) + "\n");
  }
  Result<int> PrintJsonText(std::string_view json) const {
    return console.PrintJson(json) ? face::kExitDone : face::kExitFailed;
  }
  Result<int> Print(std::string_view text) const {
    return console.Print(text) ? face::kExitDone : face::kExitFailed;
  }
};

// Each returns the exit code, or why it failed.
Result<int> ListSessions(const SessionsWork& work);
Result<int> ShowSession(const SessionsWork& work);
Result<int> ShowCapsule(const SessionsWork& work);
Result<int> ShowTree(const SessionsWork& work);
Result<int> RewindSession(const SessionsWork& work);
Result<int> BranchSession(const SessionsWork& work);
Result<int> RestoreFiles(const SessionsWork& work, client::Live& live);
Result<int> CloneSession(const SessionsWork& work);
Result<int> ExportSession(const SessionsWork& work);
Result<int> ImportSession(const SessionsWork& work);
Result<int> VerifySessions(const SessionsWork& work);
Result<int> RepairSession(const SessionsWork& work);
Result<int> RemoveSessions(const SessionsWork& work);
Result<int> RestoreSession(const SessionsWork& work);
Result<int> ShowDiskUse(const SessionsWork& work);
Result<int> CollectGarbage(const SessionsWork& work);

/// A session's title for a list: on one line, cut to fit.
std::string TitleText(const std::string& title, std::size_t columns);
/// "1 fault", "2 faults".
std::string Plural(std::uint64_t count, std::string_view noun);

}  // namespace stet::cli
