#include "tool/shell/output.h"

#include <algorithm>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/fs.h"
#include "base/utf8.h"
#include "tool/bounded_output.h"

namespace stet::tool {

Result<ShellOutput> ShellOutput::Make(const std::string& path) {
  ShellOutput output;
  ASSIGN_OR_RETURN(output.file_, OpenFile(path, O_RDWR | O_CREAT | O_EXCL));
  return output;
}

void ShellOutput::Add(std::string_view bytes) {
  // Only what follows what is kept without a hole.
  if (kept_ == total_ && kept_ < kMaxKeptBytes) {
    const std::string_view kept = bytes.substr(0, kMaxKeptBytes - kept_);
    if (WriteAll(file_.get(), kept)) kept_ += kept.size();
  }
  total_ += bytes.size();
  tail_.append(bytes.substr(bytes.size() - std::min(bytes.size(), kMaxShownBytes)));
  if (tail_.size() >= 2 * kMaxShownBytes) tail_.erase(0, tail_.size() - kMaxShownBytes);
}

Status ShellOutput::MoveTo(const std::string& path) {
  ASSIGN_OR_RETURN(Fd file, OpenFile(path, O_RDWR | O_CREAT | O_EXCL));
  if (const Status written = WriteAll(file.get(), Kept(0, kept_)); !written) {
    (void)Remove(path);  // The first failure is the one to tell.
    return written;
  }
  file_ = std::move(file);
  return {};
}

std::string ShellOutput::Whole() const {
  std::string text = Kept(0, kept_);
  if (kept_ == total_) return text;
  const std::uint64_t tail_from = std::max<std::uint64_t>(total_ - tail_.size(), kept_);
  const std::uint64_t dropped = tail_from - kept_;
  if (dropped > 0) text += fmt::format("\n[{} bytes were dropped here]\n", dropped);
  return text += std::string_view(tail_).substr(tail_.size() - (total_ - tail_from));
}

std::string ShellOutput::Kept(std::uint64_t from, std::uint64_t to) const {
  std::string bytes(to > from ? to - from : 0, '\0');
  const auto got = Pread(file_.get(), bytes, from);
  bytes.resize(got.value_or(0));
  return bytes;
}

std::string ShellOutput::Show(std::uint64_t from, const PutBlob& put_blob) const {
  from = std::min(from, total_);
  const std::uint64_t tail_from = total_ - tail_.size();
  if (total_ - from <= kMaxShownBytes)
    return ReplaceInvalidUtf8(std::string_view(tail_).substr(from - tail_from));

  std::string text = Kept(from, kept_);
  std::string note = "The rest could not be kept.";
  const std::uint64_t dropped = total_ - std::max(from, kept_);
  if (!text.empty()) {
    if (const auto blob = put_blob(text))
      note = fmt::format("The {} is in blob:{}, which Read shows.",
                         dropped > 0 ? "beginning" : "whole", *blob);
  }
  if (dropped > 0) {
    note += fmt::format(" {} bytes of it were dropped.", dropped);
    text.resize(std::min<std::uint64_t>(text.size(), tail_from > from ? tail_from - from : 0));
    text += tail_;
  }
  return ReplaceInvalidUtf8(HeadAndTail(text, kMaxShownBytes, note));
}

std::string ShellOutput::Tail(std::size_t max_bytes) const { return TailText(tail_, max_bytes); }

}  // namespace stet::tool
