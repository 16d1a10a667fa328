// The host is killed, again and again, under terminals at which somebody types. No key is lost,
// each is echoed at once, and every session comes to rest with each line in it once.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>

#include <gtest/gtest.h>
#include <signal.h>

#include "base/fs.h"
#include "base/random.h"
#include "base/subprocess/subprocess.h"
#include "base/temp_dir.h"
#include "emulator/emulator.h"
#include "json/view.h"
#include "log/log.h"
#include "tests/scale.h"
#include "tests/scenario/pty.h"

namespace stet::fault {
namespace {

using std::chrono::milliseconds;
using Time = std::chrono::steady_clock::time_point;

constexpr int kTerminals = 2;
constexpr std::size_t kLineLetters = 14;

Time Now() { return std::chrono::steady_clock::now(); }
double MillisSince(Time then) {
  return std::chrono::duration<double, std::milli>(Now() - then).count();
}

/// What a session's log says of the lines that were typed.
struct Heard {
  std::map<std::string, int> lines;  // How often each is a message.
  std::set<std::string> queued;      // Items.
  bool rests = false;                // Its last turn has ended.

  void Take(const protocol::UserMessage& message) {
    ++lines[protocol::PlainText(message.message.blocks)];
    queued.erase(message.queue_item_id.value_or(""));
  }
  void Take(const protocol::QueueUpdate& update) {
    queued.clear();
    for (const protocol::QueueItem& item : update.items) queued.insert(item.item_id);
  }
};

/// Somebody at a terminal.
struct Typist {
  std::unique_ptr<scenario::Pty> pty;
  std::string session_id;
  std::string line;  // As it stands in the terminal now.
  std::vector<std::string> sent;
};

class TypingKillTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(std::getenv("STET_BIN"), nullptr) << "STET_BIN names the program";
    auto started = emulator::Emulator::Start(R"({"replies":[
      {"times":0,"when":{"hasToolResult":false},"delta":4,"pauseMs":4,
       "blocks":[{"text":"I look at what there is, and say so at some length, word by word."},
                 {"call":{"name":"Bash","args":{"command":"sleep 0.1; echo done"}}}]},
      {"times":0,"delta":4,"pauseMs":4,"blocks":[{"text":"That is what there was."}]}]})");
    ASSERT_TRUE(started) << started.error().Text();
    emulator_ = *std::move(started);
    ASSERT_TRUE(MakeDirs(home_));
    ASSERT_TRUE(ReplaceFile(home_ + "/config.toml",
                            "[model]\ntype='custom'\nid='m'\napi='anthropic-messages'\nbaseUrl='" +
                                emulator_->base_url() + "'\n",
                            Durable::kNo));
  }

  [[nodiscard]] std::vector<std::string> Environment() const {
    return {"STET_HOME=" + home_, "STET_IN_SANDBOX=1",   "IS_SANDBOX=1",  "HOME=" + home_,
            "PATH=/usr/bin:/bin", "TERM=xterm-256color", "LC_ALL=C.UTF-8"};
  }
  int Stet(std::vector<std::string> arguments) const {
    SpawnOptions options;
    options.argv = std::move(arguments);
    options.argv.insert(options.argv.begin(), std::getenv("STET_BIN"));
    options.env = Environment();
    const Result<Finished> ended =
        Subprocess::Run(std::move(options), Deadline::After(std::chrono::seconds(60)), {});
    return ended ? ended->exit_code : -1;
  }

  /// The host that listens; 0: none does.
  [[nodiscard]] pid_t Host() const {
    const std::string state = ReadFile(home_ + "/host.json").value_or("");
    const auto pid = static_cast<pid_t>(JsonView(state)["pid"].IntOr(0));
    return pid > 0 && pid != killed_ && ::kill(pid, 0) == 0 ? pid : 0;
  }

  void Sit(Typist& typist, int number) {
    const std::string folder = dir_.path() + "/project" + std::to_string(number);
    ASSERT_TRUE(MakeDirs(folder));
    typist.session_id = "ses_typist" + std::to_string(number);
    typist.pty = std::make_unique<scenario::Pty>(
        std::vector<std::string>{std::getenv("STET_BIN"), "--permission-mode", "bypass",
                                 "--session-id", typist.session_id},
        folder, Environment());
    ASSERT_TRUE(typist.pty->CursorRowIs(">", 2));
  }

  /// One key, and until the terminal shows what it did.
  void Press(Typist& typist, char key) {
    const Time begin = Now();
    typist.pty->Type(std::string(1, key));
    if (key == '\r')
      typist.sent.push_back(std::exchange(typist.line, ""));
    else
      typist.line += key;
    const std::string row = typist.line.empty() ? ">" : "> " + typist.line;
    ASSERT_TRUE(typist.pty->CursorRowIs(row, 2 + typist.line.size()));
    echo_ms_.push_back(MillisSince(begin));
  }

  void PressNext(Typist& typist) {
    if (typist.line.size() >= kLineLetters) return Press(typist, '\r');
    const std::size_t at = typist.line.size();
    Press(typist, at < 4 ? std::to_string(1000 + typist.sent.size())[at]
                         : static_cast<char>('a' + random_.Below(26)));
  }

  /// Stopped first, now and then; it is killed in any case, in whatever it was doing.
  void KillNow() {
    const pid_t host = Host();
    if (host == 0) return;
    if (!stopped_ && random_.Below(8) == 0) {
      stopped_ = true;
      ::kill(host, SIGSTOP);
      kill_at_ = Now() + milliseconds(100 + random_.Below(300));
      return;
    }
    stopped_ = false;
    killed_ = host;
    ::kill(host, SIGKILL);
    killed_at_ = Now();
    gone_ = true;
    ++kills_;
    kill_at_ = Now() + milliseconds(50 + random_.Below(600));
  }

  void NoteReturn() {
    if (!gone_ || Host() == 0) return;
    gone_ = false;
    back_ms_.push_back(MillisSince(killed_at_));
    // From its return on, so that it is killed in all that it does.
    kill_at_ = Now() + milliseconds(random_.Below(500));
  }

  [[nodiscard]] Heard Hear(const Typist& typist) const {
    Heard heard;
    const auto log = log::Log::Open(home_ + "/sessions/" + typist.session_id, {});
    EXPECT_TRUE(log) << log.error().Text();
    if (!log) return heard;
    EXPECT_TRUE((*log)->Read(0, [&](const log::Entry&, std::string_view line) {
      const auto event = protocol::DecodeEvent(line);
      if (const auto* message = std::get_if<protocol::UserMessage>(&event->payload))
        heard.Take(*message);
      if (const auto* queue = std::get_if<protocol::QueueUpdate>(&event->payload))
        heard.Take(*queue);
      if (const auto* turn = std::get_if<protocol::Turn>(&event->payload))
        heard.rests = turn->phase == protocol::phase::kEnd;
      return true;
    }));
    return heard;
  }

  /// Nothing more is killed: what was sent is taken, what is queued is gone on with.
  void ComeToRest(Typist& typist) {
    while (!typist.line.empty()) Press(typist, typist.line.size() < kLineLetters ? 'z' : '\r');
    const Deadline deadline = Deadline::After(std::chrono::minutes(4));
    Heard heard;
    const auto done = [&] {
      return heard.rests && heard.queued.empty() && heard.lines.size() == typist.sent.size();
    };
    while (!done() && !deadline.Passed()) {
      typist.pty->Drain(milliseconds(300));
      heard = Hear(typist);
      if (!heard.rests || heard.queued.empty()) continue;
      // The next one of the queue; those behind it follow.
      typist.pty->Type("/continue\r");
      ASSERT_TRUE(typist.pty->CursorRowIs(">", 2));
    }
    EXPECT_TRUE(done()) << typist.session_id << " does not come to rest: " << heard.queued.size()
                        << " queued\n"
                        << typist.pty->screen().Text();
    for (const std::string& line : typist.sent) EXPECT_EQ(heard.lines[line], 1) << line;
    EXPECT_EQ(heard.lines.size(), typist.sent.size());
    converged_ += done() && !HasFailure() ? 1 : 0;
  }

  void Report() {
    std::ranges::sort(echo_ms_);
    std::ranges::sort(back_ms_);
    ASSERT_FALSE(echo_ms_.empty());
    ASSERT_FALSE(back_ms_.empty());
    std::printf(
        "%d kills under %d terminals, %zu keys: echo p50 %.1f ms, p99 %.1f ms, slowest %.1f ms; a "
        "host again after p50 %.0f ms, slowest %.0f ms; %d of %d sessions came to rest\n",
        kills_, kTerminals, echo_ms_.size(), echo_ms_[echo_ms_.size() / 2],
        echo_ms_[echo_ms_.size() * 99 / 100], echo_ms_.back(), back_ms_[back_ms_.size() / 2],
        back_ms_.back(), converged_, kTerminals);
  }

  TempDir dir_;
  std::string home_ = dir_.path() + "/home";
  std::unique_ptr<emulator::Emulator> emulator_;
  Random random_{31};
  pid_t killed_ = 0;
  Time killed_at_;
  Time kill_at_ = Now() + milliseconds(500);
  bool stopped_ = false;
  bool gone_ = false;
  int kills_ = 0;
  int converged_ = 0;
  std::vector<double> echo_ms_;
  std::vector<double> back_ms_;
};

