#include "host/serve.h"

#include <charconv>

#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diagnostics.h"
#include "base/fs.h"
#include "base/interrupt.h"
#include "base/lock.h"
#include "base/version.h"
#include "config/settings.h"
#include "host/access_tokens.h"
#include "host/host.h"
#include "host/host_state.h"
#include "rpc/certificate.h"

namespace stet::host {
namespace {

bool IsLoopbackAddress(std::string_view address) {
  return address == "::1" || address.starts_with("127.");
}

/// "127.0.0.1:7777", "[::1]:0".
Status ReadAddress(std::string_view text, rpc::ListenOptions& listen) {
  const std::size_t colon = text.rfind(':');
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const char* const digits = colon == std::string_view::npos ? end : text.data() + colon + 1;
  const auto read = std::from_chars(digits, end, port);
  if (digits == end || read.ec != std::errc() || read.ptr != end)
    return Fail(Code::kInvalid, fmt::format("{} is no address: write 127.0.0.1:7777", text));
  std::string_view address = text.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']'))
    address = address.substr(1, address.size() - 2);
  listen.address = address;
  listen.port = port;
  return {};
}

/// Where it listens. Elsewhere than on loopback takes a flag, a token (there is always one) and
/// TLS.
Result<rpc::ListenOptions> ListenWhere(const config::Roots& roots,
                                       const protocol::HostLaunch& launch,
                                       const config::HostSettings& settings) {
  rpc::ListenOptions listen;
  ASSIGN_OR_RETURN(listen.unix_path, SocketPath(roots));
  const std::string address = launch.listen.value_or(settings.listen.value_or(""));
  if (!address.empty()) RETURN_IF_ERROR(ReadAddress(address, listen));
  const std::string certificate = launch.certificate.value_or(settings.certificate.value_or(""));
  const std::string key = launch.key.value_or(settings.key.value_or(""));
  if (certificate.empty() != key.empty())
    return Fail(Code::kInvalid, "a certificate and its key go together");
  if (!certificate.empty()) listen.tls = rpc::TlsFiles{certificate, key};
  if (listen.address.empty() || IsLoopbackAddress(listen.address)) return listen;
  if (!launch.exposed)
    return Fail(Code::kDenied, fmt::format("{} can be reached from other machines: that takes the "
                                           "flag --expose",
                                           listen.address));
  if (listen.tls) return listen;
  // One of its own, made once: clients know it by its fingerprint.
  listen.tls = rpc::TlsFiles{roots.host_certificate(), roots.host_key()};
  if (!Exists(listen.tls->certificate) || !Exists(listen.tls->key))
    RETURN_IF_ERROR(rpc::GenerateCertificate(
        *listen.tls, settings.names.value_or(std::vector<std::string>()), SystemClock().Now()));
  return listen;
}

/// The process's part of a host: its signals, its state on disk, its end.
class Service {
 public:
  Service(const config::Roots& roots, const protocol::HostLaunch& launch)
      : roots_(roots), launch_(launch) {}

  Status Run();

 private:
  Result<HostOptions> Options();
  Status Announce();
  void Stop();
  void Keep();

  const config::Roots& roots_;
  const protocol::HostLaunch& launch_;
  InterruptWatch interrupt_;
  Loop loop_;
  std::unique_ptr<Host> host_;
  protocol::HostState state_;
  bool stopping_ = false;
};

Result<HostOptions> Service::Options() {
  ASSIGN_OR_RETURN(const config::Settings settings, config::ReadSettings(roots_.settings()));
  ASSIGN_OR_RETURN(rpc::ListenOptions listen, ListenWhere(roots_, launch_, settings.host));
  // A damaged state is not worth failing for: it is written anew.
  const std::optional<protocol::HostState> before = ReadHostState(roots_).value_or(std::nullopt);
  HostOptions options{.roots = roots_,
                      .listen = std::move(listen),
                      .launched = launch_.launched,
                      .token = before ? before->token : NewToken(),
                      .origins = settings.host.origins.value_or(std::vector<std::string>()),
                      .names = settings.host.names.value_or(std::vector<std::string>()),
                      .stop = [this] { Stop(); },
                      .keep = [this] { Keep(); }};
  if (settings.host.sleep_after_ms)
    options.sleep_after = std::chrono::milliseconds(*settings.host.sleep_after_ms);
  return options;
}

Status Service::Announce() {
  const protocol::HostStatus now = host_->Describe();
  state_.pid = now.pid;
  state_.host_id = now.host_id;
  state_.program = now.program;
  state_.socket = now.socket;
  state_.address = now.address;
  state_.token = host_->options().token;
  state_.launched = launch_.launched;
  state_.started_at = SystemClock().Now();
  if (const std::optional<rpc::TlsFiles>& tls = host_->options().listen.tls) {
    ASSIGN_OR_RETURN(state_.fingerprint, rpc::CertificateFingerprint(tls->certificate));
  }
  RETURN_IF_ERROR(WriteHostState(roots_, state_));
  if (launch_.ready_fd < 0) return {};
  const Fd ready(static_cast<int>(launch_.ready_fd));
  // Ignoring the error on purpose: the client that waited may have gone.
  (void)WriteAll(ready.get(), "ready\n");
  return {};
}

void Service::Keep() {
  state_.launched = "user";
  // Ignoring the error on purpose: it is for people to read.
  (void)WriteHostState(roots_, state_);
}

void Service::Stop() {
  if (std::exchange(stopping_, true)) return;
  // Written at once: a client that comes now waits for the host's end instead of asking it.
  // Ignoring the error on purpose: it is written again at the end.
  state_.stopped_at = SystemClock().Now();
  (void)WriteHostState(roots_, state_);
  auto end = [](Service& service) -> Async<void> {
    co_await service.host_->Shutdown();
    service.loop_.Stop();
  };
  loop_.Spawn(end(*this));
}

Status Service::Run() {
  RETURN_IF_ERROR(MakeDirs(roots_.data));
  ASSIGN_OR_RETURN(const FileLock lock, FileLock::Acquire(roots_.host_lock()));
  RETURN_IF_ERROR(Diagnostics::Open(roots_.host_log(), Level::kInfo));
  ASSIGN_OR_RETURN(HostOptions options, Options());
  ASSIGN_OR_RETURN(host_, Host::Start(loop_, std::move(options)));
  RETURN_IF_ERROR(Announce());
  const CancelRegistration signals =
      interrupt_.token().OnCancel([this] { loop_.Post([this] { Stop(); }); });
  STET_LOG(kInfo, "host started pid={} program={} socket={} address={}", state_.pid, state_.program,
           state_.socket, state_.address);
  loop_.Run();
  STET_LOG(kInfo, "host stopped pid={}", state_.pid);
  loop_.Abandon();
  host_.reset();
  state_.stopped_at = SystemClock().Now();
  return WriteHostState(roots_, state_);
}

}  // namespace

Status ServeHost(const config::Roots& roots, const protocol::HostLaunch& launch) {
  return Service(roots, launch).Run();
}

}  // namespace stet::host
