#include "tool/known_files.h"

#include <algorithm>
#include <limits>

#include "json/view.h"
#include "json/writer.h"

namespace stet::tool {

namespace {

/// In order, with what touches or overlaps made one.
Lines Joined(Lines lines) {
  std::ranges::sort(lines);
  Lines joined;
  for (const auto& [from, to] : lines) {
    if (!joined.empty() && from - 1 <= joined.back().second)
      joined.back().second = std::max(joined.back().second, to);
    else
      joined.emplace_back(from, to);
  }
  return joined;
}

/// One [from, to]; absent when it is no such thing.
std::optional<std::pair<std::int64_t, std::int64_t>> RangeOf(JsonView json) {
  std::vector<std::int64_t> ends;
  json.ForEach([&](JsonView end) {
    if (ends.size() < 3) ends.push_back(end.IntOr(0));
  });
  if (ends.size() != 2 || ends[0] < 1 || ends[1] < ends[0]) return std::nullopt;
  return std::pair(ends[0], ends[1]);
}

KnownFile FromCoverage(const Raw& coverage) {
  const JsonView json(coverage.text);
  KnownFile file;
  file.total_lines = json["total"].IntOr(-1);
  json["lines"].ForEach([&](JsonView item) {
    if (const auto range = RangeOf(item)) file.lines.push_back(*range);
  });
  file.lines = Joined(std::move(file.lines));
  return file;
}

}  // namespace

bool KnownFile::Covers(std::int64_t from, std::int64_t to) const {
  if (total_lines < 0) return false;
  if (to < from) return true;
  return std::ranges::any_of(
      lines, [&](const auto& range) { return range.first <= from && to <= range.second; });
}

void KnownFiles::Learn(const protocol::FileFact& fact) {
  if (fact.op == "delete") {
    files_.erase(fact.path);
    return;
  }
  // What others wrote is not known; the version that was read stays, to be told apart by its hash.
  if ((fact.op != "read" && fact.op != "write") || !fact.after) return;

  KnownFile now;
  if (fact.coverage)
    now = FromCoverage(*fact.coverage);
  else if (fact.op == "write")
    now.lines.emplace_back(1, std::numeric_limits<std::int64_t>::max());
  else
    now.total_lines = -1;
  now.hash = *fact.after;

  KnownFile& file = files_[fact.path];
  if (fact.op == "read" && file.hash == now.hash) {
    if (file.whole() || now.total_lines < 0) return;
    now.lines.insert(now.lines.end(), file.lines.begin(), file.lines.end());
    now.lines = Joined(std::move(now.lines));
  }
  file = std::move(now);
}

const KnownFile* KnownFiles::Find(const std::string& path) const {
  const auto found = files_.find(path);
  return found == files_.end() ? nullptr : &found->second;
}

Raw KnownFiles::Coverage(const Lines& lines, std::int64_t total) {
  Raw raw{""};
  JsonWriter writer(raw.text);
  writer.BeginObject().Key("lines").BeginArray();
  for (const auto& [from, to] : lines) writer.BeginArray().Int(from).Int(to).EndArray();
  writer.EndArray().Member("total", total).EndObject();
  return raw;
}

}  // namespace stet::tool
