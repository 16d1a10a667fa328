// Harness items: what the harness tells the model beside the user's messages. All of it goes
// through here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "log/log.h"
#include "protocol/conversation.h"

namespace stet::agent {

/// The kinds of items. An item of another kind, or of another origin, is a bug of ours and fails.
namespace item {
inline constexpr std::string_view kSteer = "steer";
inline constexpr std::string_view kRuntimeNotice = "runtime_notice";
inline constexpr std::string_view kDateChange = "date_change";
inline constexpr std::string_view kInstructions = "instructions";
inline constexpr std::string_view kFileMention = "file_mention";
inline constexpr std::string_view kAttachment = "attachment";
inline constexpr std::string_view kPin = "pin";
inline constexpr std::string_view kHook = "hook";
inline constexpr std::string_view kExtension = "extension";
}  // namespace item

struct NewItem {
  std::string_view kind;
  std::string_view origin = "system";  // user, system, hook or extension
  std::string content;
  bool hidden = true;  // From people, unless they look.
  std::optional<std::string> queue_item_id = {};
  std::optional<Raw> data = {};
  std::optional<std::string> by = {};             // Which hook or extension.
  std::optional<protocol::Carried> carries = {};  // What it pays (outbox.h).
};

/// Whether an item may have this kind, and this origin.
bool IsItemKind(std::string_view kind);
bool IsItemOrigin(std::string_view origin);

/// Whether an item that is appended now is merged into the tool result before it: when no request
/// has carried that one yet. Else it is a message of its own.
Result<bool> MayMerge(const log::Log& log);

/// The event of an item. kInvalid for an unknown kind or origin, and for an item without text.
Result<protocol::HarnessItem> MakeItem(NewItem item, bool merges);

/// Appends the item where it belongs, which is decided here once. Fails as the two above do.
Status AppendItem(log::Log& log, NewItem item, const protocol::Stamp& stamp);

}  // namespace stet::agent
