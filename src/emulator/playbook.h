// Playbook: a script and how often each of its replies was used.
//
// Safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "emulator/request_facts.h"
#include "emulator/script.h"

namespace stet::emulator {

class Playbook {
 public:
  struct Choice {
    std::shared_ptr<const Script> script;  // Keeps `reply` alive.
    const Reply* reply = nullptr;          // Null: none fits.
    std::int64_t number = 0;               // Of the reply, from 1.
    std::string why_not;                   // When none fits: why, reply by reply.
  };

  explicit Playbook(Script script) { Set(std::move(script)); }

  void Set(Script script);
  [[nodiscard]] std::shared_ptr<const Script> script() const;

  /// The reply for the `call`-th request; counts its use.
  Choice Choose(const RequestFacts& facts, std::int64_t call);

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Script> script_;
  std::vector<std::int64_t> uses_;
};

}  // namespace stet::emulator
