// Edit: exact replacements in a file, all of them or none.
#include <algorithm>

#include <fmt/format.h>

#include "base/hash.h"
#include "tool/args.h"
#include "tool/builtin.h"
#include "tool/change.h"
#include "tool/diff.h"
#include "tool/near_match.h"
#include "tool/paths.h"

namespace stet::tool {

namespace {

constexpr std::size_t kMaxPlacesNamed = 10;
constexpr std::size_t kMaxExcerptLines = 60;

struct Replacement {
  std::string old_text;
  std::string new_text;
  bool all = false;
};

Replacement ReplacementOf(const Args& args) {
  return {.old_text = args.Text("old_string").value_or(""),
          .new_text = ToLf(args.Text("new_string").value_or("")),
          .all = args.Flag("replace_all")};
}

Status CheckReplacement(const Replacement& edit) {
  if (edit.old_text.empty())
    return Fail(Code::kInvalid, "old_string is empty. To make a new file use Write.");
  if (ToLf(edit.old_text) == edit.new_text)
    return Fail(Code::kInvalid, "old_string and new_string are the same: nothing would change.");
  return {};
}

Result<std::vector<Replacement>> ReplacementsOf(const Args& args) {
  std::vector<Replacement> edits;
  const bool single = args.Get("old_string") && args.Get("new_string");
  if (args.Get("edits") && !args.Get("old_string") && !args.Get("new_string")) {
    args.Get("edits").ForEach([&](JsonView edit) { edits.push_back(ReplacementOf(Args(edit))); });
  } else if (single && !args.Get("edits")) {
    edits.push_back(ReplacementOf(args));
  }
  if (edits.empty())
    return Fail(Code::kInvalid, "Give either old_string and new_string, or edits.");
  for (std::size_t i = 0; i < edits.size(); ++i) {
    auto checked = CheckReplacement(edits[i]);
    if (!checked && edits.size() == 1) return std::unexpected(std::move(checked).error());
    if (!checked)
      return Fail(Code::kInvalid, fmt::format("Edit {}: {}", i + 1, checked.error().message));
  }
  return edits;
}

/// The text of a file while it is edited, and which of its lines the model has seen.
class Draft {
 public:
  Draft(std::string text, const KnownFile& known) : text_(std::move(text)), lf_(text_) {
    const auto total = static_cast<std::int64_t>(SplitLines(lf_.text()).size());
    seen_.resize(static_cast<std::size_t>(total), known.whole());
    if (known.whole()) return;
    for (std::int64_t line = 1; line <= total; ++line)
      seen_[static_cast<std::size_t>(line - 1)] = known.Covers(line, line);
  }

  /// With the file's own line ends.
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::string& lf_text() const { return lf_.text(); }

  /// How many places were changed. On failure nothing is.
  Result<std::size_t> Replace(Replacement edit) {
    // As it was given first: in a file with odd line ends a "\r" before a "\n" is a character.
    if (!lf_text().contains(edit.old_text)) edit.old_text = ToLf(edit.old_text);
    ASSIGN_OR_RETURN(const std::vector<std::size_t> places, Find(edit));
    RETURN_IF_ERROR(CheckSize(places.size(), edit));
    RETURN_IF_ERROR(CheckSeen(places, edit));
    MarkSeen(places, edit);
    Splice(places, edit);
    return places.size();
  }

  [[nodiscard]] std::optional<Raw> Coverage() const {
    if (std::ranges::all_of(seen_, [](bool seen) { return seen; })) return std::nullopt;
    Lines lines;
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      const auto number = static_cast<std::int64_t>(i + 1);
      if (!seen_[i]) continue;
      if (!lines.empty() && lines.back().second == number - 1)
        lines.back().second = number;
      else
        lines.emplace_back(number, number);
    }
    return KnownFiles::Coverage(lines, static_cast<std::int64_t>(seen_.size()));
  }

 private:
  /// The line of `place`, when the line of `from`, before it, is known.
  [[nodiscard]] std::int64_t LineOf(std::size_t place, std::size_t from = 0,
                                    std::int64_t line = 1) const {
    const auto begin = lf_text().begin();
    return line + std::count(begin + static_cast<std::ptrdiff_t>(from),
                             begin + static_cast<std::ptrdiff_t>(place), '\n');
  }

