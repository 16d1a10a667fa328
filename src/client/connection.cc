#include "client/connection.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "base/version.h"
#include "protocol/ids.h"
#include "protocol/params.h"

namespace stet::client {
namespace {

using protocol::FromHost;

/// With room for the rest of the request.
constexpr std::size_t kMaxParams = rpc::kMaxFrame - 4096;

/// Trying again would change nothing.
bool IsFinal(Code code) {
  return code == Code::kAuth || code == Code::kDenied || code == Code::kTooNew;
}

Error ErrorOf(const protocol::WireError& wire) {
  Error error = protocol::FromWire(wire);
  if (!wire.pid) return error;
  const std::string pid = fmt::format("{}", *wire.pid);
  if (!error.message.contains(pid)) error.message += fmt::format(" (process {})", pid);
  return error;
}

}  // namespace

void Follower::OnAsked(const std::string& method, const Raw&, const Services::Done& done) {
  done(Fail(Code::kUnsupported, fmt::format("{} was not offered", method)));
}

std::chrono::milliseconds Backoff::After(int failed, Random& random) const {
  std::chrono::milliseconds whole = std::min(first, most);
  for (int i = 1; i < failed && whole < most; ++i) whole = std::min(whole * 2, most);
  const std::chrono::milliseconds half = whole / 2;
  const auto chance = static_cast<std::uint64_t>((whole - half).count()) + 1;
  return half + std::chrono::milliseconds(random.Below(chance));
}

Connection::Connection(Loop& loop, Random& random, ConnectionOptions options)
    : loop_(loop),
      random_(random),
      options_(std::move(options)),
      trouble_(Code::kUnavailable, "the host has not answered yet"),
      client_id_(protocol::NewClientId(random, options_.name)),
      timer_(loop),
      check_(loop) {
  Dial();
}

Connection::~Connection() {
  alive_.reset();
  cancel_.Cancel();
  for (auto& [number, waiting] : std::exchange(waiting_, {}))
    waiting.done(Fail(Code::kCancelled, "the connection was closed"));
}

void Connection::Enter(LinkState state, const std::string& why) {
  if (state_ == state && state != LinkState::kConnected && why_ == why) return;
  state_ = state;
  why_ = why;
  if (options_.on_state) options_.on_state(state, why);
}

void Connection::Dial() {
  const auto whole = [](Connection* self, std::weak_ptr<bool> alive, Dialer dial,
                        Attempt attempt) -> Async<void> {
    Result<std::unique_ptr<rpc::Channel>> dialled = co_await dial(std::move(attempt));
    if (!alive.expired()) self->Dialled(std::move(dialled));
  };
  const auto tell = [this, alive = std::weak_ptr<bool>(alive_)](const std::string& what) {
    if (!alive.expired() && state_ == LinkState::kReconnecting) Enter(state_, what);
  };
  loop_.Spawn(
      whole(this, alive_, options_.dial,
            {.loop = loop_, .cancel = cancel_.token(), .wanted = !waiting_.empty(), .tell = tell}));
}

void Connection::Dialled(Result<std::unique_ptr<rpc::Channel>> dialled) {
  if (!dialled) return IsFinal(dialled.error().code) ? End(dialled.error()) : Lost(dialled.error());
  channel_ = *std::move(dialled);
  const std::uint64_t line = ++line_;
  const std::weak_ptr<bool> alive = alive_;
  channel_->Start({.frame =
                       [this, alive, line](std::string_view frame) {
                         if (!alive.expired() && line == line_ && channel_) Hear(frame);
                       },
                   .drained = [] {},
                   .closed =
                       [this, alive, line](const Error& why) {
                         if (!alive.expired() && line == line_ && channel_) Lost(why);
                       }});
  SayHello();
}

void Connection::SayHello() {
  protocol::Hello hello;
  hello.version = protocol::kWireVersion;
  if (!options_.token.empty()) hello.token = options_.token;
  hello.client_id = client_id_;
  hello.name = options_.name;
  hello.program = ProgramVersion();
  channel_->Send(Encode(hello));
  timer_.Start(options_.hello_time,
               [this] { Lost(Error(Code::kTimeout, "the host did not say welcome")); });
}

/// It may be in the middle of calling us, so it is destroyed later.
void Connection::DropChannel() {
  check_.Cancel();
  checking_ = false;
  EndSilence();
  if (!channel_) return;
  loop_.Post([dead = std::shared_ptr<rpc::Channel>(std::move(channel_))] {});
}

void Connection::Lost(const Error& why) {
  DropChannel();
  trouble_ = Error(Code::kUnavailable, fmt::format("the host cannot be reached: {}", why.Text()));
  std::vector<std::uint64_t> broken;
  for (auto& [number, waiting] : waiting_) {
    if (waiting.sent && !waiting.request.repeatable) broken.push_back(number);
    waiting.sent = false;
  }
  timer_.Start(options_.backoff.After(++failed_, random_), [this] { Dial(); });
  if (state_ != LinkState::kConnecting) Enter(LinkState::kReconnecting, why.Text());
  for (const std::uint64_t number : broken) {
    Answer(number, Fail(Code::kUnavailable,
                        fmt::format("the connection was lost before the host answered: it may or "
                                    "may not have been done ({})",
                                    why.Text())));
  }
}

void Connection::End(const Error& why) {
  DropChannel();
  timer_.Cancel();
  trouble_ = why;
  Enter(LinkState::kGone, why.Text());
  while (!waiting_.empty()) Answer(waiting_.begin()->first, std::unexpected(why));
  ForEachFollower([&](Follower& follower) { follower.OnGone(why); });
}

bool Connection::expects_more() const {
  if (state_ != LinkState::kConnected || !channel_) return false;
  return std::ranges::any_of(waiting_, [](const auto& one) { return one.second.sent; }) ||
         std::ranges::any_of(followers_,
                             [](const auto& one) { return one.second->expects_news(); });
}

void Connection::WatchSilence() {
  if (checking_ || !expects_more()) return;
  heard_ = SystemClock().Steady();
  checking_ = true;
  check_.Start(options_.check_every, [this] { CheckSilence(); });
}

/// What is owed comes with the next frame, whatever that is.
void Connection::CheckSilence() {
  checking_ = expects_more();
  if (!checking_) return EndSilence();
  const auto quiet = std::chrono::floor<std::chrono::milliseconds>(SystemClock().Steady() - heard_);
  if (quiet >= options_.check_every) {
    if (!std::exchange(pinged_, true)) {
      channel_->Send(Encode(protocol::Ping()));
    } else if (!std::exchange(silent_, true)) {
      if (options_.on_silence) options_.on_silence(heard_);
    }
  }
  if (!channel_) return;  // The line broke under the ping.
  // From the last word on, so that silence is told after two of these.
  const auto left =
      quiet < options_.check_every ? options_.check_every - quiet : options_.check_every;
  check_.Start(left, [this] { CheckSilence(); });
}

void Connection::EndSilence() {
  pinged_ = false;
  if (!std::exchange(silent_, false)) return;
  if (options_.on_silence) options_.on_silence(std::nullopt);
}

void Connection::Hear(std::string_view frame) {
  heard_ = SystemClock().Steady();
  EndSilence();
  if (!IsValidUtf8(frame)) return Lost(Error(Code::kInvalid, "the host sent no text"));
  const std::uint64_t line = line_;
  while (!frame.empty() && channel_ && line == line_) {
    const std::size_t end = std::min(frame.find('\n'), frame.size());
    Take(frame.substr(0, end));
    frame.remove_prefix(std::min(end + 1, frame.size()));
  }
  WatchSilence();
}

void Connection::Take(std::string_view message) {
  const FromHost read = protocol::ReadFromHost(message);
  if (const auto* welcome = std::get_if<protocol::Welcome>(&read)) return Take(*welcome);
  if (const auto* bye = std::get_if<protocol::Bye>(&read)) return Take(*bye);
  if (state_ != LinkState::kConnected) return;
  if (const auto* reply = std::get_if<protocol::WireReply>(&read)) return Take(*reply);
  if (const auto* request = std::get_if<protocol::WireRequest>(&read)) return Take(*request);
  if (const auto* event = std::get_if<protocol::EventPush>(&read)) Push(event->session_id, read);
  if (const auto* news = std::get_if<protocol::TransientPush>(&read)) Push(news->session_id, read);
  if (const auto* live = std::get_if<protocol::LivePush>(&read)) Push(live->session_id, read);
}

void Connection::Take(const protocol::Welcome& welcome) {
  if (state_ == LinkState::kConnected) return;
  if (welcome.version != protocol::kWireVersion) {
    return End(Error(Code::kTooNew,
                     fmt::format("the host speaks version {} of the wire, this program version {}: "
                                 "use the same program for both",
                                 welcome.version, protocol::kWireVersion)));
  }
  timer_.Cancel();
  welcome_ = welcome;
  const std::uint64_t line = line_;
  Enter(LinkState::kConnected, "");
  // Before what waits: what that brings about is then heard before its answer.
  ForEachFollower([](Follower& follower) { follower.OnConnected(); });
  if (line != line_ || !channel_) return;
  for (auto& [number, waiting] : waiting_) {
    if (!waiting.sent) Transmit(number, waiting);
  }
}

void Connection::Take(const protocol::Bye& bye) {
  const Error error = ErrorOf(bye.error);
  if (IsFinal(error.code)) return End(error);
  Lost(error);
}

void Connection::Take(const protocol::WireReply& reply) {
  failed_ = 0;
  std::uint64_t number = 0;
  const char* end = reply.request_id.data() + reply.request_id.size();
  const auto [stopped, problem] = std::from_chars(reply.request_id.data(), end, number);
  if (problem != std::errc() || stopped != end) return;
  const auto found = waiting_.find(number);
  if (found == waiting_.end() || !found->second.sent) return;
  if (reply.error) return Answer(number, std::unexpected(ErrorOf(*reply.error)));
  Answer(number, reply.result.value_or(Raw{"{}"}));
}

/// The answer goes out on the line that the request came on, or not at all.
void Connection::Take(const protocol::WireRequest& request) {
  const Raw params = request.params.value_or(Raw{"{}"});
  const protocol::SessionRef ref =
      Decode<protocol::SessionRef>(params.text).value_or(protocol::SessionRef());
  const auto answer = [this, alive = std::weak_ptr<bool>(alive_), line = line_, &loop = loop_,
                       id = request.request_id](const Result<Raw>& said) {
    loop.Post([this, alive, line, id, said] {
      if (!alive.expired() && line == line_ && channel_) Reply(id, said);
    });
  };
  const auto follower = followers_.find(ref.session_id);
  if (follower == followers_.end())
    return answer(Fail(Code::kNotFound, "the session is not followed here"));
  follower->second->OnAsked(request.method, params, answer);
}

void Connection::Reply(const std::string& request_id, const Result<Raw>& answer) {
  protocol::WireReply reply;
  reply.request_id = request_id;
  if (answer)
    reply.result = *answer;
  else
    reply.error = protocol::ToWire(answer.error());
  std::string text = Encode(reply);
  if (text.size() > rpc::kMaxFrame) {
    reply.result.reset();
    reply.error = protocol::ToWire({Code::kFull, "the answer is larger than a frame"});
    text = Encode(reply);
  }
  channel_->Send(std::move(text));
}

void Connection::Push(const std::string& session_id, const FromHost& push) {
  failed_ = 0;
  const auto follower = followers_.find(session_id);
  if (follower != followers_.end()) follower->second->OnPush(push);
}

void Connection::Ask(Request request, Done done) {
  const auto refuse = [&](Error error) {
    loop_.Post(
        [done = std::move(done), error = std::move(error)] { done(std::unexpected(error)); });
  };
  if (state_ == LinkState::kGone) return refuse(trouble_);
  if (request.params.size() > kMaxParams)
    return refuse(
        Error(Code::kFull, fmt::format("that has {} bytes, and a host takes at most 10 MB "
                                       "at once: write it to a file and name the file",
                                       request.params.size())));
  if (waiting_.size() >= kMaxWaiting)
    return refuse(Error(Code::kFull, "too much was asked of the host at once: try again"));
  const std::uint64_t number = ++last_number_;
  Waiting& waiting = waiting_[number];
  waiting.request = std::move(request);
  waiting.done = std::move(done);
  waiting.deadline = std::make_unique<Timer>(loop_);
  waiting.deadline->Start(waiting.request.within, [this, number] { OutOfTime(number); });
  if (state_ != LinkState::kConnected) return;
  Transmit(number, waiting);
  WatchSilence();
}

void Connection::Transmit(std::uint64_t number, Waiting& waiting) {
  protocol::WireRequest request;
  request.request_id = fmt::format("{}", number);
  request.method = waiting.request.method;
  request.params = Raw{waiting.request.params};
  waiting.sent = true;
  channel_->Send(Encode(request));
}

void Connection::OutOfTime(std::uint64_t number) {
  const auto found = waiting_.find(number);
  if (found == waiting_.end()) return;
  if (state_ != LinkState::kConnected) return Answer(number, std::unexpected(trouble_));
  Answer(number,
         Fail(Code::kTimeout,
              fmt::format("the host did not answer {} within {} ms: try again; `stet host "
                          "status` says how the host is",
                          found->second.request.method, found->second.request.within.count())));
}

void Connection::Answer(std::uint64_t number, Result<Raw> answer) {
  const auto found = waiting_.find(number);
  if (found == waiting_.end()) return;
  const Waiting waiting = std::move(found->second);
  waiting_.erase(found);
  waiting.done(std::move(answer));
}

Status Connection::Follow(const std::string& session_id, Follower& follower) {
  if (!followers_.try_emplace(session_id, &follower).second)
    return Fail(Code::kConflict, fmt::format("{} is followed here already", session_id));
  return {};
}

void Connection::Unfollow(const std::string& session_id, const Follower& follower) {
  const auto found = followers_.find(session_id);
  if (found != followers_.end() && found->second == &follower) followers_.erase(found);
}

/// They may leave meanwhile.
void Connection::ForEachFollower(const std::function<void(Follower&)>& call) {
  std::vector<std::string> sessions;
  for (const auto& [session_id, follower] : followers_) sessions.push_back(session_id);
  for (const std::string& session_id : sessions) {
    const auto follower = followers_.find(session_id);
    if (follower != followers_.end()) call(*follower->second);
  }
}

}  // namespace stet::client
