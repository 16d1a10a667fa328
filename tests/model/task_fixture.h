// A task in a small project, and a model that knows how to do it: read, change three files, run the
// project's check, which fails, mend it, run the check again, report. The commands leave marks
// outside the project, and the edits would show if they were done twice.
#pragma once

#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/subprocess/subprocess.h"

namespace stet::test {

/// How a dialect is configured.
struct Wire {
  std::string_view api;
  std::string_view suffix;  // Of the base URL.
};
inline constexpr std::array kWires = {
    Wire{"anthropic-messages", ""}, Wire{"openai-completions", "/v1"},
    Wire{"openai-responses", "/v1"}, Wire{"google-generative-ai", "/v1beta"}};

inline constexpr std::string_view kReport = "The sum was wrong; now the check passes.";

/// One call of the task, and how to see that it was done.
struct Act {
  std::string tool;
  std::string call;  // As a block of an emulator's script.
  std::string file;  // Relative to the project,
  std::string sign;  // which has this text from then on, until the task's end.
};

inline std::string CallBlock(std::string_view tool, std::string_view args) {
  return fmt::format(R"({{"call":{{"name":"{}","args":{}}}}})", tool, args);
}

/// The calls with effects, in their order.
inline std::vector<Act> TaskActs() {
  const auto edit = [](std::string_view file, std::string_view from, std::string_view to) {
    return CallBlock(
        "Edit",
        fmt::format(R"({{"file_path":"{}","old_string":"{}","new_string":"{}"}})", file, from, to));
  };
  const auto bash = [](std::string_view mark, std::string_view then) {
    return CallBlock("Bash", fmt::format(R"({{"command":"echo {} >>../marks; {}"}})", mark, then));
  };
  return {
      {"Edit", edit("calc.sh", "# sum", "# sum, tried"), "calc.sh", "# sum, tried"},
      {"Edit", edit("words.txt", "flavour", "flavour or flavor"), "words.txt", "or flavor"},
      {"Edit", edit("notes.md", "open", "open, in work"), "notes.md", "in work"},
      {"Bash", bash("one", "sh check.sh"), "../marks", "one"},
      {"Edit", edit("calc.sh", "- $2", "+ $2))  # was - $((2"), "calc.sh", "# was -"},
      {"Bash", bash("two", "sh check.sh"), "../marks", "two"},
      {"Write", CallBlock("Write", R"({"file_path":"out/report.txt","content":"passes\n"})"),
       "out/report.txt", "passes"},
      {"Bash", bash("three", "cat out/report.txt"), "../marks", "three"},
  };
}

inline std::string TaskReads() {
  return CallBlock("Read", R"({"file_path":"calc.sh"})") + "," +
         CallBlock("Read", R"({"file_path":"words.txt"})") + "," +
         CallBlock("Read", R"({"file_path":"notes.md"})");
}

/// What the model says step by step: the blocks of each reply. The last one has no calls.
inline std::vector<std::string> TaskSteps() {
  const std::vector<Act> acts = TaskActs();
  const std::string thought = R"({"thinking":"The sum is a difference.","signature":"c2ln"},)";
  return {R"({"text":"I look first."},)" + TaskReads() + "," +
              CallBlock("Glob", R"({"pattern":"*.sh"})"),
          acts[0].call + "," + acts[1].call + "," + acts[2].call,
          R"({"text":"Now the check."},)" + acts[3].call,
          thought + R"({"text":"I see: \"-\" — not \"+\"."},)" + acts[4].call,
          acts[5].call,
          acts[6].call + "," + acts[7].call,
          fmt::format(R"({{"text":"{}"}})", kReport)};
}

/// A script of these replies; `strict`: requests must fit the dialect's schema.
inline std::string TaskScript(const std::vector<std::string>& steps, bool strict) {
  std::string replies;
  for (const std::string& step : steps)
    replies += (replies.empty() ? "" : ",") + fmt::format(R"({{"blocks":[{}]}})", step);
  return fmt::format(R"({{"strict":{},"replies":[{}]}})", strict, replies);
}

/// The project, the marks and the program's home, in one folder.
class TaskProject {
 public:
  explicit TaskProject(std::string dir) : dir_(std::move(dir)) { Reset(); }

