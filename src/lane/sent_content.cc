#include "lane/sent_content.h"

#include <fmt/format.h>

#include "agent/mentions.h"
#include "agent/workbench.h"
#include "base/base64.h"
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

}  // namespace stet::lane
