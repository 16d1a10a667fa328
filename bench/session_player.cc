#include "bench/session_player.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "protocol/ids.h"

namespace stet::bench {
namespace {

using log::Appended;
using log::Draft;

constexpr std::size_t kMaxRestPoints = 16;
constexpr std::size_t kIdLetters = 10;
constexpr std::size_t kMostSteps = 9;

protocol::Blocks TextBlocks(std::string text) {
  protocol::Blocks blocks;
  blocks.emplace_back(protocol::TextBlock{.text = std::move(text)});
  return blocks;
}

std::string Quoted(std::string_view text) {
  std::string out;
  AppendJsonString(out, text);
  return out;
}

/// Arguments with what only raw text keeps: 17 digits, huge exponents, a negative zero.
Raw CallArgs(Random& random, std::string_view text) {
  return {"{\"path\":\"/project/src/file_" + std::to_string(random.Below(500)) +
          ".cc\",\"limit\":" + std::to_string(random.Below(2000)) +
          ",\"ratio\":0.30000000000000004,\"huge\":1e400,\"zero\":-0,\"text\":" + Quoted(text) +
          "}"};
}

}  // namespace

SessionPlayer::SessionPlayer(log::Log& log, Random& random, const TextPool& pool,
                             PlayerOptions options)
    : log_(log), random_(random), pool_(pool), options_(options) {}

std::string SessionPlayer::Text(std::size_t least, std::size_t most) {
  return std::string(pool_.Take(random_, SkewedSize(random_, least, most)));
}

Draft SessionPlayer::Stamped(protocol::Payload payload) {
  Draft draft{.payload = std::move(payload), .id = "", .stamp = {}};
  if (in_turn_) draft.stamp.turn_id = turn_id_;
  return draft;
}

Result<Appended> SessionPlayer::Step() {
  if (planned_.empty() && std::exchange(move_leaf_, false)) return MoveLeaf();
  if (planned_.empty()) RETURN_IF_ERROR(Plan());
  ASSIGN_OR_RETURN(Appended appended, log_.Append(planned_.front()));
  planned_.pop_front();
  return appended;
}

Result<Appended> SessionPlayer::MoveLeaf() {
  const std::optional<std::string> leaf = log_.leaf_id();
  if (left_behind_ && left_behind_ != leaf && OneIn(4)) {
    const std::string target = *std::exchange(left_behind_, leaf);
    return log_.Branch(target, leaf);
  }
  const std::size_t back = random_.Below(rest_points_.size() - 1);  // Never the leaf itself.
  const std::string target = rest_points_[back];
  rest_points_.resize(back + 1);
  left_behind_ = leaf;
  return log_.Rewind(target, leaf);
}

// What comes next, by where the session stands.
Status SessionPlayer::Plan() {
  if (!log_.open_calls().empty()) {
    std::vector<std::string> calls;
    for (const log::OpenCall& call : log_.open_calls()) calls.push_back(call.tool_call_id);
    return PlanResults(std::move(calls));
  }
  if (!in_turn_) {
    PlanTurn();
  } else if (steps_left_ > 0) {
    --steps_left_;
    return PlanModelStep();
  } else {
    PlanTurnEnd();
  }
  return {};
}

void SessionPlayer::PlanTurn() {
  in_turn_ = true;
  turn_id_ = "turn_" + RandomName(random_, kIdLetters);
  steps_left_ = 1 + random_.Below(kMostSteps);
  protocol::UserMessage user;
  user.source = "user";
  user.client_message_id = "cm_" + RandomName(random_, kIdLetters);
  user.message.blocks = TextBlocks(Text(options_.least_text, options_.most_text / 8));
  if (OneIn(options_.queue_one_in)) {
    user.source = "follow_up";
    user.queue_item_id = "q_" + RandomName(random_, kIdLetters);
    protocol::QueueUpdate queue;
    queue.queue = "follow_up";
    queue.items.push_back({.item_id = *user.queue_item_id,
                           .client_message_id = user.client_message_id,
                           .client_id = "cli",
                           .content = user.message.blocks});
    planned_.push_back({Stamped(std::move(queue))});
  }
  Batch batch;
  batch.push_back(Stamped(std::move(user)));
  batch.push_back(Stamped(protocol::Turn{.phase = "start"}));
  planned_.push_back(std::move(batch));
}

Status SessionPlayer::PlanModelStep() {
  const std::string call_id = "mc_" + RandomName(random_, kIdLetters);
  planned_.push_back(
      {Stamped(protocol::ModelCall{.call_id = call_id,
                                   .phase = "start",
                                   .purpose = "turn",
                                   .dialect = "anthropic",
                                   .model = "model-large",
                                   .request_hash = FastHashHex(call_id),
                                   .params = Raw{"{\"temperature\":0.70000000000000007}"},
                                   .prefix = protocol::Prefix{.equal_bytes = 1 << 20}})});
  protocol::AssistantMessage assistant;
  assistant.message.model = "model-large";
  assistant.message.stop_reason = steps_left_ > 0 ? "tool_use" : "end_turn";
  assistant.message.usage = protocol::Usage{.input = 1200, .output = 800, .cache_read = 90000};
  if (OneIn(3)) {
    assistant.message.blocks.emplace_back(
        protocol::ThinkingBlock{.text = Text(options_.least_text, options_.most_text / 6),
                                .signature = RandomName(random_, 128),
                                .dialect = "anthropic"});
  }
  assistant.message.blocks.emplace_back(
      protocol::TextBlock{.text = Text(options_.least_text, options_.most_text / 3)});
  std::vector<std::string> calls(steps_left_ > 0 ? 1 + random_.Below(options_.most_calls) : 0);
  for (std::string& call : calls) {
    call = protocol::NewToolCallId(random_);
    assistant.message.blocks.emplace_back(protocol::ToolCallBlock{
        .tool_call_id = call,
        .native_id = "toolu_" + RandomName(random_, 20),
        .tool_name = "Read",
        .args = CallArgs(random_, pool_.Take(random_, 40 + random_.Below(400)))});
  }
  Batch batch;
  batch.push_back(Stamped(std::move(assistant)));
  protocol::ModelCall end{.call_id = call_id, .phase = "end", .price = 1234};
  end.attempts.emplace().push_back(
      {.outcome = "ok", .usage = protocol::Usage{.input = 1200, .output = 800}});
  batch.push_back(Stamped(std::move(end)));
  planned_.push_back(std::move(batch));
  return PlanResults(std::move(calls));
}

Draft SessionPlayer::Control(const std::string& call) {
  switch (random_.Below(8)) {
    case 0:
      return Stamped(protocol::Permission{.request_id = RandomName(random_, kIdLetters),
                                          .tool_call_id = call,
                                          .args_hash = FastHashHex(call),
                                          .phase = "asked",
                                          .options = Raw{"[\"once\",\"always\"]"}});
    case 1:
      return Stamped(protocol::FileFact{.op = OneIn(options_.effects_one_in) ? "write" : "read",
                                        .path = "/project/src/a.cc",
                                        .before = FastHashHex(call),
                                        .after = FastHashHex(turn_id_),
                                        .tool_call_id = call});
    case 2:
      return Stamped(
          protocol::Custom{.kind = "note", .data = Raw{"{\"n\":18446744073709551616,\"n\":-0}"}});
    default:
      return Stamped(protocol::FileFact{.op = "read",
                                        .path = "/project/src/b.cc",
                                        .after = FastHashHex(call),
                                        .tool_call_id = call});
  }
}

// Results come in any order; some share a batch.
Status SessionPlayer::PlanResults(std::vector<std::string> calls) {
  for (const std::string& call : calls) {
    planned_.push_back({Stamped(protocol::ToolStarted{.tool_call_id = call,
                                                      .tool = "Read",
                                                      .args_hash = FastHashHex(call),
                                                      .effects = OneIn(options_.effects_one_in),
                                                      .decision = {.by = "rule"}})});
  }
  for (std::size_t i = calls.size(); i > 1; --i) std::swap(calls[i - 1], calls[random_.Below(i)]);
  Batch batch;
  for (const std::string& call : calls) {
    Result<Draft> result = ToolResult(call);
    if (!result) {
      planned_.clear();
      return std::unexpected(std::move(result).error());
    }
    batch.push_back(*std::move(result));
    if (OneIn(3)) batch.push_back(Control(call));
    if (OneIn(2)) planned_.push_back(std::exchange(batch, {}));
  }
  if (!batch.empty()) planned_.push_back(std::move(batch));
  return {};
}

Result<Draft> SessionPlayer::ToolResult(const std::string& call) {
  protocol::ToolResult result;
  result.tool_call_id = call;
  result.is_error = OneIn(15);
  result.content.text =
      "[{\"type\":\"text\",\"text\":" + Quoted(Text(options_.least_text * 6, options_.most_text)) +
      "}]";
  if (OneIn(options_.blob_one_in)) {
    ASSIGN_OR_RETURN(std::string blob, log_.blobs().Put(TextPool::Binary(
                                           random_, SkewedSize(random_, 100, options_.most_text))));
    result.blobs.push_back(std::move(blob));
  }
  return Stamped(std::move(result));
}

void SessionPlayer::PlanTurnEnd() {
  planned_.push_back({Stamped(protocol::Turn{.phase = "end", .reason = "done"})});
  in_turn_ = false;
  if (const std::optional<std::string>& leaf = log_.leaf_id()) rest_points_.push_back(*leaf);
  if (rest_points_.size() > kMaxRestPoints) rest_points_.pop_front();
  if (OneIn(options_.compact_one_in)) {
    protocol::Compaction compact{.tokens_before = 150000,
                                 .tokens_after = 9000,
                                 .trigger = "auto",
                                 .summary = Text(options_.least_text, options_.most_text / 3)};
    if (!rest_points_.empty()) compact.keep_after_event_id = rest_points_.front();
    compact.capsule.text = "{\"files\":[\"a.cc\",\"b.cc\"],\"weight\":0.10000000000000001}";
    planned_.push_back({Stamped(std::move(compact))});
  }
  if (OneIn(20)) {
    protocol::SessionInfo info;
    info.changes.title = std::string(pool_.Take(random_, 40));
    planned_.push_back({Stamped(std::move(info))});
  }
  move_leaf_ = OneIn(options_.rewind_one_in) && rest_points_.size() > 1;
}

}  // namespace stet::bench
