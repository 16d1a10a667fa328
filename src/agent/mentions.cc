#include "agent/mentions.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "agent/items.h"
#include "agent/question.h"
#include "agent/session_tools.h"
#include "agent/settings.h"
#include "agent/unfinished.h"
#include "base/beneath.h"
#include "base/loop.h"
#include "json/writer.h"
#include "tool/image.h"
#include "tool/paths.h"
#include "tool/tool.h"

namespace stet::agent {
namespace {

constexpr std::size_t kMaxMentions = 20;
constexpr std::size_t kMaxPathBytes = 4096;

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view WithoutPunctuation(std::string_view path) {
  const std::size_t last = path.find_last_not_of(".,;:!?)]}>'\"");
  return last == std::string_view::npos ? "" : path.substr(0, last + 1);
}

/// The real path, if the text names a file that may be read unasked.
std::optional<std::string> Readable(const Workbench& bench, const std::string& mention) {
  const Result<tool::RealPath> real = tool::Resolve(mention, bench.workspace);
  if (!real || !real->exists) return std::nullopt;
  const Result<FileStat> stat = StatFile(real->path);
  if (!stat || !stat->is_file) return std::nullopt;
  if (!MayReadUnasked(bench.settings->rules, bench.workspace, real->path)) return std::nullopt;
  return real->path;
}

std::string_view TypeOfFile(const std::string& path) {
  // A real path, which was decided on: no link is followed in it any more.
  const Result<Beneath> file = Beneath::Open("/", path);
  const Result<Fd> fd = file ? file->OpenToRead() : std::unexpected(file.error());
  std::array<char, 16> head;
  const Result<std::size_t> got = fd ? Pread(fd->get(), head, 0) : std::unexpected(fd.error());
  return got ? tool::ImageType({head.data(), *got}) : std::string_view();
}

}  // namespace

std::vector<std::string> FindMentions(std::string_view text) {
  std::vector<std::string> found;
  for (std::size_t at = text.find('@'); at != std::string_view::npos && found.size() < kMaxMentions;
       at = text.find('@', at + 1)) {
    if (at > 0 && !IsBlank(text[at - 1]) && text[at - 1] != '(') continue;
    std::string_view path = text.substr(at + 1);
    if (path.starts_with('"')) {
      const std::size_t close = path.find('"', 1);
      path = close == std::string_view::npos ? "" : path.substr(1, close - 1);
    } else {
      path = WithoutPunctuation(path.substr(0, path.find_first_of(" \t\n\r")));
    }
    if (path.empty() || path.size() > kMaxPathBytes) continue;
    if (std::ranges::find(found, path) == found.end()) found.emplace_back(path);
  }
  return found;
}

Result<protocol::Blocks> MentionedImages(Workbench& bench, std::string_view text) {
  protocol::Blocks blocks;
  for (const std::string& mention : FindMentions(text)) {
    const std::optional<std::string> path = Readable(bench, mention);
    if (!path) continue;
    const std::string_view type = TypeOfFile(*path);
    if (type.empty()) continue;
    ASSIGN_OR_RETURN(const Beneath file, Beneath::Open("/", *path));
    const Result<Beneath::Content> read = file.Read(tool::kMaxImageBytes);
    if (!read)
      return Fail(Code::kInvalid,
                  fmt::format("{} is too large an image: {} bytes is the most. Make it smaller.",
                              mention, tool::kMaxImageBytes));
    protocol::ImageBlock image;
    image.media_type = type;
    ASSIGN_OR_RETURN(image.blob, bench.log.blobs().Put(read->bytes));
    blocks.emplace_back(std::move(image));
  }
  return blocks;
}

Async<Status> AppendMentions(Workbench& bench, std::string text, protocol::Stamp stamp,
                             CancelToken cancel) {
  tool::Tool* read = bench.tools.Find("Read");
  const std::vector<std::string> mentions = FindMentions(text);
  if (mentions.empty() || read == nullptr) co_return Status();
  if (!bench.files) {
    CO_ASSIGN_OR_RETURN(bench.files, ReadKnownFiles(bench.log, bench.own));
  }
  for (const std::string& mention : mentions) {
    const std::optional<std::string> path = Readable(bench, mention);
    if (!path || !TypeOfFile(*path).empty()) continue;
    Raw args{""};
    JsonWriter(args.text).BeginObject().Member("file_path", *path).EndObject();
    const tool::Intent decided{.reads = {*path}};
    tool::Call call{.tool_call_id = "",
                    .loop = bench.loop,
                    .workspace = bench.workspace,
                    .files = *bench.files,
                    .checkpoints = *bench.checkpoints,
                    .cancel = cancel,
                    .record_write = nullptr,
                    .record_task = nullptr,
                    .put_blob = nullptr,
                    .update = nullptr,
                    .ask = nullptr,
                    .editor = bench.editor,
                    .decided = &decided};
    const tool::Outcome outcome = co_await read->Run(args, call);
    if (outcome.is_error) continue;
    for (const protocol::FileFact& fact : outcome.reads) {
      bench.files->Learn(fact);
      CO_RETURN_IF_ERROR(AppendEvent(bench.log, fact, stamp));
    }
    NewItem item{.kind = item::kFileMention, .origin = "user", .content = ""};
    item.content = bench.redactor.Clean(fmt::format("The user mentions {}. It holds:\n{}", mention,
                                                    protocol::PlainText(outcome.content)));
    CO_RETURN_IF_ERROR(AppendItem(bench.log, std::move(item), stamp));
  }
  co_return Status();
}

}  // namespace stet::agent
