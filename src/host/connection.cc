#include "host/connection.h"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diagnostics.h"
#include "base/random.h"
#include "base/utf8.h"
#include "base/version.h"
#include "host/dispatch.h"
#include "host/host.h"
#include "protocol/ids.h"
#include "protocol/method.h"

namespace stet::host {
namespace {

using protocol::WireRequest;

/// A frame is not let grow much beyond this.
constexpr std::size_t kFullFrame = std::size_t{1} << 20;
/// What an answer to a request with effects has at most: it is never left out.
constexpr std::size_t kSmallAnswer = std::size_t{16} << 10;
constexpr std::size_t kLargestAnswer = rpc::kMaxFrame - 4096;

Error Gone() { return {Code::kUnavailable, "the client has gone"}; }

Error Untaken() { return {Code::kBusy, "answers wait to be taken: read them, then ask again"}; }

/// What the client of a connection does for one session.
class OfferedServices final : public client::Services {
 public:
  OfferedServices(std::weak_ptr<Connection> connection, std::string session_id,
                  protocol::Texts offers)
      : connection_(std::move(connection)),
        session_id_(std::move(session_id)),
        offers_(std::move(offers)) {}

  [[nodiscard]] const protocol::Texts& offers() const override { return offers_; }
  void Ask(const std::string& method, const Raw& params, Done done) override {
    if (const std::shared_ptr<Connection> connection = connection_.lock())
      connection->Ask(session_id_, method, params, std::move(done));
    else
      done(std::unexpected(Gone()));
  }

