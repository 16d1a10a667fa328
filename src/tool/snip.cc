// Snip: how a model leaves out a turn that it needs no longer. Nothing is lost: the log keeps it,
// and it can be shown again. The Snipper that the tool is made with does the work.
#include "tool/args.h"
#include "tool/builtin.h"

namespace stet::tool {

namespace {

class SnipTool final : public Tool {
 public:
  explicit SnipTool(Snipper snip) : snip_(std::move(snip)) {}

  [[nodiscard]] std::string_view name() const override { return "Snip"; }
  [[nodiscard]] std::string_view description() const override {
    return "Leaves a finished turn out of the conversation, to make room: one whose details are "
           "no longer needed.\n"
           "- Without arguments it lists the turns that can be named, the newest first.\n"
           "- It can be undone: nothing is lost.";
  }
  [[nodiscard]] std::string_view schema() const override {
    return R"({"type":"object","properties":{)"
           R"("turn":{"type":"string","minLength":1,"maxLength":200,)"
           R"("description":"The turn, as it is listed."},)"
           R"("undo":{"type":"boolean","description":"Show it again."}},)"
           R"("additionalProperties":false})";
  }

  [[nodiscard]] Result<Intent> Intend(const Raw& args, const Workspace&) const override {
    const std::optional<std::string> turn = Args(args).Text("turn");
    if (!turn && Args(args).Flag("undo"))
      return Fail(Code::kInvalid, "Name the turn that is to be shown again.");
    Intent intent;
    intent.summary = turn.value_or("which turns there are");
    return intent;
  }

  Async<Outcome> Run(const Raw& args, Call&) override {
    const Result<std::string> done = snip_(Args(args).Text("turn"), Args(args).Flag("undo"));
    if (!done) co_return Problem(done.error().message);
    co_return Say(*done);
  }

 private:
  Snipper snip_;
};

}  // namespace

std::unique_ptr<Tool> MakeSnipTool(Snipper snip) {
  return std::make_unique<SnipTool>(std::move(snip));
}

}  // namespace stet::tool
