// Scale: the sizes of all tests, in one place. STET_TEST_SCALE=full gives the sizes that the
// project's bars name; without it the tests are quick. Constant for the life of the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace stet {

struct Scale {
  // Crashes: sessions whose writer is killed at every boundary of a run (about 75 kills each), and
  // kills at random instants.
  int boundary_sessions = 8;

  int random_kills = 200;

  // Truncation: the log is cut at every `truncate_stride`-th byte of its last `truncate_bytes`.
  std::size_t truncate_bytes = std::size_t{64} << 10;
  std::size_t truncate_stride = 23;

  // Bits flipped in the log and in the index, each in a fresh copy.
  int log_flips = 1000;
  int index_flips = 1000;

  // Round trips of generated events.
  int round_trips = 200'000;

  // Appends until a small disk is full, again and again.
  int full_disk_rounds = 10;

  // Model calls by a program that is killed again and again.
  int ledger_calls = 300;

  // Kills of the program during commands that try to outlive it; in each of two modes.
  int orphan_kills = 20;

  // Kills of the program during a task, which is then continued.
  int turn_kills = 30;

  // Random histories, each made into a request of every dialect.
  int histories = 4'000;

  // Random edits of random files.
  int edits = 3'000;

  // Random values given to the checker of capsules.
  int capsules = 10'000;

  // Hostile lines that are run in boxes: one of so many.
  std::size_t hostile_stride = 20;

  // A folder and a link to the outside change places so often while tools work in it.
  std::size_t exchanges = 500;

  // Random scripts that change a project, each undone.
  int undo_scripts = 500;

  // Random shell lines, of which bash runs those that are understood (about one in ten).
  int shell_lines = 4'000;

  // A session that is compacted after every round of so many steps.
  int endurance_rounds = 5;
  int endurance_steps = 10;

  // Random operations on a session, its host and the line to a client.
  int client_runs = 1'000;

  // Random sessions in windows of all sizes, with summarisers that do all kinds of things.
  int chaos_sessions = 40;

  // Clients that come and go, against a list of what was said.
  int feed_runs = 1'000;

  // Events of one session that are heard over bad lines.
  int lossy_events = 3'000;

  // Nonsense that a host is told.
  int noise_seconds = 3;

  // How long a client never reads, beyond the few turns that it takes to see that no other client
  // is slowed down.
  int stuck_seconds = 0;

  // Random histories of what is owed to the model and paid.
  int outbox_runs = 300;

  // Kills of the program while background commands end.
  int task_kills = 100;

  // Kills of a host with turns under way in it.
  int host_kills = 6;

  // Kills of a host under terminals at which somebody types.
  int typing_kills = 10;
};

inline const Scale& TestScale() {
  static const Scale scale = [] {
    const char* name = std::getenv("STET_TEST_SCALE");
    if (name == nullptr || std::string_view(name) != "full") return Scale();
    return Scale{.boundary_sessions = 32,
                 .random_kills = 1000,
                 .truncate_stride = 1,
                 .log_flips = 20'000,
                 .index_flips = 5'000,
                 .round_trips = 1'000'000,
                 .full_disk_rounds = 200,
                 .ledger_calls = 10'000,
                 .orphan_kills = 200,
                 .turn_kills = 500,
                 .histories = 1'000'000,
                 .edits = 100'000,
                 .capsules = 1'000'000,
                 .hostile_stride = 1,
                 .exchanges = 10'000,
                 .undo_scripts = 10'000,
                 .shell_lines = 100'000,
                 .endurance_rounds = 50,
                 .endurance_steps = 40,
                 .client_runs = 10'000,
                 .chaos_sessions = 10'000,
                 .feed_runs = 10'000,
                 .lossy_events = 100'000,
                 .noise_seconds = 300,
                 .stuck_seconds = 600,
                 .outbox_runs = 20'000,
                 .task_kills = 2'000,
                 .host_kills = 200,
                 .typing_kills = 200};
  }();
  return scale;
}

}  // namespace stet
