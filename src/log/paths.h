// Where the parts of a session's folder are.
#pragma once

#include <string>
#include <string_view>

namespace stet::log {

struct Paths {
  std::string dir;

  [[nodiscard]] std::string events() const { return dir + "/events.jsonl"; }  // The truth.
  [[nodiscard]] std::string lock() const { return dir + "/lock"; }
  [[nodiscard]] std::string index() const { return dir + "/index"; }           // Rebuildable.
  [[nodiscard]] std::string summary() const { return dir + "/summary.json"; }  // Rebuildable.
  /// Which events this device wrote: sealed with its key, and brought by no export.
  [[nodiscard]] std::string own() const { return dir + "/own.json"; }
  /// What the host did for the session, for developers. Nothing depends on it.
  [[nodiscard]] std::string diagnostics() const { return dir + "/diagnostics.log"; }
  [[nodiscard]] std::string blobs() const { return dir + "/blobs"; }  // By content hash.
  /// The session's names of what the device keeps of files. In no export.
  [[nodiscard]] std::string undo() const { return dir + "/undo"; }
  [[nodiscard]] std::string aside() const {
    return dir + "/aside";
  }  // Damaged bytes, copied or cut.
  [[nodiscard]] std::string agents() const { return dir + "/agents"; }  // Child agents' sessions.
  /// The output of what runs in the background, a file for each task that runs.
  [[nodiscard]] std::string tasks() const { return dir + "/tasks"; }
  /// The session's id is the folder's name.
  [[nodiscard]] std::string_view session_id() const {
    return std::string_view(dir).substr(dir.find_last_of('/') + 1);
  }
};

}  // namespace stet::log