 private:
  std::weak_ptr<Connection> connection_;
  std::string session_id_;
  protocol::Texts offers_;
};

}  // namespace

Connection::Connection(Host& host, std::unique_ptr<rpc::Channel> channel, rpc::Peer peer)
    : host_(host),
      channel_(std::move(channel)),
      peer_(std::move(peer)),
      flush_timer_(host.loop()),
      watch_(host.loop()) {}

Connection::~Connection() = default;

void Connection::Start() {
  channel_->BoundFrames(kMaxHello);
  channel_->Start({.frame = [this](std::string_view frame) { OnFrame(frame); },
                   .drained = [this] { OnDrained(); },
                   .closed = [this](const Error&) { End(); }});
  watch_.Start(kHelloTime,
               [this] { SendAway({Code::kTimeout, "the first message did not come in time"}); });
}

void Connection::End() {
  if (std::exchange(ended_, true)) return;
  LetGoOfAll();
  host_.Drop(*this);  // Destroys this, unless a request is being answered.
}

void Connection::SendAway(const Error& why) {
  if (ended_ || std::exchange(leaving_, true)) return;
  protocol::Bye bye;
  bye.error = protocol::ToWire(why);
  LetGoOfAll();
  Say(Encode(bye));
  Flush();
  channel_->Close(CodeName(why.code));
  watch_.Start(std::chrono::seconds(2), [this] { End(); });
}

void Connection::OnFrame(std::string_view frame) {
  ++host_.metrics().frames_in;
  if (leaving_) return;
  const std::shared_ptr<Connection> self = shared_from_this();
  if (!IsValidUtf8(frame)) return SendAway({Code::kInvalid, "a frame is not UTF-8"});
  while (!frame.empty() && !ended_ && !leaving_) {
    const std::size_t end = std::min(frame.find('\n'), frame.size());
    if (end > 0) OnMessage(frame.substr(0, end));
    frame.remove_prefix(std::min(end + 1, frame.size()));
  }
}

void Connection::OnMessage(std::string_view message) {
  protocol::FromClient read = protocol::ReadFromClient(message);
  if (const auto* hello = std::get_if<protocol::Hello>(&read)) return OnHello(*hello);
  if (!caller_) return SendAway({Code::kAuth, "the first message must be a hello"});
  if (auto* request = std::get_if<WireRequest>(&read)) return OnRequest(std::move(*request));
  if (const auto* reply = std::get_if<protocol::WireReply>(&read)) return OnReply(*reply);
  if (const auto* ping = std::get_if<protocol::Ping>(&read)) {
    protocol::Pong pong;
    pong.request_id = ping->request_id;
    return Say(Encode(pong));
  }
  SendAway({Code::kInvalid, "a message is neither a request nor a ping"});
}

void Connection::OnHello(const protocol::Hello& hello) {
  if (caller_) return SendAway({Code::kInvalid, "a second hello"});
  Result<Caller> caller = Authenticate(host_, peer_, hello.token);
  if (caller && hello.version != protocol::kWireVersion)
    caller = Fail(Code::kTooNew, fmt::format("this host speaks version {} of the wire, not {}",
                                             protocol::kWireVersion, hello.version));
  if (!caller) {
    ++host_.metrics().refused;
    return SendAway(caller.error());
  }
  caller_ = *std::move(caller);
  channel_->BoundFrames(rpc::kMaxFrame);
  channel_->Prove();
  admission_.emplace(host_, peer_, hello.token);
  admission_->Watch([this](const Error& why) { SendAway(why); });
  caller_->client_id = IdentityOf(*caller_, hello.client_id);
  if (caller_->name.empty()) caller_->name = hello.name.substr(0, 64);
  protocol::Welcome welcome;
  welcome.version = protocol::kWireVersion;
  welcome.program = ProgramVersion();
  welcome.device_id = host_.device_id();
  welcome.host_id = host_.host_id();
  welcome.client_id = caller_->client_id;
  welcome.rights = caller_->rights;
  Say(Encode(welcome));
  taken_at_ = SystemClock().Steady();
  watch_.Cancel();
}

void Connection::OnRequest(WireRequest request) {
  ++host_.metrics().requests;
  if (const Status admitted = admission_->Check(); !admitted) return SendAway(admitted.error());
  if (open_ >= kMaxOpen)
    return Reply(request.request_id,
                 Fail(Code::kBusy, "too many requests are being answered: wait for some"));
  if (waiting() >= 2 * kMaxUntaken)
    return SendAway({Code::kFull, "the client asks and takes none of the answers"});
  if (waiting() >= kMaxUntaken) return Reply(request.request_id, std::unexpected(Untaken()));
  ++open_;
  host_.loop().Spawn(Answer(shared_from_this(), std::move(request)));
}

Result<protocol::Subscribed> Connection::Subscribe(const protocol::Subscribe& wanted) {
  if (ended_ || leaving_) return std::unexpected(Gone());
  const std::string& id = wanted.session_id;
  HeardSession heard;
  ASSIGN_OR_RETURN(heard.session, host_.Find(id));
  heard.feed = std::make_unique<Feed>(*heard.session, *this);
  ASSIGN_OR_RETURN(protocol::Subscribed told, heard.feed->Begin(wanted));
  STET_LOG_IN(heard.session->diagnostics(), kInfo, "subscribed client={} mode={} epoch={} seq={}",
              caller_->client_id, told.mode, told.epoch, told.seq);
  feeds_.erase(id);
  feeds_.emplace(id, std::move(heard));
  return told;
}

std::optional<std::string> Connection::HearerOf(const std::string& session_id) const {
  return feeds_.contains(session_id) ? std::optional(caller_->client_id) : std::nullopt;
}

void Connection::Hold(const std::string& session_id) {
  if (!ended_ && !leaving_) held_.insert(session_id);
}

void Connection::Forget(const std::string& session_id) {
  feeds_.erase(session_id);
  DropOffer(session_id);
  if (held_.erase(session_id) > 0) host_.LetGo(session_id);
}

void Connection::LetGoOfAll() {
  feeds_.clear();
  while (!served_.empty()) DropOffer(std::string(served_.begin()->first));
  for (const std::string& id : std::exchange(held_, {})) host_.LetGo(id);
}

/// Only for a client on this machine: elsewhere a path would name another file.
Status Connection::Offer(const protocol::Offer& offer) {
  if (!peer_.local) return Fail(Code::kDenied, "only a client on the unix socket offers services");
  if (ended_ || leaving_) return std::unexpected(Gone());
  ServedSession served;
  ASSIGN_OR_RETURN(served.session, host_.Find(offer.session_id));
  DropOffer(offer.session_id);
  if (offer.offers.empty()) return {};
  served.services =
      std::make_shared<OfferedServices>(weak_from_this(), offer.session_id, offer.offers);
  served.session->UseServices(served.services);
  served_.emplace(offer.session_id, std::move(served));
  return {};
}

void Connection::DropOffer(const std::string& session_id) {
  const auto found = served_.find(session_id);
  if (found == served_.end()) return;
  const ServedSession served = std::move(found->second);
  served_.erase(found);
  served.session->DropServices(*served.services);
  for (auto asked = asked_.begin(); asked != asked_.end();) {
    if (asked->second.session_id != session_id) {
      ++asked;
      continue;
    }
    // The call that waits for the answer goes on later, from the loop, not inside `done`.
    asked->second.done(std::unexpected(Gone()));
    asked = asked_.erase(asked);
  }
}

void Connection::Ask(const std::string& session_id, const std::string& method, const Raw& params,
                     client::Services::Done done) {
  if (ended_ || leaving_) return done(std::unexpected(Gone()));
  if (asked_.size() >= kMaxAsked)
    return done(Fail(Code::kBusy, "the client does not answer what it is asked"));
  WireRequest request;
  request.request_id = fmt::format("h{}", ++last_asked_);
  request.method = method;
  request.params = params;
  asked_.emplace(request.request_id, Asked{.session_id = session_id, .done = std::move(done)});
  Say(Encode(request));
}

void Connection::OnReply(const protocol::WireReply& reply) {
  const auto found = asked_.find(reply.request_id);
  if (found == asked_.end()) return;
  const client::Services::Done done = std::move(found->second.done);
  asked_.erase(found);
  if (reply.error) return done(std::unexpected(protocol::FromWire(*reply.error)));
  done(reply.result.value_or(Raw{"{}"}));
}

Async<void> Connection::Answer(std::shared_ptr<Connection> self, WireRequest request) {
  Call call{.host = self->host_,
            .caller = *self->caller_,
            .line = *self,
            .params = request.params ? std::move(request.params->text) : "{}"};
  const Outcome outcome = co_await Dispatch(request.method, std::move(call));
  --self->open_;
  if (self->ended_) co_return;
  std::optional<std::int64_t> pid;
  if (!outcome.reply && outcome.reply.error().code == Code::kBusy && !outcome.session_id.empty())
    pid = self->host_.HeldBy(outcome.session_id);
  self->Reply(request.request_id, outcome.reply, pid);
  // What a subscription brings comes behind its answer, in the same turn of the loop.
  const auto heard = self->feeds_.find(outcome.session_id);
  if (heard != self->feeds_.end() && !std::exchange(heard->second.answered, true))
    heard->second.feed->Pump();
}

void Connection::Reply(const std::string& request_id, const Result<std::string>& result,
                       std::optional<std::int64_t> pid) {
  protocol::WireReply reply;
  reply.request_id = request_id;
  // Requests that were answered side by side: each was let in when little waited.
  const bool untaken = result && result->size() > kSmallAnswer && waiting() >= kMaxUntaken;
  if (!result)
    reply.error = protocol::ToWire(result.error());
  else if (untaken)
    reply.error = protocol::ToWire(Untaken());
  else if (result->size() < kLargestAnswer)
    reply.result = Raw{*result};
  else
    reply.error = protocol::ToWire(
        {Code::kFull, fmt::format("the answer has {} bytes, more than a frame carries (10 MB)",
                                  result->size())});
  if (reply.error) reply.error->pid = pid;
  if (!result) ++host_.metrics().failed_requests;
  Say(Encode(reply));
}

void Connection::Push(std::shared_ptr<const std::string> message) { Say(*message); }

std::size_t Connection::waiting() const { return out_.size() + channel_->queued(); }

/// The first message after a silence goes out at once, those behind it wait for each other.
void Connection::Say(std::string_view message) {
  if (ended_) return;
  (out_ += message) += '\n';
  if (out_.size() >= kFullFrame) return Flush();
  if (std::exchange(flush_waits_, true)) return;
  const auto since =
      std::chrono::duration_cast<std::chrono::milliseconds>(SystemClock().Steady() - flushed_);
  // Not inside this call: what belongs together is often said in one go.
  flush_timer_.Start(since >= kFlush ? std::chrono::milliseconds(0) : kFlush - since,
                     [this] { Flush(); });
}

void Connection::Flush() {
  flush_waits_ = false;
  flush_timer_.Cancel();
  if (out_.empty() || ended_) return;
  flushed_ = SystemClock().Steady();
  out_.pop_back();  // The last line feed.
  given_ += out_.size();
  host_.metrics().bytes_out += out_.size();
  ++host_.metrics().frames_out;
  channel_->Send(std::exchange(out_, {}));
  if (caller_) Watch();
}

void Connection::OnDrained() {
  taken_ = given_;
  taken_at_ = SystemClock().Steady();
  for (auto& [id, heard] : feeds_) heard.feed->Pump();
}

/// Looks from time to time whether the client takes anything at all.
void Connection::Watch() {
  if (std::exchange(watching_, true)) return;
  const std::chrono::milliseconds patience = host_.options().patience;
  watch_.Start(patience / 4, [this, patience] {
    watching_ = false;
    const std::uint64_t taken = given_ - channel_->queued();
    const auto now = SystemClock().Steady();
    if (taken > taken_ || channel_->queued() == 0) {
      taken_ = taken;
      taken_at_ = now;
    }
    if (channel_->queued() == 0) return;
    if (now - taken_at_ < patience) return Watch();
    ++host_.metrics().sent_away;
    STET_LOG(kInfo, "client {} takes nothing: it is sent away", caller_->client_id);
    SendAway({Code::kTimeout, "the client takes nothing of what it is sent"});
  });
}

}  // namespace stet::host
