// A project in a temporary folder, and calls to tools as the loop makes them, for the tests of this
// module.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/temp_dir.h"
#include "json/writer.h"
#include "tool/builtin.h"
#include "tool/checkpoint/checkpoints.h"
#include "tool/project/look.h"
#include "tool/registry.h"

namespace stet::tool {

/// JSON of an object whose members are all strings.
inline Raw Strings(const std::vector<std::pair<std::string, std::string>>& members) {
  Raw raw{""};
  JsonWriter writer(raw.text);
  writer.BeginObject();
  for (const auto& [name, value] : members) writer.Member(name, value);
  writer.EndObject();
  return raw;
}

class ToolTest : public testing::Test {
 protected:
  ToolTest() {
    EXPECT_TRUE(MakeDirs(Path("")));
    workspace_.project = workspace_.cwd = Path("");
    for (auto& tool : BuiltinTools({.variables = ProcessVariables({"STET_TEST_SECRET"}),
                                    .shells = shells_,
                                    .sandboxed = true}))
      EXPECT_TRUE(registry_.Add(std::move(tool)));
  }

  /// A path in the project; the project itself for "".
  [[nodiscard]] std::string Path(std::string_view name) const {
    return name.empty() ? temp_.Sub("project") : temp_.Sub("project/" + std::string(name));
  }
  void Put(std::string_view name, std::string_view bytes, mode_t mode = 0644) {
    ASSERT_TRUE(MakeDirs(ParentDir(Path(name))));
    ASSERT_TRUE(ReplaceFile(Path(name), bytes, Durable::kNo, mode));
  }
  [[nodiscard]] std::string Get(std::string_view name) const {
    auto bytes = ReadFile(Path(name));
    EXPECT_TRUE(bytes) << bytes.error().Text();
    return bytes.value_or("");
  }

  Outcome Run(std::string_view name, const Raw& args) {
    if (const Status checked = registry_.Check(name, args); !checked)
      return Problem(checked.error().Text());
    Call call{.tool_call_id = "call_1",
              .loop = loop_,
              .workspace = workspace_,
              .files = files_,
              .checkpoints = checkpoints_,
              .cancel = cancel_.token(),
              .record_write = [this](const protocol::FileFact& fact) { return Record(fact); },
              .record_task =
                  [this](protocol::Task task) {
                    tasks_.push_back(std::move(task));
                    return record_fails_ ? Fail(Code::kFull, "no room left") : Status();
                  },
              .put_blob = [this](std::string_view bytes) -> Result<std::string> {
                blobs_[Sha256Hex(bytes)] = bytes;
                return Sha256Hex(bytes);
              },
              .get_blob = [this](std::string_view blob) -> Result<std::string> {
                const auto found = blobs_.find(std::string(blob));
                if (found == blobs_.end()) return Fail(Code::kNotFound, "there is no such blob");
                return found->second;
              },
              .update =
                  [this](std::string_view text) {
                    updates_.emplace_back(text);
                    if (on_update_) on_update_();
                  },
              .sandbox = sandbox_ ? &*sandbox_ : nullptr,
              .editor = editor_,
              .show_terminal = [this](const std::string& id) { terminals_.push_back(id); },
              .decided = decided_};
    Tool* tool = registry_.Find(name);
    if (const auto intent = tool->Intend(args, workspace_); !intent)
      return Problem(intent.error().Text());
    if (name == "Bash") {
      EXPECT_TRUE(loop_.RunUntilDone(checkpoints_.Look(ViewOf(workspace_), loop_, {})));
    }
    Outcome outcome = loop_.RunUntilDone(tool->Run(args, call));
    for (const protocol::FileFact& fact : outcome.reads) files_.Learn(fact);
    return outcome;
  }
  Outcome Run(std::string_view name, std::string_view json) {
    return Run(name, Raw{std::string(json)});
  }

  static std::string TextOf(const Outcome& outcome) { return protocol::PlainText(outcome.content); }
  /// Runs and gives the text, which must be a success or a problem as `is_error` says.
  std::string TextOfRun(std::string_view name, const Raw& args, bool is_error = false) {
    const Outcome outcome = Run(name, args);
    EXPECT_EQ(outcome.is_error, is_error) << TextOf(outcome);
    return TextOf(outcome);
  }
  void Read(std::string_view name) {
    EXPECT_FALSE(Run("Read", Strings({{"file_path", Path(name)}})).is_error);
  }

  TempDir temp_;
  Loop loop_;
  /// What was told of a task's end.
  struct ToldEnd {
    std::string task_id;
    std::string tool_call_id;
    TaskEnd end;
    std::string tail;
  };
  std::vector<ToldEnd> ends_;
  Tasks background_{[this](const std::shared_ptr<BackgroundTask>& task) {
    ends_.push_back({.task_id = task->facts().id,
                     .tool_call_id = task->facts().tool_call_id,
                     .end = *task->end(),
                     .tail = task->Tail(2000)});
  }};
  Shells shells_{background_, temp_.Sub("tasks")};
  Workspace workspace_;
  KnownFiles files_;
  Checkpoints checkpoints_{{.store = temp_.Sub("copies"), .session = temp_.Sub("kept")}};
  Registry registry_;
  CancelSource cancel_;
  std::vector<protocol::FileFact> written_;
  std::map<std::string, std::string> blobs_;
  std::vector<protocol::Task> tasks_;
  std::vector<std::string> updates_;
  std::function<void()> on_update_;
  std::function<void()> on_record_;  // While a write is being recorded.
  bool record_fails_ = false;
  std::optional<sandbox::Chosen> sandbox_;  // What commands are kept in.
  std::shared_ptr<Editor> editor_;          // Of the client.
  std::vector<std::string> terminals_;      // That were shown.
  const Intent* decided_ = nullptr;         // What policy decided on.

 private:
  Status Record(const protocol::FileFact& fact) {
    if (record_fails_) return Fail(Code::kFull, "no room left");
    if (on_record_) on_record_();
    written_.push_back(fact);
    return {};
  }
};

}  // namespace stet::tool
