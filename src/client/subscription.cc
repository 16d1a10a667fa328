#include "client/subscription.h"

#include <utility>

#include "client/call.h"
#include "protocol/methods.h"

namespace stet::client {
namespace {

namespace method = protocol::method;

/// A host that did not answer is asked again after this.
constexpr std::chrono::seconds kRetry{1};

}  // namespace

Subscription::Subscription(Loop& loop, Connection& connection, std::string session_id,
                           StreamOptions options, std::optional<protocol::Attach> reopen,
                           std::shared_ptr<Services> services)
    : connection_(connection),
      session_id_(std::move(session_id)),
      stream_(std::move(options)),
      reopen_(std::move(reopen)),
      services_(std::move(services)),
      deadline_(loop),
      retry_(loop) {}

Subscription::~Subscription() { connection_.Unfollow(session_id_, *this); }

void Subscription::Start(std::chrono::milliseconds within, Ready ready) {
  ready_ = std::move(ready);
  if (Status followed = connection_.Follow(session_id_, *this); !followed)
    return Finish(std::move(followed));
  if (connection_.state() == LinkState::kGone) return OnGone(connection_.trouble());
  deadline_.Start(within, [this] {
    Finish(connection_.state() == LinkState::kConnected
               ? Fail(Code::kTimeout, "the host did not answer in time")
               : std::unexpected(connection_.trouble()));
  });
  if (connection_.state() == LinkState::kConnected) OnConnected();
}

void Subscription::Finish(Status status) {
  deadline_.Cancel();
  if (const Ready ready = std::exchange(ready_, nullptr)) ready(std::move(status));
}

/// A host that was started anew does not know how the session was opened; one that lost the line
/// counts the client's options no longer.
void Subscription::Reopen() {
  const bool again = std::exchange(begun_, true);
  if (!reopen_ || !again) return;
  // What comes of it is heard as events; when it fails, so does what is asked next.
  Call<method::SessionsOpen>(
      connection_, *reopen_, {},
      [this, alive = std::weak_ptr<bool>(alive_)](const Result<protocol::LiveState>& opened) {
        if (!alive.expired() && !opened && opened.error().code == Code::kConflict) Join();
      });
}

/// Another client was faster, and the session is open as that one has it: what loosened it for this
/// client counts no longer, what forbade still does.
void Subscription::Join() {
  protocol::Attach joined;
  joined.session_id = reopen_->session_id;
  joined.cwd = reopen_->cwd;
  joined.disallowed = reopen_->disallowed;
  joined.answers = reopen_->answers;
  joined.environment = reopen_->environment;
  Call<method::SessionsOpen>(connection_, joined, {}, [](const Result<protocol::LiveState>&) {});
}

/// An offer holds as long as the line does. A host that takes none works with the disk alone.
void Subscription::OfferServices() {
  if (!services_ || services_->offers().empty()) return;
  protocol::Offer offer;
  offer.session_id = session_id_;
  offer.offers = services_->offers();
  Call<method::SessionOffer>(connection_, offer, {}, [](const Result<protocol::Nothing>&) {});
}

void Subscription::OnAsked(const std::string& method, const Raw& params,
                           const Services::Done& done) {
  if (!services_) return Follower::OnAsked(method, params, done);
  services_->Ask(method, params, done);
}

void Subscription::OnConnected() {
  Reopen();
  OfferServices();
  protocol::Subscribe wanted = stream_.Next();
  wanted.session_id = session_id_;
  Call<method::SessionSubscribe>(connection_, wanted, {},
                                 [this, alive = std::weak_ptr<bool>(alive_),
                                  number = ++asked_](const Result<protocol::Subscribed>& told) {
                                   if (!alive.expired() && number == asked_) Subscribed(told);
                                 });
}

void Subscription::Subscribed(const Result<protocol::Subscribed>& told) {
  if (told) {
    stream_.Begin(*told);
    return Finish({});
  }
  const Code code = told.error().code;
  if (code == Code::kUnavailable) return;  // The line broke: OnConnected comes again.
  if (code == Code::kTimeout) {
    retry_.Start(kRetry, [this] {
      if (connection_.state() == LinkState::kConnected) OnConnected();
    });
    return;
  }
  OnGone(told.error());
}

void Subscription::OnGone(const Error& why) {
  stream_.EndTurns(stream_.open_turns());
  Finish(std::unexpected(why));
}

void Subscription::OnPush(const protocol::FromHost& push) {
  if (const auto* event = std::get_if<protocol::EventPush>(&push)) stream_.Take(*event);
  if (const auto* news = std::get_if<protocol::TransientPush>(&push)) stream_.Take(*news);
  const auto* live = std::get_if<protocol::LivePush>(&push);
  if (live == nullptr) return;
  stream_.Take(*live);
  CheckTurns();
}

/// What was missed may have been the end of a turn that leaves nothing in the log.
void Subscription::CheckTurns() {
  std::vector<std::string> open = stream_.open_turns();
  if (open.empty()) return;
  const auto heard = [this, alive = std::weak_ptr<bool>(alive_),
                      open = std::move(open)](const Result<protocol::LiveState>& state) mutable {
    if (alive.expired() || !state) return;
    std::erase(open, state->turn_id.value_or(""));
    for (const std::string& turn_id : open) AskEnd(turn_id);
  };
  protocol::SessionRef ref;
  ref.session_id = session_id_;
  Call<method::SessionState>(connection_, ref, {}, heard);
}

/// A host that does not know of its end is another process than the one in which the turn died.
void Subscription::AskEnd(const std::string& turn_id) {
  const auto heard = [this, alive = std::weak_ptr<bool>(alive_),
                      turn_id](const Result<protocol::TurnReport>& report) {
    if (alive.expired()) return;
    // The line broke: the next host is asked.
    if (!report && report.error().code == Code::kUnavailable) return;
    if (!report) return stream_.EndTurns({turn_id});
    protocol::RuntimeEnd end;
    end.turn_id = turn_id;
    end.reason = report->reason;
    end.error = report->error;
    stream_.EndTurn(end);
  };
  protocol::TurnRef ref;
  ref.session_id = session_id_;
  ref.turn_id = turn_id;
  Call<method::SessionReport>(connection_, ref, {}, heard);
}

}  // namespace stet::client
