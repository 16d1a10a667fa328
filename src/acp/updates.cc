#include "acp/updates.h"

#include <algorithm>

#include <fmt/format.h>

#include "acp/message.h"
#include "base/base64.h"
#include "base/utf8.h"

namespace stet::acp {
namespace {

constexpr std::string_view kUser = "user_message_chunk";
constexpr std::string_view kAgent = "agent_message_chunk";
constexpr std::string_view kThought = "agent_thought_chunk";
/// Of a command that runs the end of its output is told so often.
constexpr std::int64_t kProgressMs = 500;

JsonWriter& Begin(JsonWriter& writer, std::string_view kind) {
  return writer.BeginObject().Member("sessionUpdate", kind);
}

JsonWriter& BeginCall(JsonWriter& writer, std::string_view kind, const std::string& id) {
  return Begin(writer, kind).Member("toolCallId", id);
}

/// The text blocks of one kind, with blank lines between.
template <class Block>
std::string Joined(const protocol::Blocks& blocks) {
  std::string text;
  for (const protocol::Block& block : blocks) {
    const auto* part = std::get_if<Block>(&block);
    if (part == nullptr || part->text.empty()) continue;
    if (!text.empty()) text += "\n\n";
    text += part->text;
  }
  return text;
}

std::string_view ChunkKind(const client::ReplyItem& reply) {
  return reply.kind == client::ReplyItem::Kind::kThinking ? kThought : kAgent;
}

void WriteDiffs(JsonWriter& writer, const FileDiffs& diffs) {
  writer.BeginArray();
  for (const FileDiff& diff : diffs) WriteDiff(writer, diff);
  writer.EndArray();
}

}  // namespace

Updates::List Updates::BlobsOf(const protocol::Event& event) const {
  List names;
  const auto add_images = [&](const protocol::Blocks& blocks) {
    for (const protocol::Block& block : blocks)
      if (const auto* image = std::get_if<protocol::ImageBlock>(&block))
        names.push_back(image->blob);
  };
  if (const auto* user = std::get_if<protocol::UserMessage>(&event.payload)) {
    add_images(user->message.blocks);
  } else if (const auto* result = std::get_if<protocol::ToolResult>(&event.payload)) {
    if (result->content.text.contains("image"))
      add_images(Decode<protocol::Blocks>(result->content.text).value_or(protocol::Blocks()));
  } else if (const auto* fact = std::get_if<protocol::FileFact>(&event.payload)) {
    const client::CallItem* call = scene_.FindCall(fact->tool_call_id.value_or(""));
    const bool shown = call != nullptr && call->tool == "Write" && fact->op == "write";
    if (shown && fact->before_blob) names.push_back(*fact->before_blob);
  }
  return names;
}

Updates::List Updates::Take(const protocol::Event& event) {
  return Apply(scene_.Take(event), event.stamp.ts);
}

Updates::List Updates::Replay(const protocol::Event& event) {
  replaying_ = true;
  List updates = Take(event);
  replaying_ = false;
  return updates;
}

Updates::List Updates::Take(const protocol::Transient& transient) {
  return Apply(scene_.Take(transient), transient.ts);
}

Updates::List Updates::Apply(const client::SceneChanges& changes, std::int64_t ts) {
  for (const client::SceneChange& change : changes) Tell(change, ts);
  return std::exchange(out_, {});
}

void Updates::Tell(const client::SceneChange& change, std::int64_t ts) {
  using What = client::SceneChange::What;
  if (change.what == What::kSettings) return TellTitle();
  const client::SceneItem* item = scene_.Find(change.item);
  const auto told = calls_.find(change.item);
  if (item == nullptr) {
    // Dropped or let go: a call that the client knows ends.
    if (told == calls_.end()) return;
    TellFailed(told->second);
    calls_.erase(told);
    return;
  }
  if (change.what == What::kAdded)
    return std::visit([&](const auto& what) { Add(*item, what); }, item->what);
  if (const auto* reply = std::get_if<client::ReplyItem>(&item->what)) {
    const std::string_view kind = ChunkKind(*reply);
    if (change.what == What::kGrown)
      Chunk(kind, item->event_id, std::string_view(reply->text).substr(change.from));
    else if (change.what == What::kReplaced)  // Something between was missed: nothing is lost.
      Chunk(kind, item->event_id, "\n\n" + reply->text);
  } else if (const auto* call = std::get_if<client::CallItem>(&item->what);
             call != nullptr && told != calls_.end()) {
    Change(told->second, *call, ts);
    if (call->result || call->state == client::CallItem::State::kEnded) calls_.erase(told);
  }
}

void Updates::Chunk(std::string_view kind, const std::string& id, std::string_view text) {
  if (text.empty()) return;
  JsonWriter writer(out_.emplace_back());
  Begin(writer, kind).Key("content").BeginObject().Member("type", "text").Member("text", text);
  writer.EndObject().Member("messageId", id).EndObject();
}

void Updates::ImageChunk(const std::string& id, const protocol::ImageBlock& image) {
  JsonWriter writer(out_.emplace_back());
  Begin(writer, kUser).Key("content");
  WriteImage(writer, image);
  writer.Member("messageId", id).EndObject();
}

/// As a content block; one that is not there any more is named.
void Updates::WriteImage(JsonWriter& writer, const protocol::ImageBlock& image) const {
  const std::optional<std::string> bytes = sources_.blob(image.blob);
  writer.BeginObject();
  if (bytes) {
    std::string data;
    AppendBase64(data, *bytes);
    writer.Member("type", "image").Member("mimeType", image.media_type).Member("data", data);
  } else {
    writer.Member("type", "text").Member("text", fmt::format("({})", image.media_type));
  }
  writer.EndObject();
}

void Updates::Add(const client::SceneItem& item, const client::PromptItem& prompt) {
  Chunk(kUser, item.event_id, Joined<protocol::TextBlock>(prompt.blocks));
  for (const protocol::Block& block : prompt.blocks)
    if (const auto* image = std::get_if<protocol::ImageBlock>(&block))
      ImageChunk(item.event_id, *image);
}

/// Blocks of one message are parts of one text for the client.
void Updates::Add(const client::SceneItem& item, const client::ReplyItem& reply) {
  const bool thinking = reply.kind == client::ReplyItem::Kind::kThinking;
  std::string& last = thinking ? thought_in_ : said_in_;
  const bool goes_on = last == item.event_id;
  last = item.event_id;
  Chunk(ChunkKind(reply), item.event_id, (goes_on ? "\n\n" : "") + reply.text);
}

void Updates::Add(const client::SceneItem& item, const client::CallItem& call) {
  Told& told = calls_[item.number];
  told.tool_call_id = call.tool_call_id;
  if (call.state != client::CallItem::State::kWriting) return TellCall("tool_call", told, call);
  JsonWriter writer(out_.emplace_back());
  BeginCall(writer, "tool_call", call.tool_call_id).Member("title", call.tool);
  writer.Member("name", call.tool).Member("kind", KindOf(call.tool));
  writer.Member("status", "pending").EndObject();
}

void Updates::Add(const client::SceneItem& item, const client::MarkerItem& marker) {
  if (marker.kind != client::MarkerItem::Kind::kCompact || !sources_.compactions) return;
  JsonWriter writer(out_.emplace_back());
  Begin(writer, "compaction_update").Member("compactionId", item.event_id);
  writer.Member("status", "completed").Key("summary").BeginArray().BeginObject();
  writer.Member("type", "text").Member("text", marker.value);
  writer.EndObject().EndArray().EndObject();
}

void Updates::TellTitle() {
  const std::string& title = scene_.settings().title;
  if (title.empty() || title == title_) return;
  title_ = title;
  JsonWriter writer(out_.emplace_back());
  Begin(writer, "session_info_update").Member("title", title).EndObject();
}

/// Tells what of a call the client does not know yet.
void Updates::Change(Told& told, const client::CallItem& call, std::int64_t ts) {
  using State = client::CallItem::State;
  TakeFiles(told, call);
  if (call.result) return TellOutcome(told, call);
  if (call.state == State::kEnded) return TellFailed(told);
  if (told.state == State::kWriting && call.state != State::kWriting)
    return TellCall("tool_call_update", told, call);
  if (told.state == State::kWaiting && call.state == State::kRunning) {
    told.state = call.state;
    JsonWriter writer(out_.emplace_back());
    BeginCall(writer, "tool_call_update", call.tool_call_id);
    writer.Member("status", "in_progress").EndObject();
    return;
  }
  TellProgress(told, call, ts);
}

/// The whole call, as far as it is known before it has a result.
void Updates::TellCall(std::string_view kind, Told& told, const client::CallItem& call) {
  const bool running = call.state == client::CallItem::State::kRunning;
  told.state = running ? client::CallItem::State::kRunning : client::CallItem::State::kWaiting;
  told.locations = LocationsOf(call.tool, call.args, sources_.cwd);
  told.diffs = DiffsOf(call.tool, call.args, sources_.cwd);
  if (call.tool == "Write" && !told.diffs.empty() && !replaying_)
    told.diffs[0].old_text = sources_.file_text(told.diffs[0].path);
  JsonWriter writer(out_.emplace_back());
  BeginCall(writer, kind, call.tool_call_id);
  writer.Member("title", TitleOf(call.tool, call.args)).Member("name", call.tool);
  writer.Member("kind", KindOf(call.tool)).Member("status", running ? "in_progress" : "pending");
  if (!told.diffs.empty()) WriteDiffs(writer.Key("content"), told.diffs);
  if (!told.locations.empty()) WriteLocations(writer.Key("locations"), told.locations);
  writer.Member("rawInput", call.args).EndObject();
}

/// What the files were is known better from the facts than from a look at the disk.
void Updates::TakeFiles(Told& told, const client::CallItem& call) {
  for (; told.files < call.files.size(); ++told.files) {
    const client::WrittenFile& file = call.files[told.files];
    told.locations = {Location{.path = file.path, .line = {}}};
    for (FileDiff& diff : told.diffs) diff.path = file.path;
    if (call.tool != "Write" || told.diffs.empty()) continue;
    std::optional<std::string> before;
    if (file.before_blob) before = sources_.blob(*file.before_blob);
    told.diffs[0].old_text = before && !IsValidUtf8(*before) ? std::nullopt : before;
  }
}

void Updates::TellProgress(Told& told, const client::CallItem& call, std::int64_t ts) {
  const bool in_terminal = call.terminal != told.terminal;
  const bool wrote = call.output != told.output && ts - told.told_at >= kProgressMs;
  if (!in_terminal && !wrote) return;
  JsonWriter writer(out_.emplace_back());
  BeginCall(writer, "tool_call_update", call.tool_call_id).Key("content").BeginArray();
  if (in_terminal) {
    told.terminal = call.terminal;
    WriteTerminal(writer, call.terminal);
  } else {
    told.output = call.output;
    told.told_at = ts;
    WriteTextContent(writer, call.output);
  }
  writer.EndArray().EndObject();
}

void Updates::TellFailed(const Told& told) {
  JsonWriter writer(out_.emplace_back());
  BeginCall(writer, "tool_call_update", told.tool_call_id).Member("status", "failed").EndObject();
}

void Updates::TellOutcome(const Told& told, const client::CallItem& call) {
  {
    JsonWriter writer(out_.emplace_back());
    BeginCall(writer, "tool_call_update", call.tool_call_id);
    writer.Member("status", call.is_error ? "failed" : "completed");
    WriteOutcome(writer.Key("content"), told, call);
    if (!told.locations.empty()) WriteLocations(writer.Key("locations"), told.locations);
    writer.EndObject();
  }
  if (call.tool != "TodoWrite" || call.is_error) return;
  if (std::string plan = PlanUpdate(call.args); !plan.empty()) out_.push_back(std::move(plan));
}

void Updates::WriteOutcome(JsonWriter& writer, const Told& told, const client::CallItem& call) {
  if (!call.is_error && !told.diffs.empty()) return WriteDiffs(writer, told.diffs);
  const protocol::Blocks blocks =
      Decode<protocol::Blocks>(call.result->text).value_or(protocol::Blocks());
  writer.BeginArray();
  if (!told.terminal.empty()) WriteTerminal(writer, told.terminal);
  // A terminal shows the output itself.
  const std::string text = Joined<protocol::TextBlock>(blocks);
  if (!text.empty() && (told.terminal.empty() || call.is_error)) WriteTextContent(writer, text);
  for (const protocol::Block& block : blocks) {
    const auto* image = std::get_if<protocol::ImageBlock>(&block);
    if (image == nullptr) continue;
    WriteImage(writer.BeginObject().Member("type", "content").Key("content"), *image);
    writer.EndObject();
  }
  writer.EndArray();
}

const Updates::Told* Updates::FindTold(const std::string& tool_call_id) const {
  for (const auto& [number, told] : calls_)
    if (told.tool_call_id == tool_call_id) return &told;
  return nullptr;
}

std::string Updates::CallOf(const protocol::PermissionAsk& ask) const {
  const client::CallItem* call = scene_.FindCall(ask.tool_call_id);
  const Told* told = FindTold(ask.tool_call_id);
  const bool known = call != nullptr && told != nullptr && call->args == ask.args;
  const FileDiffs diffs = known ? told->diffs : DiffsOf(ask.tool, ask.args, sources_.cwd);
  std::string json;
  JsonWriter writer(json);
  writer.BeginObject().Member("toolCallId", ask.tool_call_id);
  writer.Member("title", ask.summary.empty() ? TitleOf(ask.tool, ask.args) : ask.summary);
  writer.Member("name", ask.tool).Member("kind", KindOf(ask.tool)).Member("status", "pending");
  writer.Key("content").BeginArray();
  for (const FileDiff& diff : diffs) WriteDiff(writer, diff);
  const std::string command = JsonView(ask.args.text)["command"].StringOr("");
  if (command.size() > ask.summary.size()) WriteTextContent(writer, command);
  if (!ask.reason.empty()) WriteTextContent(writer, ask.reason);
  if (ask.confined)
    WriteTextContent(writer, *ask.confined ? "It would run in the sandbox."
                                           : "It would run outside of any sandbox.");
  writer.EndArray();
  WriteLocations(writer.Key("locations"), LocationsOf(ask.tool, ask.args, sources_.cwd));
  writer.Member("rawInput", ask.args).EndObject();
  return json;
}

std::string UpdateLine(std::string_view session_id, std::string_view update) {
  std::string params;
  JsonWriter writer(params);
  writer.BeginObject().Member("sessionId", session_id).Key("update").Text(update).EndObject();
  return rpc::NotificationLine("session/update", params);
}

std::string Updates::ToolOf(const std::string& tool_call_id) const {
  const client::CallItem* call = scene_.FindCall(tool_call_id);
  return call == nullptr ? "" : call->tool;
}

}  // namespace stet::acp
