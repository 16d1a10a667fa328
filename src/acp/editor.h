// Editor: the services of the protocol's client for one session: its files and terminals, as its
// capabilities say. What a host asks becomes a request to the client, and the client's answer is
// handed back.
//
// For any thread. Whoever asked is answered once: by the client, or when the session ends.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "client/services.h"
#include "rpc/json/lines.h"

namespace stet::acp {

class Editor final : public client::Services {
 public:
  /// More requests do not wait for the client.
  static constexpr std::size_t kMaxOpen = 256;

  /// `line` outlives what is asked before End.
  Editor(std::string session_id, protocol::Texts offers, rpc::JsonLines& line)
      : session_id_(std::move(session_id)), offers_(std::move(offers)), line_(line) {}

  [[nodiscard]] const protocol::Texts& offers() const override { return offers_; }
  void Ask(const std::string& method, const Raw& params, Done done) override;

  /// Whoever waits, or asks from now on, is told kUnavailable.
  void End();

 private:
  /// Shared with the answers that are awaited.
  struct Open {
    std::mutex mutex;
    bool ended = false;
    std::uint64_t last = 0;
    std::map<std::uint64_t, Done> done;

    /// Whoever waits for that; nothing when that was told already.
    Done Take(std::uint64_t number);
  };

  const std::string session_id_;
  const protocol::Texts offers_;
  rpc::JsonLines& line_;
  const std::shared_ptr<Open> open_ = std::make_shared<Open>();
};

}  // namespace stet::acp
