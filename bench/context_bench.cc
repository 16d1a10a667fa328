// context_bench [--dir DIR]: what it costs to make a request of a long conversation: 10,000 events
// and about 20 MB on the active path, cold, and one more step at a time. One JSON line per
// measurement. Its folder, under DIR (the current one), is removed at the end.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "base/fs.h"
#include "bench/measure.h"
#include "context/conversation.h"

namespace stet::bench {
namespace {

constexpr int kSteps = 5000;  // Of two events each.
constexpr std::size_t kResultBytes = 4000;
constexpr int kRuns = 9;

template <class T>
T OrDie(Result<T> result) {
  if (result) return *std::move(result);
  fmt::print(stderr, "{}\n", result.error().Text());
  std::exit(1);
}

void Append(log::Log& log, std::vector<protocol::Payload> payloads) {
  std::vector<log::Draft> batch;
  for (protocol::Payload& payload : payloads)
    batch.push_back({.payload = std::move(payload), .id = "", .stamp = {}});
  (void)OrDie(log.Append(std::move(batch)));
}

void AppendStep(log::Log& log, int number) {
  protocol::AssistantMessage said;
  said.message.model = "bench/m";
  said.message.blocks.emplace_back(protocol::TextBlock{.text = "I read the next one."});
  said.message.blocks.emplace_back(
      protocol::ToolCallBlock{.tool_call_id = fmt::format("call_{}", number),
                              .tool_name = "Read",
                              .args = Raw{R"({"file_path":"src/main.cc"})"}});
  said.calls = 1;
  protocol::ToolResult result;
  result.tool_call_id = fmt::format("call_{}", number);
  protocol::Blocks content;
  std::string text;
  while (text.size() < kResultBytes) text += fmt::format("{:>6}\tint value_{} = {};\n", number, number, text.size());
  content.emplace_back(protocol::TextBlock{.text = std::move(text)});
  result.content = Raw{Encode(content)};
  Append(log, {std::move(said), std::move(result)});
}

void Print(std::string_view what, std::vector<double> times) {
  std::ranges::sort(times);
  fmt::print(R"({{"what":"{}","median_ms":{:.3f},"least_ms":{:.3f},"most_ms":{:.3f}}})" "\n", what,
             times[times.size() / 2], times.front(), times.back());
}

int Measure(const std::string& dir) {
  protocol::Header header;
  header.session_id = "ses_bench";
  header.kind = "chat";
  const std::unique_ptr<log::Log> log =
      OrDie(log::Log::Create(dir + "/ses_bench", header,
                             {.mode = log::Mode::kWrite, .durability = log::Durability::kRelaxed}));
  protocol::UserMessage user;
  user.source = "user";
  user.message.blocks.emplace_back(protocol::TextBlock{.text = "Read them all."});
  Append(*log, {std::move(user)});
  for (int i = 0; i < kSteps; ++i) AppendStep(*log, i);

  std::vector<double> cold;
  for (int run = 0; run < kRuns; ++run) {
    context::Conversation conversation;
    const Stopwatch watch;
    if (const Status made = conversation.Update(*log); !made) return 1;
    conversation.TakeBack(conversation.Lend());
    cold.push_back(watch.ms());
  }
  Print("cold", std::move(cold));

  context::Conversation conversation;
  if (!conversation.Update(*log)) return 1;
  conversation.TakeBack(conversation.Lend());
  std::vector<double> steps;
  for (int i = 0; i < 200; ++i) {
    AppendStep(*log, kSteps + i);
    const Stopwatch watch;
    if (!conversation.Update(*log)) return 1;
    std::vector<provider::Entry> entries = conversation.Lend();
    steps.push_back(watch.ms());
    conversation.TakeBack(std::move(entries));
  }
  Print("step", std::move(steps));
  fmt::print(R"({{"what":"peak","rss_mb":{}}})" "\n", PeakRssKb() / 1024);
  return 0;
}

int Main(const std::string& parent) {
  const std::string dir = OrDie(MakeTempDir(parent, "context-bench-"));
  const int code = Measure(dir);
  return RemoveTree(dir) ? code : 1;
}

}  // namespace
}  // namespace stet::bench

int main(int argc, char** argv) {
  const bool has_dir = argc == 3 && std::string_view(argv[1]) == "--dir";
  if (argc != 1 && !has_dir) {
    fmt::print(stderr, "usage: context_bench [--dir DIR]\n");
    return 2;
  }
  return stet::bench::Main(has_dir ? argv[2] : ".");
}
