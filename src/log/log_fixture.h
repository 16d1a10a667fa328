// A log in a temporary folder and short ways to fill it, for the tests of this module.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/temp_dir.h"
#include "log/log.h"
#include "log/tree.h"

namespace stet::log {

using protocol::AssistantMessage;
using protocol::Payload;
using protocol::TextBlock;
using protocol::ToolCallBlock;
using protocol::ToolResult;
using protocol::UserMessage;

inline Draft User(std::string text) {
  UserMessage message;
  message.source = "user";
  message.message.blocks.push_back(TextBlock{.text = std::move(text)});
  return {.payload = std::move(message)};
}

inline Draft Assistant(std::string text, std::vector<std::string> calls = {}) {
  AssistantMessage message;
  message.message.model = "test";
  message.message.blocks.push_back(TextBlock{.text = std::move(text)});
  for (std::string& id : calls) {
    message.message.blocks.push_back(
        ToolCallBlock{.tool_call_id = std::move(id), .tool_name = "Read", .args = Raw{"{}"}});
  }
  return {.payload = std::move(message)};
}

inline Draft ResultOf(std::string call) {
  ToolResult result;
  result.tool_call_id = std::move(call);
  result.content = Raw{"\"done\""};
  return {.payload = std::move(result)};
}

class LogTest : public testing::Test {
 protected:
  std::unique_ptr<Log> Create(std::string_view name = "ses_test") {
    protocol::Header header;
    header.session_id = name;
    header.kind = "chat";
    header.device_id = "dev_test";
    header.meta.cwd = "/project";
    Result<std::unique_ptr<Log>> log = Log::Create(Dir(name), header, WriteOptions());
    EXPECT_TRUE(log) << log.error().Text();
    return *std::move(log);
  }

  std::unique_ptr<Log> Open(Mode mode = Mode::kWrite, bool use_index = true) {
    Options options = WriteOptions();
    options.mode = mode;
    options.use_index = use_index;
    Result<std::unique_ptr<Log>> log = Log::Open(Dir(), options);
    EXPECT_TRUE(log) << log.error().Text();
    return *std::move(log);
  }

  std::string Append(Log& log, Draft draft) {
    std::vector<Draft> batch;
    batch.push_back(std::move(draft));
    const Result<Appended> appended = log.Append(std::move(batch));
    EXPECT_TRUE(appended) << appended.error().Text();
    return appended ? appended->ids.front() : "";
  }

  Error AppendError(Log& log, Draft draft) {
    std::vector<Draft> batch;
    batch.push_back(std::move(draft));
    const Result<Appended> appended = log.Append(std::move(batch));
    EXPECT_FALSE(appended);
    return appended ? Error(Code::kInvalid, "") : appended.error();
  }

  Options WriteOptions() {
    return {.mode = Mode::kWrite, .device_id = "dev_test", .clock = &clock_, .random = &random_};
  }
  std::string Dir(std::string_view name = "ses_test") {
    return temp_.path() + "/" + std::string(name);
  }
  std::string EventsPath() { return Dir() + "/events.jsonl"; }

  std::vector<std::string> PathIds(Log& log) {
    std::vector<std::string> ids;
    for (const Ordinal event : PathTo(log.index(), log.index().leaf()))
      ids.push_back(*log.IdOf(event));
    return ids;
  }

  TempDir temp_;
  FakeClock clock_;
  Random random_{7};
};

}  // namespace stet::log
