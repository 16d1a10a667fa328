#include "bench/append_measures.h"

#include <atomic>
#include <thread>

#include "bench/measure.h"
#include "log/log.h"

namespace stet::bench {
namespace {

log::Draft SmallUser() {
  protocol::UserMessage user;
  user.source = "user";
  user.message.blocks.emplace_back(protocol::TextBlock{.text = std::string(200, 'x')});
  return {.payload = std::move(user), .id = "", .stamp = {}};
}

log::Draft SmallResult() {
  protocol::Custom note{.kind = "progress",
                        .data = Raw{"{\"text\":\"" + std::string(150, 'y') + "\"}"}};
  return {.payload = std::move(note), .id = "", .stamp = {}};
}

Result<std::unique_ptr<log::Log>> NewLog(const std::string& dir, log::Durability durability) {
  protocol::Header header;
  header.session_id = "ses_bench";
  header.kind = "chat";
  return log::Log::Create(dir, header, {.durability = durability});
}

}  // namespace

/// One producer, `batch` events per Append; user messages (flushed within a second) and notes in
/// turns.
Status MeasureRelaxedAppend(const std::string& dir, std::size_t batch_size) {
  constexpr std::size_t kEvents = 400'000;
  ASSIGN_OR_RETURN(const std::unique_ptr<log::Log> log, NewLog(dir, log::Durability::kRelaxed));
  const Stopwatch watch;
  for (std::size_t done = 0; done < kEvents; done += batch_size) {
    std::vector<log::Draft> batch;
    for (std::size_t i = 0; i < batch_size; ++i)
      batch.push_back((done + i) % 2 == 0 ? SmallUser() : SmallResult());
    RETURN_IF_ERROR(log->Append(std::move(batch)));
  }
  const double ms = watch.ms();
  const std::uint64_t bytes = log->index().bytes();
  const std::uint64_t flushes = log->flush_count();
  RETURN_IF_ERROR(log->Close());
  fmt::print(
      "{{\"what\":\"append_relaxed\",\"batch\":{},\"events\":{},\"events_per_s\":{:.0f},\"mb_per_"
      "s\":{:.0f},"
      "\"flushes\":{}}}\n",
      batch_size, kEvents, static_cast<double>(kEvents) / ms * 1000,
      static_cast<double>(bytes) / ms / 1000, flushes);
  return RemoveTree(dir);
}

/// Events of the generator's mix (about 4 KB each), one per Append, without the cost of making
/// them.
Status MeasureMixedAppend(const std::string& dir, const std::string& session) {
  constexpr std::size_t kEvents = 50'000;
  std::vector<log::Draft> drafts;
  {
    ASSIGN_OR_RETURN(const std::unique_ptr<log::Log> source, log::Log::Open(session, {}));
    RETURN_IF_ERROR(source->Read(0, [&](const log::Entry&, std::string_view line) {
      Result<protocol::Event> event = protocol::DecodeEvent(line);
      if (!event) return false;
      // Openings and moves of the leaf have their own ways into a log; effects cost a flush each.
      const auto is = [&]<class... T>() {
        return (std::holds_alternative<T>(event->payload) || ...);
      };
      if (!is.operator()<protocol::Opened, protocol::Rewind, protocol::Branch>() &&
          protocol::FlushOf(event->payload) != protocol::Flush::kAlways)
        drafts.push_back({.payload = std::move(event->payload), .stamp = std::move(event->stamp)});
      return drafts.size() < kEvents;
    }));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<log::Log> log, NewLog(dir, log::Durability::kRelaxed));
  const Stopwatch watch;
  for (log::Draft& draft : drafts) {
    std::vector<log::Draft> batch;
    batch.push_back(std::move(draft));
    RETURN_IF_ERROR(log->Append(std::move(batch)));
  }
  const double ms = watch.ms();
  fmt::print(
      "{{\"what\":\"append_mix\",\"events\":{},\"events_per_s\":{:.0f},\"mb_per_s\":{:.0f}}}\n",
      drafts.size(), static_cast<double>(drafts.size()) / ms * 1000,
      static_cast<double>(log->index().bytes()) / ms / 1000);
  RETURN_IF_ERROR(log->Close());
  return RemoveTree(dir);
}

Status MeasureStrictAppend(const std::string& dir, int producers) {
  constexpr int kAppends = 6400;
  ASSIGN_OR_RETURN(const std::unique_ptr<log::Log> log, NewLog(dir, log::Durability::kStrict));
  const std::uint64_t flushes_before = log->flush_count();
  std::atomic<int> failed = 0;
  const Stopwatch watch;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < producers; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < kAppends / producers; ++n) {
          std::vector<log::Draft> batch;
          batch.push_back(SmallUser());
          if (!log->Append(std::move(batch))) ++failed;
        }
      });
    }
  }
  const double ms = watch.ms();
  fmt::print(
      "{{\"what\":\"append_strict\",\"producers\":{},\"appends\":{},\"flushes\":{},\"appends_per_"
      "s\":{:.0f},"
      "\"failed\":{}}}\n",
      producers, kAppends, log->flush_count() - flushes_before, kAppends / ms * 1000,
      failed.load());
  return RemoveTree(dir);
}

}  // namespace stet::bench
