#include "lane/arrival.h"

#include <fmt/format.h>

#include "agent/workbench.h"
#include "base/display_width.h"
#include "base/utf8.h"
#include "log/log.h"

namespace stet::lane {
namespace {

constexpr std::size_t kShownMessages = 5;
constexpr std::size_t kShownBytes = 300;
constexpr std::size_t kShownColumns = 200;

std::string Quoted(const protocol::QueueItem& item) {
  const std::string text = protocol::PlainText(item.content);
  const std::string head = text.substr(0, Utf8PrefixLength(text, kShownBytes));
  return fmt::format("\"{}\"", FitText(OneLineText(head), kShownColumns));
}

/// Empties one queue; what was in it is added to `texts`.
Status EmptyQueue(log::Log& log, std::string_view name, const protocol::QueueItems& items,
                  std::vector<std::string>& texts) {
  if (items.empty()) return {};
  for (const protocol::QueueItem& item : items) texts.push_back(Quoted(item));
  protocol::QueueUpdate update;
  update.queue = name;
  return agent::AppendEvent(log, std::move(update), {});
}

}  // namespace

Result<std::string> TakeIn(log::Log& log) {
  const log::SessionState state = log.index().state();
  std::vector<std::string> texts;
  RETURN_IF_ERROR(EmptyQueue(log, "follow_up", state.follow_ups, texts));
  RETURN_IF_ERROR(EmptyQueue(log, "steer", state.steers, texts));
  std::string said =
      "this session was not written here (it was imported or copied, or an older stet wrote it): "
      "its history counts, but what was allowed in it is asked again, its mode is not taken over, "
      "and files that it changed are not put back";
  for (std::size_t i = 0; i < texts.size() && i < kShownMessages; ++i)
    said += fmt::format("{}{}", i == 0 ? "; queued messages are not sent: " : ", ", texts[i]);
  if (texts.size() > kShownMessages)
    said += fmt::format(" and {} more", texts.size() - kShownMessages);
  return said;
}

}  // namespace stet::lane
