// LiveTest: a session as a client has it, over the emulator.
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/temp_dir.h"
#include "config/roots.h"
#include "emulator/emulator.h"
#include "host/local/live.h"
#include "host/local/sessions.h"
#include "json/view.h"
#include "log/log.h"
#include "store/session_store.h"
#include "tests/model/host_fixture.h"

namespace stet::test {

/// What a summariser is asked with.
inline constexpr std::string_view kAsksSummary = "Sum it up for yourself";

/// Keeps everything that a session tells, to be waited for.
class Heard {
 public:
  client::Watcher Watcher();

  /// The first event of this type that fits, now or within a long time.
  template <class T>
  std::optional<T> Await(const std::function<bool(const T&)>& fits = [](const T&) {
    return true;
  }) {
    return AwaitIn<T>(
        events_,
        [](const protocol::Event& event) -> const protocol::PayloadVariant& {
          return event.payload;
        },
        fits);
  }
  template <class T>
  std::optional<T> AwaitTransient(const std::function<bool(const T&)>& fits = [](const T&) {
    return true;
  }) {
    return AwaitIn<T>(
        transients_,
        [](const protocol::Transient& one) -> const protocol::TransientPayload& {
          return one.transient;
        },
        fits);
  }
  std::vector<protocol::Event> Events();
  template <class T>
  std::vector<T> All() {
    std::vector<T> all;
    for (const protocol::Event& event : Events()) {
      if (const auto* one = std::get_if<T>(&event.payload)) all.push_back(*one);
    }
    return all;
  }

 private:
  template <class T, class List, class PayloadOf>
  std::optional<T> AwaitIn(const List& list, PayloadOf payload_of,
                           const std::function<bool(const T&)>& fits) {
    std::unique_lock lock(mutex_);
    std::optional<T> found;
    std::size_t looked = 0;
    changed_.wait_for(lock, std::chrono::seconds(60), [&] {
      for (; looked < list.size() && !found; ++looked) {
        const auto* one = std::get_if<T>(&payload_of(list[looked]));
        if (one != nullptr && fits(*one)) found = *one;
      }
      return found.has_value();
    });
    return found;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<protocol::Event> events_;
  std::deque<protocol::Transient> transients_;
};

class LiveTest : public testing::Test {
 protected:
  LiveTest();
  ~LiveTest() override;

  /// Whatever happened, every request can be made again from the log, every break of a cached
  /// prefix has its cause, and every beginning of a short log gives the same however it is read.
  void TearDown() override;

  void Script(std::string_view script, const std::string& api = "anthropic-messages");

  [[nodiscard]] protocol::Attach Here(const std::string& mode = "bypass",
                                      bool answers = false) const {
    protocol::Attach attach;
    attach.cwd = project_;
    attach.mode = mode;
    attach.answers = answers;
    return attach;
  }

  void Open(const protocol::Attach& attach);

  /// The session as it is now.
  protocol::LiveState State();
  protocol::Accepted Send(const std::string& text, const std::string& how = "send");

  protocol::TurnReport EndOf(const std::string& turn_id);
  protocol::TurnReport Run(const std::string& text) {
    return EndOf(Send(text).turn_id.value_or(""));
  }

  /// The bodies of the requests so far.
  std::vector<std::string> Requests() const;

  std::unique_ptr<client::Live> MakeLive();

  TempDir dir_;
  std::string project_ = dir_.path() + "/project";
  config::Roots roots_{.data = dir_.path() + "/home", .config = dir_.path() + "/home"};
  std::string more_settings_;
  std::unique_ptr<emulator::Emulator> emulator_;
  std::unique_ptr<Heard> heard_ = std::make_unique<Heard>();
  std::unique_ptr<RunningHost> host_;  // With $STET_TEST_LIVE=host: sessions are worked on there.
  std::unique_ptr<client::Live> live_ = MakeLive();
  std::unique_ptr<client::LiveSession> session_;
  std::string session_id_;
};

}  // namespace stet::test
