#include "base/line_cutter.h"

#include <algorithm>

namespace stet {

void LineCutter::Keep(std::string_view bytes) {
  if (too_long_) return;
  if (bytes.size() > max_line_ - line_.size()) {
    too_long_ = true;
    line_ += bytes.substr(0, kHead - std::min(kHead, line_.size()));
    line_.resize(std::min(line_.size(), kHead));
    line_.shrink_to_fit();
    return;
  }
  line_ += bytes;
}

void LineCutter::End(const Use& use) {
  if (too_long_)
    use(std::nullopt);
  else
    use(line_);
  too_long_ = false;
  line_.clear();
}

void LineCutter::Feed(std::string_view bytes, const Use& use) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    Keep(bytes.substr(0, end));
    if (end == std::string_view::npos) return;
    End(use);
    bytes.remove_prefix(end + 1);
  }
}

void LineCutter::Finish(const Use& use) {
  if (too_long_ || !line_.empty()) End(use);
}

}  // namespace stet
