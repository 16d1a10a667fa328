// Read: a file as numbered lines, an image, or a notebook's cells.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/utf8.h"
#include "tool/args.h"
#include "tool/builtin.h"
#include "tool/image.h"
#include "tool/load.h"
#include "tool/notebook.h"
#include "tool/paths.h"
#include "tool/text_file.h"

namespace stet::tool {

namespace {

constexpr std::int64_t kMaxLines = 2000;
constexpr std::size_t kMaxLineBytes = 2000;
constexpr std::size_t kBytesPerToken = 3;
constexpr std::int64_t kShareOfWindow = 10;  // A tenth.
constexpr std::string_view kBlob = "blob:";  // Not a file: what the session keeps beside its log.

struct Wanted {
  std::int64_t offset = 1;
  std::int64_t limit = kMaxLines;
  bool lines = false;  // A part was asked for: show lines, whatever the file is.
};

Wanted WantedOf(const Args& args) {
  const auto offset = args.Int("offset");
  const auto limit = args.Int("limit");
  return {.offset = std::max<std::int64_t>(offset.value_or(1), 1),
          .limit = std::clamp<std::int64_t>(limit.value_or(kMaxLines), 1, kMaxLines),
          .lines = offset || limit};
}

std::size_t BudgetBytes(const Workspace& workspace) {
  return static_cast<std::size_t>(std::max<std::int64_t>(workspace.context_window, 1000)) *
         kBytesPerToken / kShareOfWindow;
}

/// The lines of a file that go to the model.
struct Page {
  std::string text;
  Lines seen;                     // Those shown in full.
  std::int64_t next = 0;          // The first that is not shown.
  std::vector<std::int64_t> cut;  // Shown in part.
};

Page MakePage(const std::vector<std::string_view>& lines, const Wanted& wanted,
              std::size_t budget) {
  const auto total = static_cast<std::int64_t>(lines.size());
  const std::int64_t end = std::min(total, wanted.offset - 1 + wanted.limit);
  // A line that is asked for alone may take all there is.
  const std::size_t max_line = wanted.limit == 1 ? budget : kMaxLineBytes;
  Page page;
  for (page.next = wanted.offset; page.next <= end; ++page.next) {
    std::string_view line = lines[static_cast<std::size_t>(page.next - 1)];
    const bool cut = line.size() > max_line;
    if (cut) line = line.substr(0, Utf8PrefixLength(line, max_line));
    const std::string shown = fmt::format("{:>6}\t{}{}\n", page.next, line, cut ? " [cut]" : "");
    if (!page.text.empty() && page.text.size() + shown.size() > budget) break;
    page.text += shown;
    if (cut)
      page.cut.push_back(page.next);
    else if (!page.seen.empty() && page.seen.back().second == page.next - 1)
      page.seen.back().second = page.next;
    else
      page.seen.emplace_back(page.next, page.next);
  }
  return page;
}

std::string Notes(const Page& page, const Wanted& wanted, std::int64_t total) {
  std::string notes;
  if (page.next <= total)
    notes += fmt::format("(Lines {} to {} of {}. Go on with offset={}.)\n", wanted.offset,
                         page.next - 1, total, page.next);
  if (!page.cut.empty())
    notes += fmt::format(
        "(Cut after {} bytes: {} line{}, the first is line {}. Read one alone with offset={}, "
        "limit=1.)\n",
        kMaxLineBytes, page.cut.size(), page.cut.size() == 1 ? "" : "s", page.cut.front(),
        page.cut.front());
  return notes;
}

class ReadTool final : public Tool {
 public:
  [[nodiscard]] std::string_view name() const override { return "Read"; }
  [[nodiscard]] std::string_view description() const override {
    return "Reads a file. Text comes as numbered lines: the number and a tab are not part of the "
           "file.\n"
           "- file_path is absolute or relative to the working directory.\n"
           "- Without offset and limit the file is shown from line 1: up to 2000 lines, fewer when "
           "they are long; the result says how to go on.\n"
           "- blob:NAME shows what a result named instead of showing it whole.\n"
           "- PNG, JPEG, GIF and WebP images are shown; notebooks are shown as cells.\n"
           "- A file must be read before it is edited or overwritten. For folders use Glob.";
  }
  [[nodiscard]] std::string_view schema() const override {
    return R"({"type":"object","properties":{)"
           R"("file_path":{"type":"string","description":"The file."},)"
           R"("offset":{"type":"integer","minimum":1,"description":"The first line, from 1."},)"
           R"("limit":{"type":"integer","minimum":1,"description":"How many lines."}},)"
           R"("required":["file_path"],"additionalProperties":false})";
  }
  [[nodiscard]] bool reads_only() const override { return true; }

