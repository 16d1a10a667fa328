// FakeHost: the other end of the wire in memory, for tests of clients: one session, kept as a host
// keeps it, and lines that are cut, held up and half-closed at will.
//
// Lives on the client's loop. What goes either way waits until it is delivered; with `prompt` that
// is at once.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/loop.h"
#include "client/connection.h"
#include "protocol/event.h"
#include "protocol/live.h"
#include "protocol/transient.h"
#include "protocol/wire.h"

namespace stet::client {

/// One connection, between the channel that the client has and the host.
struct FakeLine {
  rpc::ChannelEvents client;
  std::deque<std::string> to_client;
  std::deque<std::string> to_host;
  bool started = false;
  bool open = true;   // Neither side has ended it.
  bool deaf = false;  // What the client sends is lost: half-closed.
  bool greeted = false;
  bool subscribed = false;
  bool lagging = false;      // The client takes too little: it is left out.
  std::uint64_t cursor = 0;  // The last event that was pushed.
};

class FakeHost {
 public:
  using Reply = Result<std::string>;
  /// Answers a method that the fake does not know; kUnsupported otherwise.
  using Other = std::function<Reply(const std::string& method, const std::string& params)>;

  struct Item {
    std::uint64_t from = 0;
    std::uint64_t seq = 0;
    std::string message;
  };
  struct Subscription {
    protocol::Subscribe asked;
    std::string mode;
  };

  bool prompt = true;
  bool hold_replies = false;  // They wait in `held`.
  bool unreachable = false;
  std::optional<protocol::WireError> refusal;  // Instead of a welcome.
  std::int64_t version = protocol::kWireVersion;
  std::string token;
  std::size_t keep = 64;  // Items that can be resumed from.
  Other other;

  // What was seen.
  std::vector<protocol::Hello> hellos;
  std::vector<Subscription> subscriptions;
  std::vector<protocol::WireRequest> requests;
  std::map<std::string, int> sends;  // By clientMessageId: how many messages it made.
  std::vector<std::string> held;
  std::size_t delivered = 0;  // To the client, ever.
  std::size_t pings = 0;

  // The session.
  std::string session_id = "s_1";
  std::int64_t epoch = 1;
  std::uint64_t next_seq = 1;
  std::vector<protocol::Event> log;
  protocol::PartialMessages partial;
  std::deque<Item> kept;
  std::uint64_t kept_from = 0;
  protocol::LiveState state;

  [[nodiscard]] Dialer MakeDialer() {
    return [this](const Attempt& attempt) { return Dial(attempt.loop); };
  }

  /// Has `work` done on the loop's thread, from another; only once a client has dialled.
  void Do(const std::function<void()>& work) {
    std::promise<void> done;
    loop_->Post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }

  /// The line that is there now; null when there is none.
  [[nodiscard]] FakeLine* line() { return line_ && line_->open ? line_.get() : nullptr; }

  /// Ends the line; what was under way is lost.
  void Cut(const char* why = "the line was cut") {
    if (!line()) return;
    const std::shared_ptr<FakeLine> dead = std::exchange(line_, nullptr);
    dead->open = false;
    loop_->Post([dead, why] {
      if (dead->client.closed) dead->client.closed(Error(Code::kUnavailable, why));
    });
  }

  /// Hands over the next message to the client, or to the host; false when there is none.
  bool ToClient() {
    if (!line() || !line_->started || line_->to_client.empty()) return false;
    const std::shared_ptr<FakeLine> at = line_;
    const std::string frame = std::move(at->to_client.front());
    at->to_client.pop_front();
    ++delivered;
    at->client.frame(frame);
    return true;
  }
  bool ToHost() {
    if (!line() || line_->to_host.empty()) return false;
    const std::shared_ptr<FakeLine> at = line_;
    const std::string frame = std::move(at->to_host.front());
    at->to_host.pop_front();
    Hear(*at, frame);
    return true;
  }

