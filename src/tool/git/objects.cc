#include "tool/git/objects.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>

#include "base/display_width.h"
#include "base/fs.h"
#include "base/subprocess/subprocess.h"
#include "base/text.h"

namespace stet::tool {
namespace {

/// What git may say of one object before its bytes.
constexpr std::size_t kMaxAnswerLine = 256;
/// After how many damaged objects reading ends.
constexpr int kMaxDamaged = 16;

/// As git reads it in a list of folders.
std::string QuotedFolder(const std::string& folder) {
  std::string quoted = "\"";
  for (const char c : folder) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

/// What git says of an object: "ID TYPE SIZE" or "ID missing".
struct ObjectAnswer {
  std::string_view id;
  bool is_blob = false;
  bool has_bytes = false;
  std::uint64_t size = 0;
};

std::optional<ObjectAnswer> ReadAnswer(std::string_view line) {
  const std::size_t first = line.find(' ');
  if (first == std::string_view::npos) return std::nullopt;
  ObjectAnswer answer{.id = line.substr(0, first)};
  line.remove_prefix(first + 1);
  const std::size_t second = line.find(' ');
  if (second == std::string_view::npos) return answer;
  answer.is_blob = line.substr(0, second) == "blob";
  const char* end = line.data() + line.size();
  const auto number = std::from_chars(line.data() + second + 1, end, answer.size);
  if (number.ec != std::errc() || number.ptr != end) return std::nullopt;
  answer.has_bytes = true;
  return answer;
}

/// One `git cat-file`, told ids and heard until its end or its deadline.
class CatFile {
 public:
  /// False when no more is wanted.
  using Heard = std::function<bool(std::string& text)>;

  static Status Run(SpawnOptions options, Deadline deadline, const Heard& heard) {
    options.max_output_bytes = 4 * Subprocess::kMaxReadTurn;
    ASSIGN_OR_RETURN(Subprocess child, Subprocess::Start(std::move(options)));
    std::string text;
    for (;;) {
      const bool open = child.stdin_fd() >= 0 || child.stdout_fd() >= 0 || child.stderr_fd() >= 0;
      pollfd fds[] = {
          {.fd = child.stdin_fd(), .events = POLLOUT, .revents = 0},
          {.fd = child.stdout_fd(), .events = POLLIN, .revents = 0},
          {.fd = child.stderr_fd(), .events = POLLIN, .revents = 0},
          {.fd = open ? -1 : child.pidfd(), .events = POLLIN, .revents = 0},
      };
      ::poll(fds, std::size(fds), deadline.PollTimeout());
      child.FeedInput();
      child.ReadOutput();
      text += child.TakeOutput();
      if (!heard(text)) return {};  // The child ends with its Subprocess.
      if (!open && child.Reap()) break;
      if (deadline.Passed()) return Fail(Code::kTimeout, "git did not answer in time");
    }
    const Finished finished = child.TakeFinished();
    if (finished.exit_code == 0) return {};
    return Fail(Code::kUnavailable,
                fmt::format("git cannot read objects: {}", PrintableText(FirstLine(finished.err))));
  }
};

/// What git is started with: a repository of ours, whose objects are those of `folders`.
Result<SpawnOptions> CatFileOptions(GitFormat format, const std::vector<std::string>& folders,
                                    const std::string& scratch) {
  if (folders.empty()) return Fail(Code::kNotFound, "there are no folders of objects");
  const bool wide = format == GitFormat::kSha256;
  const std::string git = scratch + (wide ? "/sha256" : "/sha1");
  // The folder is ours alone, and may be made by two of us at once.
  if (!Exists(git + "/HEAD")) {
    RETURN_IF_ERROR(MakeDirs(git + "/refs"));
    RETURN_IF_ERROR(MakeDirs(git + "/objects"));
    const std::string config = fmt::format(
        "[core]\n\trepositoryformatversion = {}\n\tbare = true\n\tcommitGraph = false\n"
        "[gc]\n\tauto = 0\n[protocol]\n\tallow = never\n{}",
        wide ? 1 : 0, wide ? "[extensions]\n\tobjectformat = sha256\n" : "");
    RETURN_IF_ERROR(ReplaceFile(git + "/config", config, Durable::kNo));
    RETURN_IF_ERROR(ReplaceFile(git + "/HEAD", "ref: refs/heads/none\n", Durable::kNo));
  }
  std::string others;
  for (std::size_t i = 1; i < folders.size(); ++i)
    others += (i > 1 ? ":" : "") + QuotedFolder(folders[i]);
  SpawnOptions options;
  options.env = {"GIT_DIR=" + git,
                 "GIT_OBJECT_DIRECTORY=" + folders[0],
                 "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + others,
                 "GIT_NO_REPLACE_OBJECTS=1",
                 "GIT_NO_LAZY_FETCH=1",
                 "GIT_OPTIONAL_LOCKS=0",
                 "GIT_TERMINAL_PROMPT=0",
                 "GIT_CONFIG_NOSYSTEM=1",
                 "GIT_CONFIG_GLOBAL=/dev/null",
                 "GIT_ATTR_NOSYSTEM=1",
                 "HOME=" + scratch,
                 "XDG_CONFIG_HOME=" + scratch,
                 "LC_ALL=C"};
  options.cwd = scratch;
  return options;
}

/// Takes the answers of `--batch` apart: to each object a line, its bytes, and a line end.
class BatchReader {
 public:
  BatchReader(std::span<const std::string> ids, GitFormat format, const GitObjects::Take& take)
      : ids_(ids), format_(format), take_(take) {}

  bool Hear(std::string& text) {
    std::size_t at = 0;
    while (next_ < ids_.size()) {
      if (left_ == 0 && !TakeLine(text, at)) break;
      if (left_ > 0 && !TakeBytes(text, at)) break;
    }
    text.erase(0, at);
    return good_ && next_ < ids_.size();
  }
  /// What git says is not what it says of objects.
  [[nodiscard]] bool good() const { return good_; }
  /// The first that was not answered.
  [[nodiscard]] std::size_t next() const { return next_; }

 private:
  bool TakeLine(const std::string& text, std::size_t& at) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) return good_ = text.size() - at <= kMaxAnswerLine, false;
    const std::optional<ObjectAnswer> answer =
        ReadAnswer(std::string_view(text).substr(at, end - at));
    if (!answer || answer->id != ids_[next_]) return good_ = false;
    at = end + 1;
    if (!answer->has_bytes) {
      ++next_;
      return true;
    }
    wanted_ = answer->is_blob && answer->size <= kMaxGitObject;
    left_ = answer->size + 1;
    bytes_.clear();
    return true;
  }

