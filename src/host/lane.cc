#include "host/lane.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/items.h"
#include "agent/mentions.h"
#include "agent/pinned_sections.h"
#include "agent/request.h"
#include "agent/resume.h"
#include "agent/task_rows.h"
#include "base/base64.h"
#include "host/client_editor.h"
#include "protocol/ids.h"
#include "tool/image.h"

namespace stet::host {
namespace {

bool SaysSomething(const protocol::Send& send) {
  return send.text.find_first_not_of(" \t\r\n") != std::string::npos || !send.images.empty();
}

}  // namespace

Lane::Lane(LaneSetup setup)
    : setup_(std::move(setup)),
      asks_(setup_.loop, *setup_.log),
      tools_(setup_.tools),
      bench_{.loop = setup_.loop,
             .log = *setup_.log,
             .model = nullptr,
             .tools = tools_,
             .workspace = setup_.workspace,
             .asks = asks_,
             .settings = agent::CurrentSettings(std::move(setup_.settings)),
             .output = {},
             .system = {},
             .cache_key = {},
             .conversation = {},
             .files = {}} {
  asks_.set_present(setup_.answers);
}

Lane::~Lane() = default;

void Lane::UseServices(std::shared_ptr<client::Services> services) {
  bench_.editor =
      services ? MakeClientEditor(setup_.loop, setup_.log->header().session_id, std::move(services))
               : nullptr;
}

Result<std::unique_ptr<Lane>> Lane::Open(LaneSetup setup) {
  std::unique_ptr<Lane> lane(new Lane(std::move(setup)));
  RETURN_IF_ERROR(lane->Prepare());
  return lane;
}

Status Lane::Prepare() {
  provider_ = setup_.models.Open(bench_.settings->model);
  bench_.model = provider_.get();
  if (bench_.settings->auxiliary) {
    auxiliary_ = setup_.models.Open(*bench_.settings->auxiliary);
    bench_.auxiliary = auxiliary_.get();
  }
  bench_.redactor = setup_.redactor;
  bench_.keep_grant = setup_.keep_grant;
  bench_.background = [this] { return tasks_->Describe(); };
  protocol::TaskRows tasks;
  if (!setup_.fresh) {
    ASSIGN_OR_RETURN(opening_, agent::ReadOpening(*setup_.log));
    ASSIGN_OR_RETURN(tasks, agent::ReadTasks(*setup_.log));
  }
  OpenTasks(tasks);
  notes_ = setup_.notes;
  RETURN_IF_ERROR(AddTools());
  RETURN_IF_ERROR(OpenExtensions());
  RETURN_IF_ERROR(OpenToolset());
  OpenHooks();
  if (!setup_.fresh) {
    RETURN_IF_ERROR(Settle(setup_.keep_waiting && setup_.answers));
    RETURN_IF_ERROR(NoteLostTasks(tasks));
  }
  bench_.settings.Grant(opening_.grants);
  if (opening_.snapshot) {
    UseSnapshot();
    RETURN_IF_ERROR(NoteAppendedInstructions());
  }
  if (waits_) {
    NewTurn(*opening_.open_turn);
    setup_.loop.Spawn(Work("", true));
  }
  return {};
}

/// Gives every call that a dead process left open its result, by what the log says of the call.
Status Lane::Settle(bool keep_waiting) {
  ASSIGN_OR_RETURN(waits_, agent::SettleInterrupted(*setup_.log, opening_, keep_waiting));
  // A client may continue what was left: it counts as interrupted.
  if (opening_.unanswered || (opening_.open_turn && !waits_))
    opening_.last_end = agent::ended::kInterrupted;
  broken_ = false;
  return {};
}

/// The instructions of a session are frozen: what the user appends later is told to the model as an
/// item.
Status Lane::NoteAppendedInstructions() {
  const std::string& appended = setup_.instructions.appended;
  if (appended.empty() || waits_) return {};
  agent::NewItem item{.kind = agent::item::kInstructions, .origin = "user", .content = ""};
  item.content = "The user adds to your instructions:\n" + appended;
  notes_.emplace_back(
      "the session keeps its instructions: what was appended to them is told to the model as an "
      "addition");
  return agent::AppendItem(*setup_.log, std::move(item), {});
}

Status Lane::EnsureSnapshot() {
  if (opening_.snapshot) return {};
  const protocol::InstructionSnapshot snapshot =
      agent::TakeSnapshot(setup_.instructions, SystemClock());
  std::vector<log::Draft> batch;
  batch.push_back({.payload = snapshot, .id = "", .stamp = {}});
  for (protocol::Pin& pin : agent::PinsIn(snapshot, ProcessRandom()))
    batch.push_back({.payload = std::move(pin), .id = "", .stamp = {}});
  ASSIGN_OR_RETURN(std::optional<protocol::Toolset> toolset, tools_.Unkept(*setup_.log));
  if (toolset) batch.push_back({.payload = *std::move(toolset), .id = "", .stamp = {}});
  RETURN_IF_ERROR(setup_.log->Append(std::move(batch)));
  tools_.SetKept();
  opening_.snapshot = snapshot;
  UseSnapshot();
  return {};
}

void Lane::UseSnapshot() {
  bench_.system = agent::RenderSnapshot(*opening_.snapshot);
  bench_.cache_key = agent::CacheKeyOf(*opening_.snapshot);
}

protocol::LiveState Lane::State() const {
  protocol::LiveState state;
  const log::SessionState& folded = setup_.log->index().state();
  state.session_id = setup_.log->header().session_id;
  state.asks = asks_.permissions();
  state.questions = asks_.questions();
  const bool waiting = !state.asks.empty() || !state.questions.empty();
  state.state = waiting ? "waiting" : working() ? "running" : "idle";
  if (turn_) state.turn_id = turn_->id();
  state.project = bench_.workspace.project;
  state.cwd = bench_.workspace.cwd;
  state.model = bench_.model->model().FullName();
  state.effort = bench_.settings->effort.value_or("");
  state.mode = policy::ModeName(bench_.settings->rules.mode);
  for (const std::string_view name : tools_.toolset().names()) state.tools.emplace_back(name);
  state.context_window = bench_.model->model().context_window;
  state.leaf_id = setup_.log->leaf_id();
  state.interrupted =
      !working() && !opening_.last_end.empty() && opening_.last_end != agent::ended::kCompleted;
  state.follow_ups = folded.follow_ups;
  state.steers = folded.steers;
  state.notes = notes_;
  if (extensions_) {
    for (const hook::ExtensionCommand& command : extensions_->commands())
      state.commands.push_back(command.name);
  }
  return state;
}

Result<protocol::Accepted> Lane::Send(const protocol::Send& send, const std::string& client_id) {
  if (send.client_message_id &&
      setup_.log->index().FindKey(log::Key::kClientMessage, *send.client_message_id)) {
    // The client lost our reply and sent it again.
    protocol::Accepted known;
    known.what = "known";
    return known;
  }
  if (broken_) {
    // The log could not be written when the last turn ended: its open calls get their results
    // first.
    const std::optional<protocol::InstructionSnapshot> snapshot = opening_.snapshot;
    ASSIGN_OR_RETURN(opening_, agent::ReadOpening(*setup_.log));
    if (!opening_.snapshot) opening_.snapshot = snapshot;
    RETURN_IF_ERROR(Settle(false));
    RecordEnds();
  }
  if (send.how == "continue") return Continue();
  if (send.how == "next") return Next();
  if (send.how == "compact") return Compact(send.text);
  if (!SaysSomething(send)) return Fail(Code::kInvalid, "there is nothing to send");
  if (working() && !asks_.permissions().empty() && waits_) {
    // What the turn before asked is still open: a new message is not taken for its answer.
    return Fail(Code::kBusy,
                "a question of the turn before waits for its answer: answer it, or "
                "cancel it first");
  }
  return working() ? Enqueue(send, client_id) : Start(send, client_id);
}

Result<protocol::Blocks> Lane::ContentOf(const protocol::Send& send) {
  protocol::Blocks content;
  protocol::TextBlock text;
  text.text = send.text;
  content.emplace_back(std::move(text));
  for (const protocol::ImageFile& file : send.images) {
    const std::optional<std::string> bytes = DecodeBase64(file.data);
    if (!bytes) return Fail(Code::kInvalid, "the data of an image is not base64");
    const std::string_view type = tool::ImageType(*bytes);
    if (type.empty()) return Fail(Code::kInvalid, "an image is not a PNG, JPEG, GIF or WebP file");
    if (bytes->size() > tool::kMaxImageBytes)
      return Fail(Code::kInvalid, fmt::format("an image has {} bytes, {} is the most",
                                              bytes->size(), tool::kMaxImageBytes));
    protocol::ImageBlock image;
    image.media_type = type;
    ASSIGN_OR_RETURN(image.blob, setup_.log->blobs().Put(*bytes));
    content.emplace_back(std::move(image));
  }
  ASSIGN_OR_RETURN(protocol::Blocks mentioned, agent::MentionedImages(bench_, send.text));
  for (protocol::Block& block : mentioned) content.push_back(std::move(block));
  return content;
}

void Lane::NewTurn(const std::string& turn_id) {
  cancel_ = CancelSource();
  turn_ = std::make_unique<agent::Turn>(bench_, cancel_.token(), turn_id);
  turn_began_ = SystemClock().Steady();
  rested_.emplace(setup_.loop);
  if (bench_.output) bench_.output->value.reset();
}

Status Lane::AppendMessage(protocol::UserMessage message, const std::string& client_id) {
  RETURN_IF_ERROR(EnsureSnapshot());
  const Millis now = SystemClock().Now();
  const Millis before = opening_.last_turn_at;
  if (before != 0 && LocalDate(before) != LocalDate(now)) {
    agent::NewItem item{.kind = agent::item::kDateChange, .content = ""};
    item.content = fmt::format("It is {} now.", LocalDate(now));
    RETURN_IF_ERROR(agent::AppendItem(*setup_.log, std::move(item), turn_->stamp()));
  }
  RETURN_IF_ERROR(TellOfPins());
  opening_.last_turn_at = now;
  protocol::Stamp stamp = turn_->stamp();
  stamp.client_id = client_id;
  return agent::AppendEvent(*setup_.log, std::move(message), stamp);
}

Result<protocol::Accepted> Lane::Start(const protocol::Send& send, const std::string& client_id) {
  protocol::UserMessage message;
  message.client_message_id = send.client_message_id;
  message.source = "user";
  ASSIGN_OR_RETURN(message.message.blocks, ContentOf(send));
  const bool first = setup_.log->index().state().user_messages == 0;
  NewTurn();
  // The message is in the log before the client hears that it was accepted.
  if (Status appended = AppendMessage(std::move(message), client_id); !appended) {
    turn_.reset();
    return std::unexpected(std::move(appended).error());
  }
  protocol::Accepted accepted;
  accepted.what = "started";
  accepted.turn_id = turn_->id();
  setup_.loop.Spawn(Work(send.text, false));
  if (first) setup_.loop.Spawn(MakeTitle(send.text));
  return accepted;
}

Result<protocol::Accepted> Lane::Enqueue(const protocol::Send& send, const std::string& client_id) {
  const bool steer = send.how == "steer";
  const log::SessionState& state = setup_.log->index().state();
  protocol::QueueUpdate update;
  update.queue = steer ? "steer" : "follow_up";
  update.items = steer ? state.steers : state.follow_ups;
  protocol::QueueItem& item = update.items.emplace_back();
  item.item_id = protocol::NewQueueItemId(ProcessRandom());
  item.client_message_id = send.client_message_id;
  item.client_id = client_id;
  ASSIGN_OR_RETURN(item.content, ContentOf(send));
  protocol::Accepted accepted;
  accepted.what = steer ? "steered" : "queued";
  accepted.item_id = item.item_id;
  RETURN_IF_ERROR(agent::AppendEvent(*setup_.log, std::move(update), {}));
  return accepted;
}

/// Goes on: with the turn that did not come to its end, else with what is queued.
Result<protocol::Accepted> Lane::Continue() {
  if (working()) return Fail(Code::kBusy, "a turn is under way");
  const bool unfinished =
      !opening_.last_end.empty() && opening_.last_end != agent::ended::kCompleted;
  const log::SessionState& state = setup_.log->index().state();
  protocol::Accepted accepted;
  accepted.what = "started";
  if (unfinished || !state.steers.empty()) {
    NewTurn();
    const log::Ordinal leaf = setup_.log->index().leaf();
    const bool unanswered = leaf != log::kNone && setup_.log->index().entries()[leaf].type ==
                                                      protocol::kTypeNumber<protocol::UserMessage>;
    if (!unanswered) {
      agent::NewItem item{.kind = agent::item::kRuntimeNotice, .content = ""};
      item.content = "The turn before was interrupted. Go on with what the user asked for.";
      RETURN_IF_ERROR(agent::AppendItem(*setup_.log, std::move(item), turn_->stamp()));
    }
  } else if (!state.follow_ups.empty()) {
    return Next();
  } else {
    return Fail(Code::kNotFound, "there is nothing to go on with: the last turn came to its end");
  }
  accepted.turn_id = turn_->id();
  setup_.loop.Spawn(Work("", false));
  return accepted;
}

Result<protocol::Accepted> Lane::Compact(const std::string& focus) {
  RETURN_IF_ERROR(AtRest());
  RETURN_IF_ERROR(EnsureSnapshot());
  RETURN_IF_ERROR(agent::KeepToolset(bench_, {}));
  NewTurn();
  protocol::Accepted accepted;
  accepted.what = "started";
  accepted.turn_id = turn_->id();
  setup_.loop.Spawn(WorkCompaction(focus));
  return accepted;
}

Result<protocol::Accepted> Lane::Next() {
  if (working()) return Fail(Code::kBusy, "a turn is under way");
  std::string text;
  const Result<bool> taken = TakeFollowUp(text);
  if (!taken || !*taken) {
    turn_.reset();
    if (!taken) return std::unexpected(taken.error());
    return Fail(Code::kNotFound, "there is nothing to go on with");
  }
  protocol::Accepted accepted;
  accepted.what = "started";
  accepted.turn_id = turn_->id();
  setup_.loop.Spawn(Work(text, false));
  return accepted;
}

/// Makes the first follow-up the next turn's message.
Result<bool> Lane::TakeFollowUp(std::string& text) {
  const log::SessionState& state = setup_.log->index().state();
  if (state.follow_ups.empty()) return false;
  const protocol::QueueItem item = state.follow_ups.front();
  protocol::UserMessage message;
  message.queue_item_id = item.item_id;
  message.source = "follow_up";
  message.message.blocks = item.content;
  text = protocol::PlainText(item.content);
  NewTurn();
  RETURN_IF_ERROR(AppendMessage(std::move(message), item.client_id));
  return true;
}

void Lane::Cancel() {
  if (working()) cancel_.Cancel();
}

Status Lane::Answer(const protocol::PermissionAnswer& answer, const std::string& client_id) {
  return asks_.Answer(answer, client_id);
}
Status Lane::Answer(const protocol::QuestionAnswer& answer, const std::string& client_id) {
  return asks_.Answer(answer, client_id);
}

}  // namespace stet::host
