// SessionTools: the tools of one session: the box that has them, and the toolset that its model
// sees.
//
// The toolset is frozen: it is what the log says, whatever the box has now, so that the tool array
// of every request is the same to the byte. It is replaced only for a cause that the log names: an
// option of the user's, a model with another window, a compaction. What is decided here counts for
// the next request once the log has it: KeepToolset, before a model is asked.
//
// Owned by the session's lane, on its thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "log/last_toolset.h"
#include "log/log.h"
#include "tool/toolbox.h"

namespace stet::agent {

class SessionTools {
 public:
  explicit SessionTools(tool::Selection selection = {}) : box_(std::move(selection)) {}

  /// Holds the session to what the user's option `--tools` said earlier, unless it is given now.
  /// Before sources are added.
  void Remember(const std::optional<log::LastToolset>& last) {
    if (last && last->toolset.only) box_.Restrict(*last->toolset.only);
  }
  /// Sources are added before Open.
  [[nodiscard]] tool::Toolbox& box() { return box_; }
  [[nodiscard]] const tool::Toolbox& box() const { return box_; }

  /// Takes up what the log has, unless the user's options or the model's window ask for another
  /// one; all that the box has where the log has nothing. `context_window` is the model's, in
  /// tokens.
  void Open(log::Log& log, const std::optional<log::LastToolset>& last,
            std::int64_t context_window);

  /// The session goes on with a model of this window.
  void UseWindow(std::int64_t context_window);
  /// The conversation is made anew behind a compaction: what waits in the box joins, and what is
  /// gone leaves.
  void Renew();

  [[nodiscard]] const tool::Toolset& toolset() const { return toolset_; }
  /// Of the toolset, once the log has it.
  [[nodiscard]] const std::string& blob() const { return blob_; }

  /// What must be in the log before a model is asked; nothing: it has it. Puts the blob.
  [[nodiscard]] Result<std::optional<protocol::Toolset>> Unkept(log::Log& log);
  /// The log has it now.
  void SetKept();

  /// Null when the model does not see it, or when it is not here any more.
  [[nodiscard]] tool::Tool* Find(std::string_view name) const { return box_.Find(toolset_, name); }
  /// See tool::Toolbox::Check.
  [[nodiscard]] Status Check(std::string_view name, const Raw& args) const {
    return box_.Check(toolset_, name, args);
  }

 private:
  [[nodiscard]] bool small() const { return tool::IsSmallWindow(window_); }
  void Replace(std::string_view why);

  tool::Toolbox box_;
  tool::Toolset toolset_;
  std::string blob_;       // Of the toolset; empty: not put yet.
  std::string cause_;      // Why the log must be told of the toolset; empty: it knows.
  bool begun_ = false;     // Requests of the session had tools before.
  std::string kept_blob_;  // Of the toolset that the log has.
  /// The user's option, as the log has it.
  protocol::OptionalTexts kept_only_;
  std::int64_t window_ = 0;  // Of the model.
};

struct Workbench;
/// Appends the toolset that the next request has, where the log does not have it yet.
Status KeepToolset(Workbench& bench, const protocol::Stamp& stamp);

}  // namespace stet::agent
