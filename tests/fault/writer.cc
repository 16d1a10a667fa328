// fault_writer DIR SEED STEPS [relaxed]: opens the session DIR, or creates it, and plays STEPS
// steps of a realistic session into it. It says what happened on standard output, one write(2)
// each, as soon as the log has returned:
//   opened EPOCH
//   ack SEQ ID CRC     one line per event of the batch
//   error CODE TEXT    the step failed; the next one is tried all the same
//   leaked SEQ         a subscriber has seen an event of the failed step that asks for a flush
//   closed
// It ends with 0, with 3 after an error, with 5 when the session could not be opened.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "base/fs.h"
#include "bench/session_player.h"
#include "log/line.h"
#include "log/log.h"

namespace stet::fault {
namespace {

/// Not through stdio: what was acknowledged must be with the parent before the next call can kill.
void Say(std::string_view text) {
  if (::write(STDOUT_FILENO, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    std::exit(4);
}

int SayError(const Error& error, int exit_code) {
  Say(fmt::format("error {} {}\n", CodeName(error.code), error.Text()));
  return exit_code;
}

Result<std::unique_ptr<log::Log>> OpenOrCreate(const std::string& dir, log::Options options) {
  if (Exists(dir + "/events.jsonl")) return log::Log::Open(dir, std::move(options));
  protocol::Header header;
  header.session_id = log::Paths{dir}.session_id();
  header.kind = "chat";
  header.meta.cwd = "/project";
  return log::Log::Create(dir, std::move(header), std::move(options));
}

int Write(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::uint64_t seed = std::strtoull(argv[2], nullptr, 10);
  const long steps = std::atol(argv[3]);
  log::Options options{.mode = log::Mode::kWrite, .device_id = "dev_fault"};
  if (argc > 4 && std::string_view(argv[4]) == "relaxed")
    options.durability = log::Durability::kRelaxed;
  const auto opened = OpenOrCreate(argv[1], options);
  if (!opened) return SayError(opened.error(), 5);
  log::Log& log = **opened;
  Say(fmt::format("opened {}\n", log.epoch()));

  // What is published is what the acknowledgement vouches for.
  std::map<std::uint64_t, std::string> published;
  std::string leaked;
  const log::Subscription subscription = log.Subscribe([&](const log::Published& event) {
    published[event.seq] =
        fmt::format("ack {} {} {}\n", event.seq, event.event->id, log::LineCrc(event.line));
    if (protocol::FlushOf(event.event->payload) != protocol::Flush::kLazy)
      leaked += fmt::format("leaked {}\n", event.seq);
  });
  const bench::TextPool pool(1);
  Random random(seed);
  bench::SessionPlayer player(log, random, pool,
                              {.least_text = 20,
                               .most_text = 6000,
                               .blob_one_in = 6,
                               .effects_one_in = 5,
                               .rewind_one_in = 3,
                               .compact_one_in = 4,
                               .queue_one_in = 3});
  int exit_code = 0;
  for (long i = 0; i < steps; ++i) {
    const Result<log::Appended> appended = player.Step();
    if (!appended) {
      exit_code = SayError(appended.error(), 3);
      if (!leaked.empty()) Say(leaked);
      continue;
    }
    std::string acks;
    for (std::uint64_t seq = appended->first_seq; seq <= appended->last_seq; ++seq)
      acks += published[seq];
    Say(acks);
    published.clear();
    leaked.clear();
  }
  if (const Status closed = log.Close(); !closed) return SayError(closed.error(), 3);
  Say("closed\n");
  return exit_code;
}

}  // namespace
}  // namespace stet::fault

int main(int argc, char** argv) { return stet::fault::Write(argc, argv); }