  [[nodiscard]] Result<std::vector<std::size_t>> Find(const Replacement& edit) const {
    std::vector<std::size_t> places;
    for (std::size_t at = lf_text().find(edit.old_text); at != std::string::npos;
         at = lf_text().find(edit.old_text, at + edit.old_text.size()))
      places.push_back(at);
    if (places.empty())
      return Fail(Code::kInvalid, fmt::format("old_string was not found. {}",
                                              ExplainNoMatch(lf_text(), edit.old_text)));
    if (places.size() == 1 || edit.all) return places;
    std::vector<std::int64_t> lines;
    for (const std::size_t place : places)
      if (lines.size() < kMaxPlacesNamed) lines.push_back(LineOf(place));
    return Fail(Code::kInvalid,
                fmt::format("old_string was found {} times, at lines {}{}. Give more of the text "
                            "around the one you mean, or set replace_all.",
                            places.size(), fmt::join(lines, ", "),
                            places.size() > lines.size() ? ", ..." : ""));
  }

  /// Before anything is built: many places times a long text is more than the memory.
  [[nodiscard]] Status CheckSize(std::size_t places, const Replacement& edit) const {
    const std::size_t size = text_.size() + places * edit.new_text.size();
    if (edit.new_text.size() <= kMaxTextBytes && size <= 2 * kMaxTextBytes) return {};
    return Fail(Code::kInvalid, "The file would become too large.");
  }

  [[nodiscard]] Status CheckSeen(const std::vector<std::size_t>& places,
                                 const Replacement& edit) const {
    const auto more = std::count(edit.old_text.begin(), edit.old_text.end() - 1, '\n');
    std::int64_t first = 1;
    std::size_t at = 0;
    for (const std::size_t place : places) {
      first = LineOf(place, std::exchange(at, place), first);
      for (std::int64_t line = first; line <= first + more; ++line)
        if (!seen_[static_cast<std::size_t>(line - 1)])
          return Fail(
              Code::kConflict,
              fmt::format("Line {} was not read yet, or was cut. Read lines {} to {} first.", line,
                          first, first + more));
    }
    return {};
  }

  /// What was put in is known; what was joined to it is as known as before.
  void MarkSeen(const std::vector<std::size_t>& places, const Replacement& edit) {
    std::vector<bool> next;
    std::size_t old_line = 0;
    bool line_open = false;
    bool line_seen = true;
    const auto pass = [&](std::string_view piece, bool kept) {
      for (const char c : piece) {
        line_open = true;
        if (kept) line_seen = line_seen && seen_[old_line];
        if (c != '\n') continue;
        if (kept) ++old_line;
        next.push_back(line_seen);
        line_open = false;
        line_seen = true;
      }
    };
    std::size_t at = 0;
    const std::string_view text = lf_text();
    for (const std::size_t place : places) {
      pass(text.substr(at, place - at), true);
      pass(edit.new_text, false);
      old_line += static_cast<std::size_t>(std::ranges::count(edit.old_text, '\n'));
      at = place + edit.old_text.size();
    }
    pass(text.substr(at), true);
    if (line_open) next.push_back(line_seen);
    seen_ = std::move(next);
  }

  void Splice(const std::vector<std::size_t>& places, const Replacement& edit) {
    std::string next;
    std::size_t at = 0;
    for (const std::size_t place : places) {
      const std::size_t from = lf_.InOriginal(place);
      next.append(text_, at, from - at);
      next += lf_.CrLfNear(place) ? ToCrLf(edit.new_text) : edit.new_text;
      at = lf_.InOriginal(place + edit.old_text.size());
    }
    next.append(text_, at);
    text_ = std::move(next);
    lf_ = LfText(text_);
  }

  std::string text_;
  LfText lf_;
  std::vector<bool> seen_;  // By line, from 0.
};

class EditTool final : public Tool {
 public:
  [[nodiscard]] std::string_view name() const override { return "Edit"; }
  [[nodiscard]] std::string_view description() const override {
    return "Replaces text in a file.\n"
           "- Give old_string and new_string, or several as edits: they are done in order, all or "
           "none.\n"
           "- old_string must be in the file exactly, blanks included, without the line numbers of "
           "Read, and once: give enough of the lines around it, or set replace_all.\n"
           "- The lines must have been read before, and the file not changed since.\n"
           "- Write \\n for line ends: the file's own kind is kept.";
  }
  [[nodiscard]] std::string_view schema() const override {
    return R"({"type":"object","properties":{)"
           R"("file_path":{"type":"string","description":"The file."},)"
           R"("old_string":{"type":"string","description":"The text to replace."},)"
           R"("new_string":{"type":"string","description":"What to put in its place."},)"
           R"("replace_all":{"type":"boolean","description":"Every place, not only one."},)"
           R"("edits":{"type":"array","minItems":1,"maxItems":100,)"
           R"("description":"Several replacements, instead of old_string and new_string.",)"
           R"("items":{"type":"object","properties":{"old_string":{"type":"string"},)"
           R"("new_string":{"type":"string"},"replace_all":{"type":"boolean"}},)"
           R"("required":["old_string","new_string"],"additionalProperties":false}}},)"
           R"("required":["file_path"],"additionalProperties":false})";
  }

