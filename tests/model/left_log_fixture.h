// LeftLog: the log of a session as a process before this one left it, in its first turn. It is
// given up when this is destroyed.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/fs.h"
#include "log/log.h"
#include "store/own_mark.h"
#include "store/session_store.h"

namespace stet::test {

class LeftLog {
 public:
  /// With the user's first message, and the start of its turn.
  LeftLog(const config::Roots& roots, const std::string& session_id, const std::string& cwd,
          Clock& clock = SystemClock())
      : folder_(store::SessionStore(roots).NewDir(session_id)) {
    protocol::Header header;
    header.session_id = session_id;
    header.kind = "chat";
    header.meta.cwd = cwd;
    log::Options options;
    options.mode = log::Mode::kWrite;
    options.clock = &clock;
    EXPECT_TRUE(MakeDirs(roots.sessions()));
    Result<std::unique_ptr<log::Log>> made = log::Log::Create(folder_, header, options);
    EXPECT_TRUE(made) << made.error().Text();
    log_ = *std::move(made);
    const Result<std::string> key = config::DeviceKey(roots);
    EXPECT_TRUE(key && store::MarkOwn(log_->paths(), 1, *key));
    protocol::UserMessage asked;
    asked.source = "user";
    asked.message.blocks.emplace_back(protocol::TextBlock{.text = "hello"});
    Append(asked);
    protocol::Turn turn;
    turn.phase = "start";
    Append(turn);
  }

  void Append(protocol::Payload payload) {
    std::vector<log::Draft> batch;
    batch.push_back({.payload = std::move(payload), .id = "", .stamp = {}});
    batch[0].stamp.turn_id = "turn_1";
    EXPECT_TRUE(log_->Append(std::move(batch)));
  }
  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
  std::unique_ptr<log::Log> log_;
};

}  // namespace stet::test
