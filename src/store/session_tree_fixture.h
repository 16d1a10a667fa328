// Root and child sessions in a home, made with the log itself: for tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/temp_dir.h"
#include "log/log.h"
#include "store/session_store.h"

namespace stet::store {

class SessionTree {
 public:
  explicit SessionTree(config::Roots roots, std::string cwd = "/project")
      : roots_(std::move(roots)), cwd_(std::move(cwd)), store_(roots_) {}

  /// A root with one message, closed.
  void MakeRoot(const std::string& id) { Make(store_.NewDir(id), HeaderOf(id, "chat")); }

  /// A child of `parent`, closed, with a message and a blob of its own.
  void MakeChild(const std::string& parent, const std::string& id) {
    const Result<SessionPlace> place = store_.NewChild(parent, id);
    ASSERT_TRUE(place) << place.error().Text();
    Make(place->dir, ChildHeader(parent, place->root_id, id));
  }

  /// As a child of `parent` in `root` says it.
  [[nodiscard]] protocol::Header ChildHeader(const std::string& parent, const std::string& root,
                                             const std::string& id) const {
    protocol::Header header = HeaderOf(id, "agent");
    header.parent_session_id = parent;
    header.root_session_id = root;
    header.agent_id = "agent-" + id;
    return header;
  }
  [[nodiscard]] protocol::Header HeaderOf(const std::string& id, const std::string& kind) const {
    protocol::Header header;
    header.session_id = id;
    header.kind = kind;
    header.device_id = "dev_test";
    header.meta.cwd = cwd_;
    return header;
  }

  void Make(const std::string& dir, const protocol::Header& header) {
    Result<std::unique_ptr<log::Log>> log =
        log::Log::Create(dir, header, {.mode = log::Mode::kWrite, .device_id = "dev_test"});
    ASSERT_TRUE(log) << log.error().Text();
    const Result<std::string> blob = (*log)->blobs().Put("kept by " + header.session_id);
    ASSERT_TRUE(blob) << blob.error().Text();
    protocol::UserMessage message;
    message.source = "user";
    message.message.blocks.push_back(protocol::TextBlock{.text = "hello " + header.session_id});
    protocol::Evidence evidence;
    evidence.evidence_id = "ev_1";
    evidence.kind = "user";
    evidence.outcome = "passed";
    evidence.blob = *blob;
    ASSERT_TRUE(
        (*log)->Append({{.payload = std::move(message)}, {.payload = std::move(evidence)}}));
    ASSERT_TRUE((*log)->Close());
  }

  /// Held until the log is gone.
  std::unique_ptr<log::Log> Write(const std::string& id) {
    Result<std::unique_ptr<log::Log>> log = log::Log::Open(
        store_.Find(id).value(), {.mode = log::Mode::kWrite, .device_id = "dev_test"});
    EXPECT_TRUE(log) << log.error().Text();
    return *std::move(log);
  }

  protocol::Header HeaderIn(const std::string& dir) {
    Result<std::unique_ptr<log::Log>> log = log::Log::Open(dir, {});
    EXPECT_TRUE(log) << log.error().Text();
    return log ? (*log)->header() : protocol::Header();
  }

 protected:
  const config::Roots roots_;
  const std::string cwd_;
  SessionStore store_;
};

class SessionTreeHome {
 protected:
  TempDir home_;
};

class SessionTreeTest : public testing::Test, protected SessionTreeHome, protected SessionTree {
 protected:
  SessionTreeTest() : SessionTree({home_.path(), home_.path()}) {}
};

}  // namespace stet::store