  [[nodiscard]] std::string home() const { return dir_ + "/home"; }
  [[nodiscard]] std::string project() const { return dir_ + "/project"; }
  [[nodiscard]] std::string marks() const { return ReadFile(dir_ + "/marks").value_or(""); }
  [[nodiscard]] std::string File(std::string_view name) const {
    return ReadFile(project() + "/" + std::string(name)).value_or("");
  }

  /// As it is before the task, without any session.
  void Reset() const {
    EXPECT_TRUE(RemoveTree(dir_));
    EXPECT_TRUE(MakeDirs(project()));
    EXPECT_TRUE(MakeDirs(home()));
    const auto put = [&](std::string_view name, std::string_view text) {
      EXPECT_TRUE(ReplaceFile(project() + "/" + std::string(name), text, Durable::kNo));
    };
    put("calc.sh", "# sum\necho $(($1 - $2))\n");
    put("words.txt", "colour\r\nflavour\r\nlast");
    put("notes.md", "# Notes\n\nopen\n");
    put("check.sh",
        "[ \"$(sh calc.sh 2 3)\" = 5 ] && echo passed && exit 0\n"
        "echo \"failed: $(sh calc.sh 2 3)\"\nexit 1\n");
  }

  void Configure(const std::string& base_url, const Wire& wire) const {
    EXPECT_TRUE(
        ReplaceFile(home() + "/config.toml",
                    fmt::format("[model]\ntype='custom'\nid='m'\napi='{}'\nbaseUrl='{}{}'\n",
                                wire.api, base_url, wire.suffix),
                    Durable::kNo));
  }

  /// `stet -p ARGUMENTS` in the project. `variables` are "K=V".
  [[nodiscard]] SpawnOptions Command(std::vector<std::string> arguments,
                                     std::vector<std::string> variables = {}) const {
    const char* binary = std::getenv("STET_BIN");
    EXPECT_NE(binary, nullptr) << "$STET_BIN names the program to test; ./test sets it";
    SpawnOptions options;
    options.argv = {binary == nullptr ? "" : binary, "-p", "--permission-mode", "bypass"};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    options.cwd = project();
    variables.push_back("STET_HOME=" + home());
    variables.emplace_back("STET_IN_SANDBOX=1");  // Tests may run as root.
    variables.push_back(std::string("PATH=") + std::getenv("PATH"));
    options.env = std::move(variables);
    return options;
  }
  [[nodiscard]] Finished Run(std::vector<std::string> arguments) const {
    constexpr std::chrono::seconds kPatience(60);
    Result<Finished> ran =
        Subprocess::Run(Command(std::move(arguments)), Deadline::After(kPatience), {});
    EXPECT_TRUE(ran) << ran.error().Text();
    return ran ? *std::move(ran) : Finished();
  }

  /// Of the one session there is; empty when there is none. A folder whose log was never begun is
  /// what a kill before the first event leaves: no session.
  [[nodiscard]] std::string SessionDir() const {
    std::string found;
    for (const DirEntry& entry : ListDir(home() + "/sessions").value_or(std::vector<DirEntry>())) {
      const std::string dir = home() + "/sessions/" + entry.name;
      if (!entry.name.starts_with("ses_") || ReadFile(dir + "/events.jsonl").value_or("").empty())
        continue;
      EXPECT_EQ(found, "") << "there is a second session";
      found = dir;
    }
    return found;
  }

  [[nodiscard]] bool IsDone(const Act& act) const { return File(act.file).contains(act.sign); }

  /// Everything was done, and nothing twice.
  void ExpectDone() const {
    EXPECT_EQ(File("calc.sh"), "# sum, tried\necho $(($1 + $2))  # was - $((2))\n");
    EXPECT_EQ(File("words.txt"), "colour\r\nflavour or flavor\r\nlast");
    EXPECT_EQ(File("notes.md"), "# Notes\n\nopen, in work\n");
    EXPECT_EQ(File("out/report.txt"), "passes\n");
    EXPECT_EQ(marks(), "one\ntwo\nthree\n");
  }

 private:
  std::string dir_;
};

}  // namespace stet::test
