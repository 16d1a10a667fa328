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

  Async<Outcome> Run(const Raw& args, Call& call) override {
    const Args wanted(args);
    Result<Outcome> outcome = co_await WriteAny(wanted, call);
    co_return outcome ? *std::move(outcome) : Problem(outcome.error().Text());
  }

 private:
  static Async<Result<Outcome>> WriteAny(const Args& args, Call& call) {
    CO_ASSIGN_OR_RETURN(const RealPath file,
                        ResolveDecided(args.Text("file_path").value_or(""), call));
    const std::string content = args.Text("content").value_or("");
    if (content.size() > kMaxTextBytes)
      co_return Fail(Code::kInvalid, fmt::format("The content has {} bytes; {} is the most.",
                                                 content.size(), kMaxTextBytes));
    Result<Loaded> old = co_await Load(file.path, call);
    if (!old && old.error().code == Code::kNotFound && !file.exists)
      co_return co_await Create(file, content, call);
    if (!old) co_return std::unexpected(std::move(old).error());
    Change change{.path = file.path};
    change.before = *std::move(old);
    co_return co_await Replace(change, content, call);
  }

  static Async<Result<Outcome>> Create(const RealPath& file, const std::string& content,
                                       Call& call) {
    if (!file.in_project && !Exists(ParentDir(file.path)))
      co_return Fail(
          Code::kInvalid,
          fmt::format("The folder {} does not exist, and folders are made inside {} only.",
                      ParentDir(file.path), call.workspace.project));
    const Change change{.path = file.path, .after = content};
    CO_RETURN_IF_ERROR(co_await Apply(call, change));
    co_return Report("Created", change, content, "");
  }

  static Async<Result<Outcome>> Replace(Change& change, const std::string& content, Call& call) {
    const std::string& path = change.path;
    CO_ASSIGN_OR_RETURN(const KnownFile* known,
                        CheckKnown(call.files, path, Sha256Hex(change.before->bytes)));
    if (!known->whole())
      co_return Fail(
          Code::kConflict,
          fmt::format("{} was read only in part. Read the rest first, or use Edit.", path));
    const TextFile old = DecodeText(change.before->bytes);
    if (!old.exact)
      co_return Fail(
          Code::kInvalid,
          fmt::format("{} is {}, and is not overwritten: what cannot be shown would be lost. "
                      "Use a program that knows its format, or remove it first.",
                      path, old.binary ? "binary" : "not valid UTF-8"));
    change.after = InStyleOf(old, content);
    if (change.after == change.before->bytes)
      co_return Say(fmt::format("{} has this content already. Nothing was written.", path));
    CO_RETURN_IF_ERROR(co_await Apply(call, change));
    co_return Report("Updated", change, content, ToLf(old.text));
  }
};

}  // namespace

std::unique_ptr<Tool> MakeWriteTool() { return std::make_unique<WriteTool>(); }

}  // namespace stet::tool
