// Descendants: the processes below this one, as /proc has them. For guards: processes with one
// thread that are child subreapers and do not wait for children elsewhere.
//
// A number may be given to another process between looking and signalling: what is signalled is
// held by a pidfd and was seen to have the parent that led to it.
#pragma once

#include <vector>

#include <sys/types.h>

namespace stet::guard {

struct Descendant {
  pid_t pid = -1;
  pid_t parent = -1;

  friend bool operator==(const Descendant&, const Descendant&) = default;
};

/// kChildren reads the lists that the kernel keeps for each thread; where it was built without
/// them, kStat asks every process for its parent.
enum class From { kChildren, kStat };
From BestSource();

/// All below `root`, parents before children; zombies too.
std::vector<Descendant> Descendants(pid_t root, From from);

/// Those that are gone by now, or have another parent, are left out.
void Signal(const std::vector<Descendant>& processes, int signal);

/// Whether a process is a command under a guard, or was started by one: of any process of stet's,
/// but not of one that we run below ourselves. A process that cannot be seen counts as one. A
/// process that names itself as guards are named can only lose by it.
bool IsUnderGuard(pid_t pid);

/// Kills everything below us and reaps it. Returns when nothing is left.
void KillDescendants();

}  // namespace stet::guard
