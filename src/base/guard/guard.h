// Guard: the process between us and a command that we run, so that nothing of the command outlives
// us. Subprocess starts one for a command that asks for it (SpawnOptions::guarded).
//
// A guard is a child subreaper, so whatever the command leaves behind, by double fork or in a
// session of its own, becomes its child. It holds one end of a socket; we hold the other,
// close-on-exec. When ours closes, be it by our death, or when we ask, everything is killed: all
// that is found is stopped, until nothing new appears, then killed, and again until no child is
// left. The same happens when the command itself has ended.
//
// Below it stands a second process, the command's parent (init.h): a command that kills its parent
// is still ended by the guard, and one that kills the guard by the other. Where the system gives a
// PID namespace that process is the first in one with its own /proc, and the kernel ends everything
// with it: then a command sees only its own processes. A user namespace is made for that only
// around a command in a box: it would break sudo and the ownership of files. Without a namespace,
// or with $STET_NO_PID_NAMESPACE set for the command, it is a subreaper too; what escapes then is a
// command that kills both in one instant (kill -9 -1, which ends us as well). Not covered in either
// way: what a service of the system starts on the command's behalf.
//
// Guards are forked by a keeper, which is this program started once more (keeper.h): starting a
// command costs no exec of ours.
#pragma once

#include <cstdint>
#include <optional>

#include "base/guard/box.h"

namespace stet {

/// The first thing in main of every program that runs guarded commands; `maker` makes the boxes of
/// those that have one. Does not return in a process that was started to be a keeper or a guard.
void BecomeGuardIfAsked(int argc, char** argv, guard::BoxMaker maker = nullptr);

namespace guard {

/// Our own program, which is the guard's; right also when its file was replaced meanwhile.
inline constexpr const char* kProgram = "/proc/self/exe";
/// What a keeper and a guard are called; the word behind it says which of them.
inline constexpr const char* kName = "stet-guard";
inline constexpr const char* kKeeperWord = "keep";
inline constexpr const char* kHereWord = "here";
/// Where a guard has its end of the socket (SOCK_SEQPACKET), and a keeper the one that orders come
/// through.
inline constexpr int kControlFd = 3;
/// Where a guard that was started without a keeper has its order: with kHereWord, in the session
/// and the group of the process that starts it.
inline constexpr int kOrderFd = 4;
/// The exit code of a command that was not started because its box could not be made.
inline constexpr int kCannotConfine = 125;

/// True once BecomeGuardIfAsked was called: to start a guard would otherwise start us again.
bool Available();

/// What a guard says, over its life: kStarted or kFailed, then kExited or kSignalled. Its own end
/// comes after that of all processes below it; without the last word when it was told to kill.
struct News {
  enum class Kind : std::int32_t { kStarted, kFailed, kExited, kSignalled };
  Kind kind = Kind::kStarted;
  std::int32_t value = 0;  // An errno, the exit code, or the signal.
};

/// The next word, without waiting; nothing when there is none.
std::optional<News> Hear(int control);

/// SIGKILL ends everything. Another signal goes to every process below the guard; when the command
/// then ends, the others have 2 s to do so too.
void Ask(int control, int signal);

}  // namespace guard
}  // namespace stet
