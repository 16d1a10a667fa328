// One task, done by the real program in every dialect: what people are shown of it is the same.
#include <algorithm>
#include <map>

#include "base/source_dir_fixture.h"
#include "base/temp_dir.h"
#include "emulator/emulator.h"
#include "log/log.h"
#include "log/tree.h"
#include "tests/model/task_fixture.h"

namespace stet::test {
namespace {

/// What people are shown of a session, one line each: texts, calls, results, and what happened to
/// files. Ids, times and what only a dialect has are left out.
class Display {
 public:
  explicit Display(const log::Log& log) {
    for (const log::Ordinal event : log::PathTo(log.index(), log.index().leaf()))
      TakeMessage(log.EventAt(event).value());
    for (log::Ordinal event = 0; event < log.index().entries().size(); ++event)
      TakeFact(log.EventAt(event).value());
    // Calls that only read end in any order: their facts stand by call.
    std::ranges::stable_sort(facts_, {}, &std::pair<int, std::string>::first);
    for (const auto& [call, fact] : facts_) lines_.push_back(fact);
  }

  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

 private:
  void TakeMessage(const protocol::Event& event) {
    if (const auto* user = std::get_if<protocol::UserMessage>(&event.payload)) {
      lines_.push_back("user: " + protocol::PlainText(user->message.blocks));
    } else if (const auto* said = std::get_if<protocol::AssistantMessage>(&event.payload)) {
      for (const protocol::Block& block : said->message.blocks) TakeBlock(block);
      lines_.push_back("stop: " + said->message.stop_reason.value_or("-"));
    } else if (const auto* result = std::get_if<protocol::ToolResult>(&event.payload)) {
      lines_.push_back(fmt::format("result of {}{}: {}", CallOf(result->tool_call_id),
                                   result->is_error ? ", an error" : "", result->content.text));
    } else {
      lines_.push_back(std::string(protocol::TypeName(event.payload)));
    }
  }

  void TakeBlock(const protocol::Block& block) {
    if (const auto* text = std::get_if<protocol::TextBlock>(&block)) {
      lines_.push_back("text: " + text->text);
    } else if (const auto* thinking = std::get_if<protocol::ThinkingBlock>(&block)) {
      lines_.push_back("thinking: " + thinking->text);
    } else if (const auto* call = std::get_if<protocol::ToolCallBlock>(&block)) {
      lines_.push_back(fmt::format("call {}: {} {}", CallOf(call->tool_call_id), call->tool_name,
                                   call->args.text));
    } else {
      lines_.emplace_back("another block");
    }
  }

  void TakeFact(const protocol::Event& event) {
    if (const auto* fact = std::get_if<protocol::FileFact>(&event.payload)) {
      protocol::FileFact shown = *fact;
      const int call = CallOf(fact->tool_call_id.value_or(""));
      shown.tool_call_id.reset();
      facts_.emplace_back(call, fmt::format("call {}: {}", call, Encode(shown)));
    } else if (const auto* started = std::get_if<protocol::ToolStarted>(&event.payload)) {
      const int call = CallOf(started->tool_call_id);
      facts_.emplace_back(call, fmt::format("call {}: {} {}", call, started->tool,
                                            started->effects ? "has effects" : "reads"));
    } else if (const auto* turn = std::get_if<protocol::Turn>(&event.payload)) {
      lines_.push_back(fmt::format("turn {}: {}, {} steps", turn->phase, turn->reason.value_or("-"),
                                   turn->steps.value_or(0)));
    }
  }

  int CallOf(const std::string& tool_call_id) {
    return calls_.try_emplace(tool_call_id, static_cast<int>(calls_.size())).first->second;
  }

  std::map<std::string, int> calls_;  // Their numbers, in the order of the path.
  std::vector<std::pair<int, std::string>> facts_;
  std::vector<std::string> lines_;
};

TEST(TaskTest, EveryDialectGivesTheSameSessionAndTheSameFiles) {
  const TempDir dir;
  const TaskProject task(dir.Sub("task"));
  std::vector<std::string> first;
  for (const Wire& wire : kWires) {
    SCOPED_TRACE(wire.api);
    task.Reset();
    const std::string schemas = SourceDir() + "/build/wire/schemas";
    const auto emulator = emulator::Emulator::Start(
        TaskScript(TaskSteps(), true),
        {.port = 0, .record = "", .schemas = Exists(schemas) ? schemas : ""});
    ASSERT_TRUE(emulator) << emulator.error().Text();
    task.Configure((*emulator)->base_url(), wire);
    const Finished ran = task.Run({"do the task"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.out, std::string(kReport) + "\n");
    EXPECT_EQ((*emulator)->Requests().size(), TaskSteps().size());
    task.ExpectDone();

    const auto log = log::Log::Open(task.SessionDir(), {.mode = log::Mode::kRead});
    ASSERT_TRUE(log) << log.error().Text();
    const std::vector<std::string> shown = Display(**log).lines();
    if (first.empty()) {
      first = shown;
      // Three reads and a search, eight calls with effects: each has its line and its result.
      EXPECT_EQ(std::ranges::count_if(
                    shown, [](const std::string& line) { return line.starts_with("result of "); }),
                12);
    }
    EXPECT_EQ(shown, first);
  }
}

}  // namespace
}  // namespace stet::test