  /// Says it to the client as it stands.
  void Say(std::string message) {
    if (!line()) return;
    line_->to_client.push_back(std::move(message));
    if (prompt) loop_->Post([this] { ToClient(); });
  }
  /// Replies that were held, in any order.
  void Release(std::size_t index) {
    std::string reply = std::move(held.at(index));
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(index));
    Say(std::move(reply));
  }

  const protocol::Event& Append(protocol::Payload payload, std::string id = "",
                                std::optional<std::string> turn_id = {}) {
    protocol::Event event;
    event.seq = next_seq++;
    event.id = id.empty() ? fmt::format("e_{}_{}", epoch, event.seq) : std::move(id);
    if (protocol::PlaceOf(payload) == protocol::Place::kTree) {
      event.parent_id = leaf;
      leaf = event.id;
    }
    event.stamp.turn_id = std::move(turn_id);
    event.payload = std::move(payload);
    std::erase_if(partial, [&](const auto& message) { return message.event_id == event.id; });
    log.push_back(event);
    Broadcast({event.seq, event.seq, PushOf(event)}, true);
    return log.back();
  }

  void Publish(protocol::TransientPayload payload, std::uint64_t worth = 1) {
    protocol::Transient transient;
    const std::uint64_t from = next_seq;
    next_seq += worth;
    transient.seq = next_seq - 1;
    transient.client_id = "host";
    Note(payload);
    transient.transient = std::move(payload);
    protocol::TransientPush push;
    push.session_id = session_id;
    push.epoch = epoch;
    push.transient = Raw{protocol::EncodeTransient(transient)};
    if (from != transient.seq) push.from_seq = from;
    Broadcast({from, transient.seq, Encode(push)}, false);
  }

  /// The host's process ends and starts again; `lost` of the last events did not reach the disk.
  void Restart(std::size_t lost = 0) {
    Cut("the host stopped");
    log.resize(log.size() - std::min(lost, log.size()));
    partial.clear();
    kept.clear();
    next_seq = log.empty() ? 1 : log.back().seq + 1;
    leaf.reset();
    for (const protocol::Event& event : log) {
      if (protocol::PlaceOf(event.payload) == protocol::Place::kTree) leaf = event.id;
    }
    ++epoch;
    kept_from = next_seq - 1;
    protocol::Opened opened;
    opened.epoch = epoch;
    Append(std::move(opened));
  }

  /// Leaves the client out until CatchUp.
  void Lag() {
    if (line() && line_->subscribed) line_->lagging = true;
  }
  void CatchUp() {
    if (!line() || !line_->lagging) return;
    line_->lagging = false;
    PushAfter(line_->cursor);
    SayLive();
  }

  std::optional<std::string> leaf;

 private:
  class Channel final : public rpc::Channel {
   public:
    Channel(FakeHost& host, std::shared_ptr<FakeLine> line) : host_(host), line_(std::move(line)) {}
    ~Channel() override {
      line_->client = {};
      line_->open = false;
    }
    void Start(rpc::ChannelEvents events) override {
      line_->client = std::move(events);
      line_->started = true;
    }
    void Send(std::string frame) override {
      if (!line_->open || line_->deaf) return;
      line_->to_host.push_back(std::move(frame));
      if (host_.prompt) host_.loop_->Post([host = &host_] { host->ToHost(); });
    }
    void BoundFrames(std::size_t) override {}
    void Prove() override {}
    [[nodiscard]] std::size_t queued() const override { return 0; }
    void Close(std::string_view) override { line_->open = false; }

   private:
    FakeHost& host_;
    std::shared_ptr<FakeLine> line_;
  };

  Async<Result<std::unique_ptr<rpc::Channel>>> Dial(Loop& loop) {
    loop_ = &loop;
    if (unreachable) co_return Fail(Code::kUnavailable, "no host listens there");
    line_ = std::make_shared<FakeLine>();
    std::unique_ptr<rpc::Channel> channel = std::make_unique<Channel>(*this, line_);
    co_return channel;
  }

