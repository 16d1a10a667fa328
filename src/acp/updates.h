// Updates: what happens in a session, as `update` objects of session/update.
//
// Replies are told as they come; when a message is in the log only what was not told yet is added,
// so every text is told once and whole. A call is known to the client before anything is said of
// it, and every call that it knows ends. Belongs to one thread; memory is that of the message that
// comes and of the calls that have no result yet.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acp/tool_view.h"
#include "protocol/event.h"
#include "protocol/live.h"
#include "protocol/transient.h"

namespace stet::acp {

class Updates {
 public:
  struct Sources {
    std::string cwd;
    bool compactions = false;  // The client wants to hear of them.
    /// What the session keeps under a name; nothing when it is not there.
    std::function<std::optional<std::string>(const std::string& name)> blob;
    /// The text of a file as it is; nothing when there is none.
    std::function<std::optional<std::string>(const std::string& path)> file_text;
  };
  using List = std::vector<std::string>;

  explicit Updates(Sources sources) : sources_(std::move(sources)) {}

  List Take(const protocol::Event& event);
  /// The same for one that happened long ago: files are not looked at.
  List Replay(const protocol::Event& event);
  List Take(const protocol::Transient& transient);

  /// The call that is asked about, as a request for permission has it.
  [[nodiscard]] std::string CallOf(const protocol::PermissionAsk& ask) const;
  /// The tool of a call that has no result yet; empty when there is no such call.
  [[nodiscard]] std::string ToolOf(const std::string& tool_call_id) const;

  /// Tokens of the last request and its reply; 0: not known.
  [[nodiscard]] std::int64_t used() const { return used_; }

 private:
  struct Call {
    std::string tool;
    Raw args{"{}"};
    FileDiffs diffs;
    Locations locations;
    std::string output;        // The end of what it said so far.
    std::string terminal;      // The client's, that it runs in; empty: none.
    std::int64_t told_at = 0;  // When that was last told.
    bool in_message = false;   // The message with it is in the log.
  };

  void On(const protocol::Event& event, const protocol::UserMessage& message);
  void On(const protocol::Event& event, const protocol::AssistantMessage& message);
  void On(const protocol::ToolResult& result);
  void On(const protocol::FileFact& fact);
  void On(const protocol::SessionInfo& info);
  void On(const protocol::Event& event, const protocol::Compact& compact);

  template <class T>
  void Heard(const T&, std::int64_t) {}
  void Heard(const protocol::MessageStart& start, std::int64_t ts);
  void Heard(const protocol::TextDelta& delta, std::int64_t ts);
  void Heard(const protocol::ThinkingDelta& delta, std::int64_t ts);
  void Heard(const protocol::ToolCallDelta& delta, std::int64_t ts);
  void Heard(const protocol::MessageCancelled& cancelled, std::int64_t ts);
  void Heard(const protocol::ToolExecutionStart& start, std::int64_t ts);
  void Heard(const protocol::ToolExecutionUpdate& update, std::int64_t ts);

  /// What was told of one kind of text of the message that comes.
  struct Told {
    std::string text;
    std::int64_t block = -1;
  };
  void Stream(Told& told, std::string_view kind, std::int64_t block, const std::string& delta);
  void Rest(const Told& told, std::string_view kind, const std::string& id,
            const std::string& whole);
  void Chunk(std::string_view kind, const std::string& id, std::string_view text);
  void ImageChunk(const std::string& id, const protocol::ImageBlock& image);
  void TellCall(const protocol::ToolCallBlock& block);
  void GiveUpCalls();
  void WriteOutcome(JsonWriter& writer, const Call& call, const protocol::ToolResult& result);
  void WriteImage(JsonWriter& writer, const protocol::ImageBlock& image) const;

  Sources sources_;
  List out_;
  std::string event_id_;  // Of the message that comes; empty: none that was heard from its start.
  Told text_;
  Told thought_;
  std::map<std::string, Call> calls_;
  std::int64_t used_ = 0;
  bool replaying_ = false;
};

/// The line that tells an update.
std::string UpdateLine(std::string_view session_id, std::string_view update);

}  // namespace stet::acp
