// TLS over TCP. Nothing of the library runs before it is used.
#include <cstdlib>
#include <memory>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <openssl/ssl.h>

#include "base/hash.h"
#include "rpc/dialing.h"
#include "rpc/http_connection.h"

namespace stet::rpc {
namespace {

constexpr const char* kAuthorities = "/etc/ssl/certs";

class TlsStream : public asio::ssl::stream<Socket> {
 public:
  using asio::ssl::stream<Socket>::stream;
};

/// How the library ends a WebSocket, found by its name: the socket alone. The close frame has said
/// that nothing was cut off; saying it in TLS too could fail, and hide why it ends.
template <class Handler>
void async_teardown(beast::role_type role, TlsStream& stream, Handler&& handler) {
  websocket::async_teardown(role, stream.next_layer(), std::forward<Handler>(handler));
}

struct FreeContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using Context = std::unique_ptr<SSL_CTX, FreeContext>;

/// Without a passphrase: a host has no user at hand to type one.
int NoPassphrase(char*, int, int, void*) { return 0; }

Result<Context> MakeContext(const SSL_METHOD* method) {
  Context context(SSL_CTX_new(method));
  if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1)
    return Fail(Code::kUnsupported, "the TLS library cannot be used");
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_default_passwd_cb(context.get(), &NoPassphrase);
  return context;
}

/// Null when the library has no memory for it.
std::unique_ptr<TlsStream> MakeStream(Socket socket, SSL_CTX* context) {
  SSL* ssl = SSL_new(context);
  return ssl != nullptr ? std::make_unique<TlsStream>(std::move(socket), ssl) : nullptr;
}

std::string FingerprintOf(SSL* ssl) {
  X509* certificate = SSL_get1_peer_certificate(ssl);
  unsigned char* bytes = nullptr;
  const int size = certificate != nullptr ? i2d_X509(certificate, &bytes) : 0;
  std::string digest;
  if (size > 0)
    digest = Sha256Hex({reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)});
  OPENSSL_free(bytes);
  X509_free(certificate);
  return digest;
}

/// As people copy it: capitals and colons do not matter.
std::string Normal(std::string_view fingerprint) {
  std::string out;
  for (const char c : fingerprint)
    if (c != ':') out += c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c;
  return out;
}

}  // namespace

class TlsServer {
 public:
  explicit TlsServer(Context context) : context_(std::move(context)) {}
  SSL_CTX* context() { return context_.get(); }

 private:
  Context context_;
};

