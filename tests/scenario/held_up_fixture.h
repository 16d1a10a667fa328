// A terminal with a host that can be stopped and killed.
#pragma once

#include <algorithm>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "json/view.h"
#include "tests/scenario/interactive_fixture.h"

namespace stet::scenario {

class HeldUpTest : public InteractiveTest {
 protected:
  void SetUp() override {
    StartHost();
    pty_ = Ready();
  }
  /// A terminal that joins the host that runs, and starts none.
  void JoinOnly() {
    Quit(*pty_);
    ASSERT_TRUE(MakeDirs(program_.home()));
    ASSERT_TRUE(
        ReplaceFile(program_.home() + "/config.toml", "[host]\njoin='running'\n", Durable::kNo));
    pty_ = Ready();
  }
  [[nodiscard]] JsonView Status() {
    status_ = program_.Run({"host", "status", "--json"}).out;
    return JsonView(status_);
  }
  void TearDown() override {
    Signal(SIGCONT);
    pty_.reset();
    program_.Run({"host", "stop"});
  }

  void StartHost() {
    ASSERT_EQ(program_.Run({"host", "start"}).exit_code, 0);
    host_ = static_cast<pid_t>(Status()["status"]["pid"].IntOr(0));
    ASSERT_GT(host_, 0);
  }
  void Signal(int signal) const {
    if (host_ > 0) ::kill(host_, signal);
  }

  /// The user messages of the only session, as the log has them.
  [[nodiscard]] std::vector<std::string> Messages() const {
    const std::string list = program_.Run({"sessions", "ls", "--json"}).out;
    std::string id;
    JsonView(list).ForEach([&](const JsonView& row) { id = row["sessionId"].StringOr(""); });
    std::vector<std::string> messages;
    const std::string shown = program_.Run({"sessions", "show", id, "--json"}).out;
    std::size_t begin = 0;
    while (begin < shown.size()) {
      const std::size_t end = std::min(shown.find('\n', begin), shown.size());
      const std::string line = shown.substr(begin, end - begin);
      begin = end + 1;
      if (JsonView(line)["role"].StringOr("") != "user") continue;
      messages.push_back(line);
    }
    return messages;
  }

  pid_t host_ = 0;
  std::string status_;
  std::unique_ptr<Pty> pty_;
};

}  // namespace stet::scenario
