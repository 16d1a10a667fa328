#include "host/admission.h"

#include <unistd.h>

#include "base/guard/descendants.h"
#include "base/random.h"
#include "host/access_tokens.h"
#include "host/host.h"
#include "protocol/ids.h"
#include "protocol/method.h"

namespace stet::host {

std::string IdentityOf(const Caller& caller, std::string_view wanted) {
  const std::string owner = caller.local ? "" : "@" + caller.name;
  if (wanted.ends_with(owner)) wanted.remove_suffix(owner.size());
  const std::string own = protocol::IsClientName(wanted)
                              ? std::string(wanted)
                              : protocol::NewClientId(ProcessRandom(), "client");
  return own + owner;
}

Result<Caller> Authenticate(const Host& host, const rpc::Peer& peer,
                            const std::optional<std::string>& token) {
  using namespace protocol::right;
  const protocol::Texts all = {std::string(kView), std::string(kSend), std::string(kApprove),
                               std::string(kAdmin)};
  Caller caller;
  caller.local = peer.local;
  if (peer.local) {
    if (peer.uid != static_cast<std::int64_t>(::geteuid()))
      return Fail(Code::kDenied, "the host is another user's");
    // What a model runs must not answer what is asked about it.
    if (guard::IsUnderGuard(static_cast<pid_t>(peer.pid)))
      return Fail(Code::kDenied, "a command that stet runs has no rights at its host");
    caller.rights = all;
    return caller;
  }
  if (!token || token->empty()) return Fail(Code::kAuth, "a token is needed");
  if (SameSecret(*token, host.options().token)) {
    caller.name = "host.json";
    caller.rights = all;
    return caller;
  }
  ASSIGN_OR_RETURN(const protocol::TokenRow row, Tokens(host.options().roots).Check(*token));
  caller.name = row.name;
  caller.rights = row.rights;
  return caller;
}

std::optional<std::string> TokenIn(const rpc::HttpRequest& request) {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view header = request.Header("authorization");
  if (!header.starts_with(kBearer)) return std::nullopt;
  return std::string(header.substr(kBearer.size()));
}

Admission::Admission(Host& host, rpc::Peer peer, std::optional<std::string> token)
    : host_(host), peer_(std::move(peer)), token_(std::move(token)), timer_(host.loop()) {}

void Admission::Watch(std::function<void(const Error&)> revoked) {
  if (peer_.local) return;
  revoked_ = std::move(revoked);
  timer_.Start(kRecheck, [this] {
    if (const Status admitted = Check(); !admitted)
      return std::exchange(revoked_, {})(admitted.error());
    Watch(std::move(revoked_));
  });
}

Status Admission::Check() const {
  const Result<Caller> caller = Authenticate(host_, peer_, token_);
  if (!caller) return std::unexpected(caller.error());
  return {};
}

}  // namespace stet::host