Result<std::shared_ptr<TlsServer>> MakeTlsServer(const TlsFiles& files) {
  ASSIGN_OR_RETURN(Context context, MakeContext(TLS_server_method()));
  if (SSL_CTX_use_certificate_chain_file(context.get(), files.certificate.c_str()) != 1)
    return Fail(Code::kInvalid, files.certificate + " holds no certificate in PEM form");
  if (SSL_CTX_use_PrivateKey_file(context.get(), files.key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1)
    return Fail(Code::kInvalid,
                files.key + " is not the key, without a passphrase, of " + files.certificate);
  return std::make_shared<TlsServer>(std::move(context));
}

void ServeTls(const std::shared_ptr<Serving>& serving, const std::shared_ptr<TlsServer>& tls, Fd fd,
              Peer peer) {
  std::optional<Socket> socket = Adopt(serving->loop, std::move(fd), peer);
  if (!socket) return;
  auto stream = MakeStream(*std::move(socket), tls->context());
  if (!stream) return;
  const auto connection =
      std::make_shared<HttpConnection<TlsStream>>(serving, std::move(*stream), std::move(peer));
  connection->Within(serving->limits.head);
  connection->stream().async_handshake(TlsStream::server, [connection](const error_code& error) {
    if (!error) connection->ReadHead();
  });
}

namespace {

class TlsDialing final : public Dialing<TlsStream> {
 public:
  TlsDialing(Loop& loop, const Endpoint& endpoint, const Limits& limits, Dialed done)
      : Dialing(loop, endpoint, limits, std::move(done)) {}

  Status Prepare() {
    ASSIGN_OR_RETURN(context_, MakeContext(TLS_client_method()));
    if (!endpoint().fingerprint.empty()) return {};
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    if (SSL_CTX_set_default_verify_paths(context_.get()) != 1)
      return Fail(Code::kUnsupported, "the system's certificates cannot be read");
    // The library's own default is a folder of the machine that built it.
    if (std::getenv("SSL_CERT_FILE") == nullptr && std::getenv("SSL_CERT_DIR") == nullptr)
      SSL_CTX_load_verify_dir(context_.get(), kAuthorities);
    return {};
  }

  void Secure(Socket socket) {
    stream_ = MakeStream(std::move(socket), context_.get());
    if (!stream_ || !NameHost()) return Give(Fail(Code::kUnsupported, "TLS cannot be used"));
    stream_->async_handshake(TlsStream::client,
                             [self = Self()](const error_code& error) { self->OnSecured(error); });
  }

  void Stop() {
    error_code ignored;
    if (stream_) (void)beast::get_lowest_layer(*stream_).close(ignored);
    Abort();
  }

 private:
  std::shared_ptr<TlsDialing> Self() {
    return std::static_pointer_cast<TlsDialing>(shared_from_this());
  }

  /// Sets the host name or address that the certificate must be for.
  bool NameHost() {
    SSL* ssl = stream_->native_handle();
    const char* host = endpoint().host.c_str();
    error_code no_address;
    (void)asio::ip::make_address(endpoint().host, no_address);
    if (!no_address) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
    return SSL_set_tlsext_host_name(ssl, host) == 1 && SSL_set1_host(ssl, host) == 1;
  }

  void OnSecured(const error_code& error) {
    const std::string name = EndpointText(endpoint());
    const auto stream = std::move(stream_);
    SSL* ssl = stream->native_handle();
    if (error) {
      const long verdict = SSL_get_verify_result(ssl);
      if (verdict != X509_V_OK)
        return Give(Fail(Code::kDenied, fmt::format("the certificate of {} is not trusted: {}",
                                                    name, X509_verify_cert_error_string(verdict))));
      return Give(
          Fail(Code::kUnavailable, fmt::format("no TLS with {}: {}", name, error.message())));
    }
    const std::string& expected = endpoint().fingerprint;
    if (const std::string seen = FingerprintOf(ssl); !expected.empty() && seen != Normal(expected))
      return Give(Fail(Code::kDenied, fmt::format("the certificate of {} is another one than "
                                                  "expected; its fingerprint is {}",
                                                  name, seen)));
    Shake(std::move(*stream));
  }

  Context context_;
  std::unique_ptr<TlsStream> stream_;  // During its hand-shake.
};

class TlsAttempt final : public Attempt {
 public:
  TlsAttempt(Loop& loop, const Endpoint& endpoint, const Limits& limits, Dialed done)
      : dialing_(std::make_shared<TlsDialing>(loop, endpoint, limits, std::move(done))),
        reaching_(std::make_shared<Reaching>(loop, [dialing = dialing_](Result<Socket> socket) {
          if (!socket) return dialing->Give(std::unexpected(std::move(socket).error()));
          dialing->Secure(*std::move(socket));
        })) {}
  TlsAttempt(const TlsAttempt&) = delete;
  TlsAttempt& operator=(const TlsAttempt&) = delete;
  ~TlsAttempt() override {
    reaching_->Abort();
    dialing_->Stop();
  }

  Status Begin() {
    RETURN_IF_ERROR(dialing_->Prepare());
    return reaching_->Begin(dialing_->endpoint());
  }

 private:
  std::shared_ptr<TlsDialing> dialing_;
  std::shared_ptr<Reaching> reaching_;
};

}  // namespace

Result<std::unique_ptr<Attempt>> DialTls(Loop& loop, const Endpoint& endpoint, const Limits& limits,
                                         Dialed done) {
  auto attempt = std::make_unique<TlsAttempt>(loop, endpoint, limits, std::move(done));
  RETURN_IF_ERROR(attempt->Begin());
  return attempt;
}

}  // namespace stet::rpc