  [[nodiscard]] Result<Intent> Intend(const Raw& args, const Workspace& workspace) const override {
    if (const std::string blob = Args(args).Text("file_path").value_or(""); blob.starts_with(kBlob))
      return Intent{.summary = "Read " + blob.substr(0, kBlob.size() + 8)};
    ASSIGN_OR_RETURN(RealPath file, Resolve(Args(args).Text("file_path").value_or(""), workspace));
    Intent intent;
    intent.summary = "Read " + Shown(file.path, workspace);
    intent.reads.push_back(std::move(file.path));
    return intent;
  }

  Async<Outcome> Run(const Raw& args, Call& call) override {
    const Args wanted(args);
    Result<Outcome> outcome = co_await ReadAny(wanted, call);
    co_return outcome ? *std::move(outcome) : Problem(outcome.error().Text());
  }

 private:
  static Result<Outcome> ReadBlob(const std::string& name, const Args& args, Call& call) {
    ASSIGN_OR_RETURN(const std::string bytes, call.get_blob(name));
    protocol::FileFact none;  // It is no file: nothing is known of one by it.
    none.path = std::string(kBlob) + name;
    return ShowBytes(bytes, WantedOf(args), call, none);
  }

  static Async<Result<Outcome>> ReadAny(const Args& args, Call& call) {
    if (const std::string path = args.Text("file_path").value_or(""); path.starts_with(kBlob))
      co_return ReadBlob(path.substr(kBlob.size()), args, call);
    CO_ASSIGN_OR_RETURN(const RealPath file,
                        ResolveDecided(args.Text("file_path").value_or(""), call));
    if (const auto stat = StatFile(file.path); stat && stat->is_dir)
      co_return Fail(Code::kInvalid,
                     fmt::format("{} is a folder. List its files with Glob.", file.path));
    const Result<Loaded> loaded = co_await Load(file.path, call);
    if (!loaded && loaded.error().code == Code::kNotFound)
      co_return Fail(Code::kNotFound,
                     fmt::format("{} does not exist. Look for it with Glob.", file.path));
    if (!loaded) co_return std::unexpected(loaded.error());

    protocol::FileFact fact{.op = "read", .path = file.path, .tool_call_id = call.tool_call_id};
    fact.before = fact.after = Sha256Hex(loaded->bytes);
    Result<Outcome> outcome = ShowBytes(loaded->bytes, WantedOf(args), call, fact);
    if (outcome) outcome->reads.push_back(std::move(fact));
    co_return outcome;
  }

  static Result<Outcome> ShowBytes(const std::string& bytes, const Wanted& wanted, Call& call,
                                   protocol::FileFact& fact) {
    if (const std::string_view type = ImageType(bytes); !type.empty())
      return ShowImage(bytes, type, call, fact.path);
    const TextFile file = DecodeText(bytes);
    if (file.binary)
      return Fail(Code::kInvalid,
                  fmt::format("{} is a binary file of {} bytes. Look into it with a program, such "
                              "as file or xxd.",
                              fact.path, bytes.size()));
    const std::size_t budget = BudgetBytes(call.workspace);
    if (fact.path.ends_with(".ipynb") && !wanted.lines) {
      auto cells = RenderNotebook(file.text, budget);
      if (cells)
        return Say(*cells +
                   "(To edit the notebook's JSON, read its lines first: give an offset.)\n");
    }
    return ShowLines(file, wanted, budget, fact);
  }

  static Result<Outcome> ShowImage(const std::string& bytes, std::string_view type, Call& call,
                                   const std::string& path) {
    if (bytes.size() > kMaxImageBytes)
      return Fail(Code::kInvalid, fmt::format("{} is an image of {} bytes; {} is the most that is "
                                              "shown. Make it smaller first.",
                                              path, bytes.size(), kMaxImageBytes));
    ASSIGN_OR_RETURN(std::string blob, call.put_blob(bytes));
    Outcome outcome = Say(fmt::format("{}, {} bytes", type, bytes.size()));
    outcome.content.emplace_back(
        protocol::ImageBlock{.media_type = std::string(type), .blob = std::move(blob)});
    return outcome;
  }

  static Result<Outcome> ShowLines(const TextFile& file, const Wanted& wanted, std::size_t budget,
                                   protocol::FileFact& fact) {
    const std::string text = ToLf(file.text);
    const std::vector<std::string_view> lines = SplitLines(text);
    const auto total = static_cast<std::int64_t>(lines.size());
    if (total > 0 && wanted.offset > total)
      return Fail(Code::kInvalid, fmt::format("{} has {} lines; offset {} is behind its end.",
                                              fact.path, total, wanted.offset));
    const Page page = MakePage(lines, wanted, budget);
    fact.coverage = KnownFiles::Coverage(page.seen, total);
    if (total == 0) return Say("(The file is empty.)");
    std::string shown = page.text + Notes(page, wanted, total);
    if (!file.exact)
      shown += "(Not valid text: bad bytes are shown as \uFFFD. Edit refuses such a file.)\n";
    return Say(std::move(shown));
  }
};

}  // namespace

std::unique_ptr<Tool> MakeReadTool() { return std::make_unique<ReadTool>(); }

}  // namespace stet::tool