TEST_F(TypingKillTest, NoKeyIsLostAndEverySessionComesToRest) {
  std::vector<Typist> typists(kTerminals);
  for (int i = 0; i < kTerminals; ++i) {
    Sit(typists[static_cast<std::size_t>(i)], i);
    ASSERT_FALSE(HasFatalFailure());
  }
  while (kills_ < TestScale().typing_kills || gone_) {
    for (Typist& typist : typists) {
      PressNext(typist);
      ASSERT_FALSE(HasFatalFailure());
      typist.pty->Drain(milliseconds(random_.Below(12)));
    }
    NoteReturn();
    if (!gone_ && Now() >= kill_at_ && kills_ < TestScale().typing_kills) KillNow();
  }
  for (Typist& typist : typists) {
    ComeToRest(typist);
    ASSERT_FALSE(HasFatalFailure());
  }
  Report();
  for (Typist& typist : typists) {
    typist.pty->Type("\x04");
    EXPECT_EQ(typist.pty->Exit(), 0) << typist.pty->screen().Text();
  }
  EXPECT_EQ(Stet({"sessions", "verify", "--all"}), 0);
  EXPECT_EQ(converged_, kTerminals);
  // Of a machine that does nothing else; a bench has the number that counts.
  EXPECT_LT(echo_ms_.back(), 2000.0);
}

}  // namespace
}  // namespace stet::fault
