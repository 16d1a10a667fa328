// Write: a whole file, new or replaced.
#include <algorithm>

#include <fmt/format.h>

#include "base/hash.h"
#include "tool/args.h"
#include "tool/builtin.h"
#include "tool/change.h"
#include "tool/diff.h"
#include "tool/paths.h"

namespace stet::tool {

namespace {

/// The content as the old file's encoding and line ends have it.
std::string InStyleOf(const TextFile& old, const std::string& content) {
  // Content with "\r\n" in it says itself how its lines end.
  const bool convert = MostlyCrLf(old.text) && content.find("\r\n") == std::string::npos;
  return EncodeText(convert ? ToCrLf(content) : content, old.encoding);
}

Outcome Report(std::string_view verb, const Change& change, const std::string& content,
               const std::string& old_text) {
  const std::string new_text = ToLf(content);
  Outcome outcome = Say(fmt::format("{} {}: {} lines, {} bytes.", verb, change.path,
                                    SplitLines(new_text).size(), change.after.size()));
  outcome.details = FileDiff(old_text, new_text).Details();
  return outcome;
}

class WriteTool final : public Tool {
 public:
  [[nodiscard]] std::string_view name() const override { return "Write"; }
  [[nodiscard]] std::string_view description() const override {
    return "Writes a whole file: a new one, or all of one that exists.\n"
           "- file_path is absolute or relative to the working directory. Missing folders are made "
           "inside the project.\n"
           "- An existing file must have been read whole, and not changed since. To change a part "
           "of it use Edit.\n"
           "- An existing file keeps its mode, encoding and kind of line ends.";
  }
  [[nodiscard]] std::string_view schema() const override {
    return R"({"type":"object","properties":{)"
           R"("file_path":{"type":"string","description":"The file."},)"
           R"("content":{"type":"string","description":"All of its content."}},)"
           R"("required":["file_path","content"],"additionalProperties":false})";
  }

  [[nodiscard]] Result<Intent> Intend(const Raw& args, const Workspace& workspace) const override {
    ASSIGN_OR_RETURN(RealPath file, Resolve(Args(args).Text("file_path").value_or(""), workspace));
    Intent intent;
    intent.effects = true;
    intent.summary = "Write " + Shown(file.path, workspace);
    intent.writes.push_back(std::move(file.path));
    return intent;
  }

  Task<Outcome> Run(const Raw& args, Call& call) override {
    Result<Outcome> outcome = WriteAny(Args(args), call);
    co_return outcome ? *std::move(outcome) : Problem(outcome.error().Text());
  }

 private:
  static Result<Outcome> WriteAny(const Args& args, Call& call) {
    ASSIGN_OR_RETURN(const RealPath file,
                     Resolve(args.Text("file_path").value_or(""), call.workspace));
    const std::string content = args.Text("content").value_or("");
    if (content.size() > kMaxTextBytes)
      return Fail(Code::kInvalid, fmt::format("The content has {} bytes; {} is the most.",
                                              content.size(), kMaxTextBytes));
    return file.exists ? Replace(file, content, call) : Create(file, content, call);
  }

  static Result<Outcome> Create(const RealPath& file, const std::string& content, Call& call) {
    if (!file.in_project && !Exists(ParentDir(file.path)))
      return Fail(Code::kInvalid,
                  fmt::format("The folder {} does not exist, and folders are made inside {} only.",
                              ParentDir(file.path), call.workspace.project));
    const Change change{.path = file.path, .after = content};
    RETURN_IF_ERROR(Apply(call, change));
    return Report("Created", change, content, "");
  }

  static Result<Outcome> Replace(const RealPath& file, const std::string& content, Call& call) {
    Change change{.path = file.path};
    ASSIGN_OR_RETURN(change.before, ReadRegularFile(file.path, kMaxTextBytes));
    ASSIGN_OR_RETURN(const KnownFile* known,
                     CheckKnown(call.files, file.path, Sha256Hex(change.before->bytes)));
    if (!known->whole())
      return Fail(
          Code::kConflict,
          fmt::format("{} was read only in part. Read the rest first, or use Edit.", file.path));
    const TextFile old = DecodeText(change.before->bytes);
    if (!old.exact)
      return Fail(
          Code::kInvalid,
          fmt::format("{} is {}, and is not overwritten: what cannot be shown would be lost. "
                      "Use a program that knows its format, or remove it first.",
                      file.path, old.binary ? "binary" : "not valid UTF-8"));
    change.after = InStyleOf(old, content);
    if (change.after == change.before->bytes)
      return Say(fmt::format("{} has this content already. Nothing was written.", file.path));
    RETURN_IF_ERROR(Apply(call, change));
    return Report("Updated", change, content, ToLf(old.text));
  }
};

}  // namespace

std::unique_ptr<Tool> MakeWriteTool() { return std::make_unique<WriteTool>(); }

}  // namespace stet::tool
