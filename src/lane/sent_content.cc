#include "lane/sent_content.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/mentions.h"
#include "agent/workbench.h"
#include "base/base64.h"
#include "log/log.h"
#include "tool/image.h"

namespace stet::lane {

bool SaysSomething(const protocol::Send& send) {
  return send.text.find_first_not_of(" \t\r\n") != std::string::npos || !send.images.empty();
}

Result<protocol::Blocks> ContentOf(agent::Workbench& bench, const protocol::Send& send) {
  protocol::Blocks content;
  protocol::TextBlock text;
  text.text = send.text;
  content.emplace_back(std::move(text));
  for (const protocol::ImageFile& file : send.images) {
    const std::optional<std::string> bytes = DecodeBase64(file.data);
    if (!bytes) return Fail(Code::kInvalid, "the data of an image is not base64");
    const std::string_view type = tool::ImageType(*bytes);
    if (type.empty()) return Fail(Code::kInvalid, "an image is not a PNG, JPEG, GIF or WebP file");
    if (bytes->size() > tool::kMaxImageBytes)
      return Fail(Code::kInvalid, fmt::format("an image has {} bytes, {} is the most",
                                              bytes->size(), tool::kMaxImageBytes));
    protocol::ImageBlock image;
    image.media_type = type;
    ASSIGN_OR_RETURN(image.blob, bench.log.blobs().Put(*bytes));
    content.emplace_back(std::move(image));
  }
  ASSIGN_OR_RETURN(protocol::Blocks mentioned, agent::MentionedImages(bench, send.text));
  for (protocol::Block& block : mentioned) content.push_back(std::move(block));
  return content;
}

namespace {

bool Says(const protocol::Blocks& blocks, const std::string& text) {
  const auto* said = blocks.empty() ? nullptr : std::get_if<protocol::TextBlock>(&blocks.front());
  return said != nullptr && said->text == text;
}

}  // namespace

Status IsSentAgain(const log::Log& log, log::Ordinal before, const protocol::Send& send,
                   const std::string& client_id) {
  ASSIGN_OR_RETURN(const protocol::Event event, log.EventAt(before));
  bool same = true;
  if (const auto* message = std::get_if<protocol::UserMessage>(&event.payload)) {
    // The words of one that was queued may have been changed since.
    same = event.stamp.client_id == client_id &&
           (message->queue_item_id || Says(message->message.blocks, send.text));
  } else if (const auto* update = std::get_if<protocol::QueueUpdate>(&event.payload)) {
    const auto item = std::ranges::find(update->items, send.client_message_id,
                                        &protocol::QueueItem::client_message_id);
    same = item == update->items.end() || item->client_id == client_id;
  }
  if (same) return {};
  return Fail(Code::kConflict,
              fmt::format("{} is the id of another message: send it under an id of "
                          "its own",
                          *send.client_message_id));
}

}  // namespace stet::lane
