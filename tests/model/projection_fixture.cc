#include "tests/model/projection_fixture.h"

#include <filesystem>
#include <fstream>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/temp_dir.h"
#include "base/text.h"
#include "log/tree.h"

namespace stet::test {

std::string EntryText(const provider::Entry& entry) {
  if (const auto* input = std::get_if<provider::UserInput>(&entry))
    return "user " + Encode(input->blocks);
  if (const auto* turn = std::get_if<provider::AssistantTurn>(&entry))
    return fmt::format("assistant {} {}", turn->model, Encode(turn->blocks));
  const auto& result = std::get<provider::ToolResult>(entry);
  return fmt::format("result {} {} {}", result.tool_call_id, result.is_error,
                     Encode(result.content));
}

namespace {

/// The state as doc/format/capsule.md has it, of every event that applies, without a view's
/// shortcuts.
run::State StateAtOnce(const log::Log& log) {
  const log::Index& index = log.index();
  const std::vector<log::Entry>& entries = index.entries();
  std::vector<bool> applies(entries.size(), false);
  for (const log::Ordinal event : log::PathTo(index, index.leaf())) applies[event] = true;
  for (const log::Ordinal event : log::ControlsOn(index, index.leaf())) applies[event] = true;
  run::State state;
  for (log::Ordinal event = 0; event < entries.size(); ++event) {
    const bool anywhere = entries[event].place() == protocol::Place::kSession ||
                          entries[event].type == protocol::kTypeNumber<protocol::ToolResult>;
    if ((entries[event].flags & log::Entry::kDuplicate) != 0 || !(anywhere || applies[event]))
      continue;
    const Result<protocol::Event> found = log.EventAt(event);
    if (found) state.Fold(*found);
  }
  return state;
}

}  // namespace

std::string Projections::Of(const log::Log& log) {
  EXPECT_TRUE(conversation_.Update(log));
  EXPECT_TRUE(run_.Update(log));
  std::string text =
      fmt::format("head {} {}\n", conversation_.barrier(), conversation_.head_bytes());
  for (const context::Part& part : conversation_.parts())
    text += fmt::format("part {} {} {} {} {}\n", part.event, part.bytes, part.images, part.hidden,
                        part.replaced);
  // As a step does it: lent, and given back.
  std::vector<provider::Entry> entries = conversation_.Lend();
  for (const provider::Entry& entry : entries) text += EntryText(entry) + "\n";
  conversation_.TakeBack(std::move(entries));
  text += Encode(run_.state().Report());
  const run::State at_once = StateAtOnce(log);
  EXPECT_EQ(Encode(at_once.Report()), Encode(run_.state().Report()));
  EXPECT_EQ(at_once.KeptHash(), run_.state().KeptHash());
  return text;
}

void ExpectProjections(const std::string& dir, std::size_t most_events) {
  const Result<std::string> whole = ReadFile(log::Paths{dir}.events());
  if (!whole) return;
  const std::vector<std::string_view> lines = SplitLines(*whole);
  if (lines.size() > most_events + 1) return;  // The first line is the header.
  const TempDir temp;
  const log::Paths copy{temp.Sub(log::Paths{dir}.session_id())};
  ASSERT_TRUE(MakeDirs(copy.dir));
  std::error_code ignored;  // A session without blobs has nothing to link.
  std::filesystem::create_directory_symlink(log::Paths{dir}.blobs(), copy.blobs(), ignored);
  Projections remembered;
  std::ofstream out(copy.events());
  for (std::size_t count = 1; count <= lines.size(); ++count) {
    out << lines[count - 1] << '\n' << std::flush;
    const Result<std::unique_ptr<log::Log>> log =
        log::Log::Open(copy.dir, {.mode = log::Mode::kRead, .use_index = false});
    if (!log) return;
    const std::string told = remembered.Of(**log);
    ASSERT_EQ(told, Projections().Of(**log)) << "after line " << count << ": " << lines[count - 1];
  }
}

}  // namespace stet::test
