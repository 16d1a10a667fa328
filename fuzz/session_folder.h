// A folder for one session that a fuzzer writes anew for every input, in memory; removed at exit.
#pragma once

#include <string>

#include "base/fs.h"
#include "base/temp_dir.h"

namespace stet::fuzz {

class SessionFolder {
 public:
  /// Empty but for the log.
  void Reset(std::string_view events) {
    CHECK(RemoveTree(dir()).has_value() && MakeDirs(dir()).has_value(), "the folder is ours");
    CHECK(ReplaceFile(dir() + "/events.jsonl", events, Durable::kNo).has_value(),
          "the log can be written");
  }
  [[nodiscard]] std::string dir() const { return temp_.Sub("ses_fuzz"); }

 private:
  TempDir temp_;
};

}  // namespace stet::fuzz
