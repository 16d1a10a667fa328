// Editor: the services of the protocol's client for one session: its files and terminals, as its
// capabilities say. What a host asks becomes a request to the client, and the client's answer is
// handed back.
//
// For any thread. Whoever asked is answered once: by the client, or when the session ends.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "acp/message.h"
#include "acp/output.h"
#include "client/services.h"

namespace stet::acp {

class Editor final : public client::Services {
 public:
  /// More requests do not wait for the client.
  static constexpr std::size_t kMaxOpen = 256;

  /// `output` outlives it.
  Editor(std::string session_id, protocol::Texts offers, Output& output)
      : session_id_(std::move(session_id)), offers_(std::move(offers)), output_(output) {}

  [[nodiscard]] const protocol::Texts& offers() const override { return offers_; }
  void Ask(const std::string& method, const Raw& params, Done done) override;

  /// False when it answers none of its requests.
  bool Take(const Response& response);
  /// Whoever waits, or asks from now on, is told kUnavailable.
  void End();

 private:
  struct Open {
    std::string method;
    Done done;
  };

  const std::string session_id_;
  const protocol::Texts offers_;
  Output& output_;
  std::mutex mutex_;
  bool ended_ = false;
  std::uint64_t last_ = 0;
  std::map<std::string, Open> open_;
};

}  // namespace stet::acp
