// AskUser: questions that only the person can answer. Asking is the lane's business; the tool says
// what is asked and gives back what was said.
#include <fmt/format.h>

#include "tool/args.h"
#include "tool/builtin.h"

namespace stet::tool {

namespace {

class AskUserTool final : public Tool {
 public:
  [[nodiscard]] std::string_view name() const override { return "AskUser"; }
  [[nodiscard]] std::string_view description() const override {
    return "Asks the user a question and waits for the answer.\n"
           "- Use it only for what the user must decide and you cannot find out yourself.\n"
           "- Give two to six options where you can; the user may answer something else.";
  }
  [[nodiscard]] std::string_view schema() const override {
    return R"({"type":"object","properties":{)"
           R"("question":{"type":"string","minLength":1,"maxLength":2000},)"
           R"("options":{"type":"array","maxItems":6,"items":{"type":"object","properties":{)"
           R"("label":{"type":"string","minLength":1,"maxLength":200},)"
           R"("description":{"type":"string","maxLength":1000}},)"
           R"("required":["label"],"additionalProperties":false}}},)"
           R"("required":["question"],"additionalProperties":false})";
  }
  [[nodiscard]] bool asks_user() const override { return true; }

  [[nodiscard]] Result<Intent> Intend(const Raw& args, const Workspace&) const override {
    Intent intent;
    intent.summary = Args(args).Text("question").value_or("");
    return intent;
  }

  Async<Outcome> Run(const Raw& args, Call& call) override {
    std::string question = Args(args).Text("question").value_or("");
    Raw options{std::string(Args(args).Get("options").text())};
    if (options.text.empty()) options.text = "[]";
    const Result<Raw> said = co_await call.ask(std::move(question), std::move(options));
    if (!said) co_return Problem(fmt::format("The user was not asked: {}.", said.error().message));
    if (const JsonView declined = JsonView(said->text)["declined"])
      co_return Problem(fmt::format("The user did not answer: {}", declined.StringOr("no reason")));
    co_return Say(fmt::format("The user answered: {}", JsonView(said->text).StringOr(said->text)));
  }
};

}  // namespace

std::unique_ptr<Tool> MakeAskUserTool() { return std::make_unique<AskUserTool>(); }

}  // namespace stet::tool
