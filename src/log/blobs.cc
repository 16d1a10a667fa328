#include "log/blobs.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/plain_file.h"

namespace stet::log {

namespace {

constexpr std::size_t kHexDigits = 64;

}  // namespace

bool Blobs::IsName(std::string_view text) {
  return text.size() == kHexDigits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::vector<std::string> Blobs::NamesIn(std::string_view json) {
  std::vector<std::string> names;
  for (std::size_t quote = json.find('"'); quote != std::string_view::npos;
       quote = json.find('"', quote + 1)) {
    const std::string_view text = json.substr(quote + 1, kHexDigits);
    const std::size_t end = quote + 1 + kHexDigits;
    if (end < json.size() && json[end] == '"' && IsName(text)) names.emplace_back(text);
  }
  return names;
}

Result<std::string> Blobs::Put(std::string_view content) {
  if (content.size() > kMaxBlobBytes)
    return Fail(Code::kInvalid, fmt::format("a blob of {} bytes is too large", content.size()));
  {
    const std::lock_guard lock(mutex_);
    if (!last_name_.empty() && content == last_content_) return last_name_;
  }
  std::string name = Sha256Hex(content);
  const std::string path = PathOf(name);
  if (PlainFileSize(path) != content.size()) {
    RETURN_IF_ERROR(MakeDirs(dir_));
    RETURN_IF_ERROR(ReplaceFile(path, content, Durable::kNo));
  }
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(unsynced_, name) == unsynced_.end()) unsynced_.push_back(name);
  if (content.size() <= kMaxRemembered) {
    last_content_ = content;
    last_name_ = name;
  }
  return name;
}

Result<std::string> Blobs::Get(std::string_view name) const {
  if (!IsName(name)) return Fail(Code::kInvalid, fmt::format("\"{}\" is not a blob's name", name));
  ASSIGN_OR_RETURN(std::string content, ReadPlainFile(PathOf(name), kMaxBlobBytes));
  if (Sha256Hex(content) != name)
    return Fail(Code::kCorrupt, fmt::format("blob {} is damaged", name));
  return content;
}

Status Blobs::Check(std::string_view name) const {
  if (!IsName(name)) return Fail(Code::kInvalid, fmt::format("\"{}\" is not a blob's name", name));
  // A link or a device is none.
  RETURN_IF_ERROR(PlainFileSize(PathOf(name)));
  ASSIGN_OR_RETURN(const std::string hash, Sha256File(PathOf(name)));
  if (hash != name) return Fail(Code::kCorrupt, fmt::format("blob {} is damaged", name));
  return {};
}

Status Blobs::Sync() {
  std::vector<std::string> names;
  {
    const std::lock_guard lock(mutex_);
    names.swap(unsynced_);
  }
  if (names.empty()) return {};
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(const Fd fd, OpenPlainFile(PathOf(name), O_RDONLY));
    if (::fsync(fd.get()) != 0) return FailSystem(errno, "flush blob " + name);
  }
  RETURN_IF_ERROR(SyncDir(dir_));
  return SyncDir(ParentDir(dir_));
}

}  // namespace stet::log
