#include "tui/line_editor/history.h"

#include <fcntl.h>

#include "base/fs.h"
#include "json/json.h"

namespace stet::tui {
namespace {

constexpr std::size_t kMaxFile = std::size_t{32} << 20;
constexpr mode_t kMine = 0600;

std::string LineOf(const std::string& entry) {
  std::string line;
  AppendJsonString(line, entry);
  return line + "\n";
}

}  // namespace

History::History(std::string path) : path_(std::move(path)) {
  const Result<std::string> text =
      path_.empty() ? Fail(Code::kNotFound, "") : ReadFile(path_, kMaxFile);
  if (!text) return;
  std::size_t lines = 0;
  for (std::string_view rest = *text; !rest.empty(); ++lines) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    JsonReader reader(rest.substr(0, end));
    std::string entry;
    if (reader.Peek() == JsonReader::Kind::kString && reader.String(&entry))
      entries_.push_back(std::move(entry));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (entries_.size() > kMaxEntries)
    entries_.erase(entries_.begin(), entries_.end() - static_cast<std::ptrdiff_t>(kMaxEntries));
  if (lines > 2 * kMaxEntries) Rewrite();
}

void History::Add(const std::string& entry) {
  if (entry.find_first_not_of(" \t\n") == std::string::npos || entry.size() > kMaxEntryBytes)
    return;
  if (!entries_.empty() && entries_.back() == entry) return;
  entries_.push_back(entry);
  if (entries_.size() > kMaxEntries) entries_.erase(entries_.begin());
  if (path_.empty()) return;
  const Result<Fd> file = OpenFile(path_, O_WRONLY | O_APPEND | O_CREAT, kMine);
  // Ignoring the error on purpose: see the header.
  if (file) (void)WriteAll(file->get(), LineOf(entry));
}

void History::Rewrite() const {
  std::string text;
  for (const std::string& entry : entries_) text += LineOf(entry);
  (void)ReplaceFile(path_, text, Durable::kNo, kMine);
}

}  // namespace stet::tui