  /// False when there are not all yet, or no more are wanted.
  bool TakeBytes(const std::string& text, std::size_t& at) {
    const std::size_t size =
        static_cast<std::size_t>(std::min<std::uint64_t>(left_, text.size() - at));
    if (wanted_) bytes_.append(text, at, size);
    at += size;
    left_ -= size;
    if (left_ > 0) return false;
    const std::size_t which = next_++;
    if (!wanted_) return true;
    bytes_.pop_back();
    if (BlobId(bytes_, format_) != ids_[which]) return true;
    if (take_(which, bytes_)) return true;
    next_ = ids_.size();
    return false;
  }

  std::span<const std::string> ids_;
  GitFormat format_;
  const GitObjects::Take& take_;
  std::size_t next_ = 0;
  std::uint64_t left_ = 0;  // Of the object's bytes, and its line end.
  bool wanted_ = false;
  bool good_ = true;
  std::string bytes_;
};

}  // namespace

GitObjects::GitObjects(GitFormat format, std::vector<std::string> folders, std::string scratch)
    : format_(format), folders_(std::move(folders)), scratch_(std::move(scratch)) {
  std::erase_if(folders_, [](const std::string& folder) { return !Exists(folder); });
}

std::vector<bool> GitObjects::Has(std::span<const GitObject> objects, Deadline deadline) const {
  std::vector<bool> has(objects.size());
  const bool sane = std::ranges::all_of(
      objects, [&](const GitObject& object) { return IsId(object.id, format_); });
  Result<SpawnOptions> options = CatFileOptions(format_, folders_, scratch_);
  if (objects.empty() || !sane || !options) return has;
  options->argv = {"git", "cat-file", "--batch-check", "--buffer"};
  for (const GitObject& object : objects) options->stdin_data += object.id + '\n';
  std::size_t next = 0;
  bool good = true;
  const auto heard = [&](std::string& text) {
    std::size_t at = 0;
    for (std::size_t end; good && next < objects.size(); at = end + 1, ++next) {
      end = text.find('\n', at);
      if (end == std::string::npos) break;
      const auto answer = ReadAnswer(std::string_view(text).substr(at, end - at));
      good = answer && answer->id == objects[next].id;
      has[next] = good && answer->is_blob && answer->size == objects[next].size &&
                  answer->size <= kMaxGitObject;
    }
    text.erase(0, at);
    return good && next < objects.size();
  };
  const Status asked = CatFile::Run(*std::move(options), deadline, heard);
  // What was not said is not there; what was said in a way that makes no sense is not either.
  if (!asked || !good) has.assign(objects.size(), false);
  return has;
}

Status GitObjects::Read(std::span<const std::string> ids, const Take& take,
                        Deadline deadline) const {
  if (ids.empty()) return {};
  for (const std::string& id : ids) {
    if (!IsId(id, format_)) return Fail(Code::kInvalid, "it is no id of an object");
  }
  ASSIGN_OR_RETURN(SpawnOptions options, CatFileOptions(format_, folders_, scratch_));
  options.argv = {"git", "cat-file", "--batch", "--buffer"};
  std::size_t begin = 0;
  const Take placed = [&](std::size_t which, std::string_view bytes) {
    return take(begin + which, bytes);
  };
  // At an object that is damaged git ends: it is asked again, for those behind it.
  for (int tries = 0;; ++tries) {
    const auto left = ids.subspan(begin);
    options.stdin_data.clear();
    for (const std::string& id : left) options.stdin_data += id + '\n';
    BatchReader reader(left, format_, placed);
    const auto heard = [&](std::string& text) { return reader.Hear(text); };
    const Status ran = CatFile::Run(options, deadline, heard);
    if (!reader.good()) return Fail(Code::kCorrupt, "git answered what makes no sense");
    if (ran || tries == kMaxDamaged || ran.error().code != Code::kUnavailable) return ran;
    begin += reader.next() + 1;
    if (begin >= ids.size()) return {};
  }
}

}  // namespace stet::tool
