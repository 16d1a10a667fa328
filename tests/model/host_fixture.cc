#include "tests/model/host_fixture.h"

#include <gtest/gtest.h>

#include "base/fs.h"

namespace stet::test {

RunningHost::RunningHost(host::HostOptions options) {
  options.listen.unix_path = options.roots.data + "/host.sock";
  options.listen.address = "127.0.0.1";
  options.token = kToken;
  if (!options.stop) options.stop = [] {};
  EXPECT_TRUE(MakeDirs(options.roots.data));
  socket_ = options.listen.unix_path;
  auto started = host::Host::Start(thread_.loop(), std::move(options));
  EXPECT_TRUE(started) << started.error().Text();
  if (started) host_ = *std::move(started);
  address_ = host_ ? host_->address() : "";
  thread_.Start();
}

void RunningHost::Stop() {
  if (!host_) return;
  thread_.Await<bool>([this]() -> Async<bool> {
    co_await host_->Shutdown();
    co_return true;
  });
  thread_.Stop();
  thread_.loop().Abandon();
  host_.reset();
}

std::unique_ptr<client::RemoteLive> RunningHost::Client(
    std::optional<std::vector<std::string>> environment) const {
  client::RemoteOptions options;
  options.endpoint.unix_path = socket_;
  options.environment = std::move(environment);
  return client::MakeRemoteLive(options);
}

std::uint16_t RunningHost::port() const {
  return static_cast<std::uint16_t>(std::stoi(address_.substr(address_.rfind(':') + 1)));
}

protocol::HostStatus RunningHost::Describe() {
  return thread_.Call([this] { return host_->Describe(); });
}

WireClient::WireClient(rpc::Endpoint endpoint) {
  thread_.Start();
  auto dialled = thread_.Await<Result<std::unique_ptr<rpc::Channel>>>([&] {
    const CancelToken never;
    return rpc::Dial(thread_.loop(), endpoint, never);
  });
  if (!dialled) {
    refused_ = dialled.error();
    return;
  }
  channel_ = *std::move(dialled);
  thread_.Call([this] {
    channel_->Start({.frame = [this](std::string_view frame) { Hear(frame); },
                     .drained = [] {},
                     .closed = [this](const Error&) { Closed(); }});
    return true;
  });
}

WireClient::~WireClient() {
  thread_.Call([this] {
    channel_.reset();
    return true;
  });
}

void WireClient::Say(const std::string& message) {
  thread_.Call([&] {
    if (channel_) channel_->Send(message);
    return true;
  });
}

void WireClient::Hello(const std::string& token, const std::string& client_id) {
  protocol::Hello hello;
  hello.version = protocol::kWireVersion;
  if (!token.empty()) hello.token = token;
  hello.client_id = client_id;
  Say(Encode(hello));
}

std::string WireClient::Ask(const std::string& method, const std::string& params) {
  const std::string id = std::to_string(++last_);
  protocol::WireRequest request;
  request.request_id = id;
  request.method = method;
  request.params = Raw{params};
  Say(Encode(request));
  return Await([&](const JsonView& message) {
           return message["type"].StringOr("") == "reply" &&
                  message["requestId"].StringOr("") == id;
         })
      .value_or("");
}

std::optional<std::string> WireClient::AwaitType(const std::string& type) {
  return Await([&](const JsonView& message) { return message["type"].StringOr("") == type; });
}

std::optional<std::string> WireClient::Await(const std::function<bool(const JsonView&)>& fits) {
  std::unique_lock lock(mutex_);
  std::optional<std::string> found;
  std::size_t looked = 0;
  changed_.wait_for(lock, std::chrono::seconds(60), [&] {
    for (; looked < heard_.size() && !found; ++looked) {
      if (fits(JsonView(heard_[looked]))) found = heard_[looked];
    }
    return found || (closed_ && looked == heard_.size());
  });
  return found;
}

std::vector<std::string> WireClient::Heard() {
  const std::lock_guard lock(mutex_);
  return {heard_.begin(), heard_.end()};
}

bool WireClient::AwaitClosed() {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(60), [&] { return closed_; });
}

void WireClient::Hear(std::string_view frame) {
  const std::lock_guard lock(mutex_);
  while (!frame.empty()) {
    const std::size_t end = std::min(frame.find('\n'), frame.size());
    heard_.emplace_back(frame.substr(0, end));
    frame.remove_prefix(std::min(end + 1, frame.size()));
  }
  changed_.notify_all();
}

void WireClient::Closed() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

}  // namespace stet::test