  [[nodiscard]] Result<Intent> Intend(const Raw& args, const Workspace& workspace) const override {
    RETURN_IF_ERROR(ReplacementsOf(Args(args)));
    ASSIGN_OR_RETURN(RealPath file, Resolve(Args(args).Text("file_path").value_or(""), workspace));
    Intent intent;
    intent.effects = true;
    intent.summary = "Edit " + Shown(file.path, workspace);
    intent.writes.push_back(std::move(file.path));
    return intent;
  }

  Async<Outcome> Run(const Raw& args, Call& call) override {
    const Args wanted(args);
    Result<Outcome> outcome = co_await EditFile(wanted, call);
    co_return outcome ? *std::move(outcome) : Problem(outcome.error().Text());
  }

 private:
  static Async<Result<Outcome>> EditFile(const Args& args, Call& call) {
    CO_ASSIGN_OR_RETURN(const std::vector<Replacement> edits, ReplacementsOf(args));
    CO_ASSIGN_OR_RETURN(const RealPath file,
                        ResolveDecided(args.Text("file_path").value_or(""), call));
    Result<Loaded> loaded = co_await Load(file.path, call);
    if (!loaded && loaded.error().code == Code::kNotFound)
      co_return Fail(Code::kNotFound,
                     fmt::format("{} does not exist. To make a new file use Write.", file.path));
    if (!loaded) co_return std::unexpected(std::move(loaded).error());
    Change change{.path = file.path};
    change.before = *std::move(loaded);
    const TextFile old = DecodeText(change.before->bytes);
    if (!old.exact)
      co_return Fail(Code::kInvalid,
                     fmt::format("{} is {}, and is not edited: it would be damaged. "
                                 "Use a program that knows its format.",
                                 file.path, old.binary ? "binary" : "not valid UTF-8"));
    CO_ASSIGN_OR_RETURN(const KnownFile* known,
                        CheckKnown(call.files, file.path, Sha256Hex(change.before->bytes)));
    Draft draft(old.text, *known);
    const std::string before = draft.lf_text();
    CO_ASSIGN_OR_RETURN(const std::size_t count, ReplaceAll(draft, edits, file.path));
    change.after = EncodeText(draft.text(), old.encoding);
    if (change.after.size() > kMaxTextBytes)
      co_return Fail(Code::kInvalid, fmt::format("{} would have {} bytes; {} is the most.",
                                                 file.path, change.after.size(), kMaxTextBytes));
    change.coverage = draft.Coverage();
    CO_RETURN_IF_ERROR(co_await Apply(call, change));
    co_return Report(file.path, count, FileDiff(before, draft.lf_text()));
  }

  static Result<std::size_t> ReplaceAll(Draft& draft, const std::vector<Replacement>& edits,
                                        const std::string& path) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < edits.size(); ++i) {
      auto replaced = draft.Replace(edits[i]);
      if (!replaced) {
        const std::string which = edits.size() > 1 ? fmt::format("edit {}: ", i + 1) : "";
        return Fail(replaced.error().code, fmt::format("{}: {}{} Nothing was changed.", path, which,
                                                       replaced.error().message));
      }
      count += *replaced;
    }
    return count;
  }

  static Outcome Report(const std::string& path, std::size_t count, const FileDiff& diff) {
    Outcome outcome = Say(fmt::format("Edited {}: {} replacement{}.\n{}", path, count,
                                      count == 1 ? "" : "s", diff.Excerpt(kMaxExcerptLines)));
    outcome.details = diff.Details();
    return outcome;
  }
};

}  // namespace

std::unique_ptr<Tool> MakeEditTool() { return std::make_unique<EditTool>(); }

}  // namespace stet::tool