  void Hear(FakeLine& at, const std::string& frame) {
    const protocol::FromClient read = protocol::ReadFromClient(frame);
    if (const auto* hello = std::get_if<protocol::Hello>(&read)) return Greet(at, *hello);
    if (std::holds_alternative<protocol::Ping>(read)) {
      ++pings;
      return Say(Encode(protocol::Pong()));
    }
    const auto* request = std::get_if<protocol::WireRequest>(&read);
    if (request == nullptr || !at.greeted) return;
    requests.push_back(*request);
    const std::string params = request->params ? request->params->text : "{}";
    if (request->method == "session.subscribe") return Subscribe(at, request->request_id, params);
    if (request->method == "session.unsubscribe") at.subscribed = false;
    protocol::WireReply reply;
    reply.request_id = request->request_id;
    const Reply answer = AnswerTo(request->method, params);
    if (answer)
      reply.result = Raw{*answer};
    else
      reply.error = protocol::ToWire(answer.error());
    if (hold_replies)
      held.push_back(Encode(reply));
    else
      Say(Encode(reply));
  }

  void Greet(FakeLine& at, const protocol::Hello& hello) {
    hellos.push_back(hello);
    std::optional<protocol::WireError> refused = refusal;
    if (hello.token.value_or("") != token)
      refused = protocol::ToWire(Error(Code::kAuth, "the token is not known here"));
    if (refused) {
      protocol::Bye bye;
      bye.error = *refused;
      return Say(Encode(bye));
    }
    at.greeted = true;
    protocol::Welcome welcome;
    welcome.version = version;
    welcome.device_id = "d_1";
    welcome.host_id = fmt::format("h_{}", epoch);
    welcome.client_id = hello.client_id;
    Say(Encode(welcome));
  }

  Reply AnswerTo(const std::string& method, const std::string& params) {
    if (method == "session.send") return TakeSend(params);
    if (method == "session.state" || method == "sessions.open") {
      state.session_id = session_id;
      return Encode(state);
    }
    if (method == "host.status" || method == "session.unsubscribe") return "{}";
    if (other) return other(method, params);
    return Fail(Code::kUnsupported, "there is no method " + method);
  }

  Reply TakeSend(const std::string& params) {
    ASSIGN_OR_RETURN(const protocol::Send send, Decode<protocol::Send>(params));
    protocol::Accepted accepted;
    accepted.turn_id = "t_" + send.client_message_id.value_or("");
    accepted.what = "known";
    if (!sends.contains(send.client_message_id.value_or(""))) {
      accepted.what = "started";
      ++sends[send.client_message_id.value_or("")];
      protocol::UserMessage message;
      message.client_message_id = send.client_message_id;
      protocol::TextBlock text;
      text.text = send.text;
      message.message.blocks.emplace_back(std::move(text));
      Append(std::move(message));
    }
    return Encode(accepted);
  }

  void Subscribe(FakeLine& at, const std::string& request_id, const std::string& params) {
    const protocol::Subscribe asked =
        Decode<protocol::Subscribe>(params).value_or(protocol::Subscribe());
    protocol::Subscribed told;
    told.epoch = epoch;
    told.seq = next_seq - 1;
    told.mode = protocol::resync::kReload;
    std::uint64_t after = 0;
    if (!asked.anchor && asked.recent) {
      told.mode = protocol::resync::kRecent;
      told.events = Recent(static_cast<std::size_t>(*asked.recent));
      after = log.empty() ? 0 : log.back().seq;
    } else if (asked.anchor && Has(asked.anchor->persistent_seq, asked.anchor->persistent_id)) {
      const bool covered = asked.anchor->epoch == epoch && asked.anchor->seq >= kept_from &&
                           asked.anchor->seq < next_seq;
      told.mode = covered ? protocol::resync::kStream : protocol::resync::kPersistent;
      after = covered ? asked.anchor->seq : asked.anchor->persistent_seq;
    }
    subscriptions.push_back({asked, told.mode});
    at.subscribed = true;
    at.lagging = false;
    at.cursor = log.empty() ? 0 : log.back().seq;
    protocol::WireReply reply;
    reply.request_id = request_id;
    reply.result = Raw{Encode(told)};
    Say(Encode(reply));
    if (told.mode == protocol::resync::kStream) {
      for (const Item& item : kept) {
        if (item.seq > after) Say(item.message);
      }
      return;
    }
    PushAfter(after);
    SayLive();
  }

