// Emulator: a model server on loopback that answers as a script says. For tests in this process,
// and for `stet emulator`.
//
// It runs from Start until it is destroyed, which ends every connection and joins every thread. All
// members may be called from any thread. doc/format/emulator.md says what it answers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "emulator/ledger.h"

namespace stet::emulator {

struct Options {
  std::uint16_t port = 0;  // 0: any that is free.
  std::string record;      // A file for one line per request; "" for none.
  std::string schemas;     // A folder with DIALECT.json for some dialects; "" for none.
};

class Emulator {
 public:
  /// `script` is its text. Fails when it or a schema is wrong, or the port is taken, or a file
  /// fails.
  static Result<std::unique_ptr<Emulator>> Start(std::string_view script,
                                                 const Options& options = {});

  Emulator(const Emulator&) = delete;
  Emulator& operator=(const Emulator&) = delete;
  ~Emulator();

  [[nodiscard]] std::uint16_t port() const;
  /// "http://127.0.0.1:PORT".
  [[nodiscard]] std::string base_url() const;

  /// The model requests since the script was set, in the order they came.
  [[nodiscard]] std::vector<RequestRecord> Requests() const;
  [[nodiscard]] Stats stats() const;

  /// Replaces the script; counters and Requests() start anew.
  Status SetScript(std::string_view script);

  /// The simulated cache of prompts grows older by so much.
  void MoveClock(Millis forward);

 private:
  class Impl;
  explicit Emulator(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace stet::emulator
