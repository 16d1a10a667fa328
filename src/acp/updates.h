// Updates: the changes of a session's scene, as `update` objects of session/update.
//
// Replies are told as they come; when a message is in the log only what was not told yet is added,
// so every text is told once and whole. A call is known to the client before anything is said of
// it, and every call that it knows ends. Belongs to one thread; memory is that of the scene.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acp/tool_view.h"
#include "client/scene/scene.h"
#include "protocol/event.h"
#include "protocol/live.h"
#include "protocol/transient.h"

namespace stet::acp {

class Updates {
 public:
  struct Sources {
    std::string cwd;
    bool compactions = false;  // The client wants to hear of them.
    /// What the session keeps under a name, of what BlobsOf says; nothing when it is not there.
    std::function<std::optional<std::string>(const std::string& name)> blob;
    /// The text of a file as it is; nothing when there is none.
    std::function<std::optional<std::string>(const std::string& path)> file_text;
  };
  using List = std::vector<std::string>;

  explicit Updates(Sources sources) : sources_(std::move(sources)) {}

  /// What of `blob` taking this event may ask for.
  [[nodiscard]] List BlobsOf(const protocol::Event& event) const;
  List Take(const protocol::Event& event);
  /// The same for one that happened long ago: files are not looked at.
  List Replay(const protocol::Event& event);
  List Take(const protocol::Transient& transient);

  /// The call that is asked about, as a request for permission has it.
  [[nodiscard]] std::string CallOf(const protocol::PermissionAsk& ask) const;
  /// The tool of a call that has no result yet; empty when there is no such call.
  [[nodiscard]] std::string ToolOf(const std::string& tool_call_id) const;

  /// Tokens of the last request and its reply; 0: not known.
  [[nodiscard]] std::int64_t used() const { return scene_.used(); }

 private:
  /// What the client knows of a call that has not ended.
  struct Told {
    std::string tool_call_id;
    client::CallItem::State state = client::CallItem::State::kWriting;
    FileDiffs diffs;
    Locations locations;
    std::size_t files = 0;     // So many facts of written files are in the above.
    std::string terminal;      // The client's, that it runs in; empty: none.
    std::string output;        // As it was last told.
    std::int64_t told_at = 0;  // When that was.
  };

  List Apply(const client::SceneChanges& changes, std::int64_t ts);
  void Tell(const client::SceneChange& change, std::int64_t ts);
  void Add(const client::SceneItem& item, const client::PromptItem& prompt);
  void Add(const client::SceneItem& item, const client::ReplyItem& reply);
  void Add(const client::SceneItem& item, const client::CallItem& call);
  void Add(const client::SceneItem& item, const client::MarkerItem& marker);
  void Add(const client::SceneItem&, const client::NoteItem&) {}
  void Add(const client::SceneItem&, const client::TurnItem&) {}
  void Change(Told& told, const client::CallItem& call, std::int64_t ts);
  void TellTitle();
  void TellCall(std::string_view kind, Told& told, const client::CallItem& call);
  void TellProgress(Told& told, const client::CallItem& call, std::int64_t ts);
  void TellFailed(const Told& told);
  void TellOutcome(const Told& told, const client::CallItem& call);
  void TakeFiles(Told& told, const client::CallItem& call);
  void Chunk(std::string_view kind, const std::string& id, std::string_view text);
  void ImageChunk(const std::string& id, const protocol::ImageBlock& image);
  void WriteOutcome(JsonWriter& writer, const Told& told, const client::CallItem& call);
  void WriteImage(JsonWriter& writer, const protocol::ImageBlock& image) const;
  [[nodiscard]] const Told* FindTold(const std::string& tool_call_id) const;

  Sources sources_;
  client::Scene scene_;
  List out_;
  std::map<std::uint64_t, Told> calls_;  // By the number of their item.
  std::string said_in_;                  // The message that text was last told of,
  std::string thought_in_;               // and thinking: another block stands apart.
  std::string title_;                    // As it was last told.
  bool replaying_ = false;
};

/// The line that tells an update.
std::string UpdateLine(std::string_view session_id, std::string_view update);

}  // namespace stet::acp
