#include "protocol/content.h"

namespace stet::protocol {

std::string PlainText(const Blocks& blocks) {
  std::string text;
  for (const Block& block : blocks) {
    const auto* part = std::get_if<TextBlock>(&block);
    if (part == nullptr) continue;
    if (!text.empty()) text += "\n\n";
    text += part->text;
  }
  return text;
}

}  // namespace stet::protocol