  protocol::Raws Recent(std::size_t count) const {
    protocol::Raws raws;
    for (auto event = log.rbegin(); event != log.rend() && raws.size() < count; ++event) {
      if (protocol::PlaceOf(event->payload) != protocol::Place::kTree) continue;
      Raw& raw = raws.emplace_back();
      raw.text.clear();
      protocol::EncodeEvent(*event, raw.text);
    }
    std::ranges::reverse(raws);
    return raws;
  }

  [[nodiscard]] bool Has(std::uint64_t seq, const std::string& id) const {
    return std::ranges::any_of(
        log, [&](const protocol::Event& event) { return event.seq == seq && event.id == id; });
  }

  std::string PushOf(const protocol::Event& event) const {
    protocol::EventPush push;
    push.session_id = session_id;
    push.epoch = epoch;
    push.event.text.clear();
    protocol::EncodeEvent(event, push.event.text);
    return Encode(push);
  }

  void PushAfter(std::uint64_t seq) {
    for (const protocol::Event& event : log) {
      if (event.seq <= seq) continue;
      line_->cursor = event.seq;
      Say(PushOf(event));
    }
  }

  void SayLive() {
    protocol::LivePush live;
    live.session_id = session_id;
    live.epoch = epoch;
    live.seq = next_seq - 1;
    live.partial = partial;
    Say(Encode(live));
  }

  void Broadcast(Item item, bool persistent) {
    if (line() && line_->subscribed && !line_->lagging) {
      if (persistent) line_->cursor = item.seq;
      Say(item.message);
    }
    kept.push_back(std::move(item));
    while (kept.size() > keep) {
      kept_from = kept.front().seq;
      kept.pop_front();
    }
  }

  void Note(const protocol::TransientPayload& payload) {
    if (const auto* start = std::get_if<protocol::MessageStart>(&payload)) {
      protocol::PartialMessage& message = partial.emplace_back();
      message.event_id = start->event_id;
      message.role = start->role;
    } else if (const auto* text = std::get_if<protocol::TextDelta>(&payload)) {
      NoteText(text->event_id, text->block_index, "text", text->delta);
    } else if (const auto* thought = std::get_if<protocol::ThinkingDelta>(&payload)) {
      NoteText(thought->event_id, thought->block_index, "thinking", thought->delta);
    } else if (const auto* gone = std::get_if<protocol::MessageCancelled>(&payload)) {
      std::erase_if(partial, [&](const auto& one) { return one.event_id == gone->event_id; });
    }
  }

  void NoteText(const std::string& event_id, std::int64_t index, std::string_view kind,
                const std::string& delta) {
    const auto message = std::ranges::find(partial, event_id, &protocol::PartialMessage::event_id);
    if (message == partial.end()) return;
    auto block = std::ranges::find(message->blocks, index, &protocol::PartialBlock::index);
    if (block == message->blocks.end()) {
      message->blocks.emplace_back();
      block = std::prev(message->blocks.end());
      block->index = index;
      block->kind = kind;
    }
    block->text += delta;
  }

  Loop* loop_ = nullptr;
  std::shared_ptr<FakeLine> line_;
};

/// Runs what was posted to the loop, and what that posts, a few times over.
inline void RunPosted(Loop& loop) {
  constexpr int kRounds = 12;
  for (int i = 0; i < kRounds; ++i) {
    loop.Post([&] { loop.Stop(); });
    loop.Run();
  }
}

/// The same, and timers that are due, without waiting for any.
inline void Settle(Loop& loop) {
  constexpr int kRounds = 3;
  for (int i = 0; i < kRounds; ++i) {
    RunPosted(loop);
    Timer timer(loop);
    timer.Start(std::chrono::milliseconds(0), [&] { loop.Stop(); });
    loop.Run();
  }
  RunPosted(loop);
}

}  // namespace stet::client
