// Guard: the process between us and a command that we run, so that nothing of the command outlives
// us. Subprocess starts one for a command that asks for it (SpawnOptions::guarded).
//
// The program starts itself again as `stet-guard`. That one is a child subreaper, so whatever the
// command leaves behind, by double fork or in a session of its own, becomes its child. It holds one
// end of a socket; we hold the other, close-on-exec. When ours closes, be it by our death, or when
// we ask, everything is killed: all that is found is stopped, until nothing new appears, then
// killed, and again until no child is left. The same happens when the command itself has ended.
//
// Below it stands a second process, the command's parent: a command that kills its parent is still
// ended by the guard, and one that kills the guard by the other. With CAP_SYS_ADMIN it is the first
// process of a PID namespace with its own /proc, and the kernel ends everything with it: then a
// command sees only its own processes. A user namespace is not used: it would break sudo and the
// ownership of files. Without the privilege, or with $STET_NO_PID_NAMESPACE set, it is a subreaper
// too; what escapes then is a command that kills both in one instant (kill -9 -1, which ends us as
// well). Not covered in either way: what a service of the system starts on the command's behalf.
//
// Measured on 2 busy cores, dev build, the fastest tenth of 300 times `true`: 0.6 ms without a
// guard; 3.0 ms with one and 3.4 ms in a PID namespace, 1.9 ms of them until the command starts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stet {

/// The first thing in main of every program that runs guarded commands. Does not return in a
/// process that was started to be a guard.
void BecomeGuardIfAsked(int argc, char** argv);

namespace guard {

/// Our own program, which is the guard's; right also when its file was replaced meanwhile.
inline constexpr const char* kProgram = "/proc/self/exe";
/// Where the guard has its end of the socket (SOCK_SEQPACKET).
inline constexpr int kControlFd = 3;

/// True once BecomeGuardIfAsked was called: to start a guard would otherwise start us again.
bool Available();

/// The arguments of a guard that runs `command`, in a session or else in a group of its own.
std::vector<std::string> Arguments(std::vector<std::string> command, bool new_session);

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
