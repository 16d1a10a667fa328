// ExitPlan: shows the user a plan. Approved, the session leaves plan mode; the loop sees to that.
#include <fmt/format.h>

#include "tool/args.h"
#include "tool/builtin.h"

namespace stet::tool {

namespace {

constexpr std::string_view kApprove = "Approve";

class ExitPlanTool final : public Tool {
 public:
  [[nodiscard]] std::string_view name() const override { return "ExitPlan"; }
  [[nodiscard]] std::string_view description() const override {
    return "Shows the user your plan and asks to carry it out. Only in plan mode, where nothing "
           "can "
           "be written or run: call it when the plan is complete, not to ask questions.";
  }
  [[nodiscard]] std::string_view schema() const override {
    return R"({"type":"object","properties":{)"
           R"("plan":{"type":"string","minLength":1,"maxLength":20000,)"
           R"("description":"The whole plan, in Markdown."}},)"
           R"("required":["plan"],"additionalProperties":false})";
  }
  [[nodiscard]] bool asks_user() const override { return true; }

  [[nodiscard]] Result<Intent> Intend(const Raw&, const Workspace&) const override {
    Intent intent;
    intent.summary = "Show the plan";
    return intent;
  }

  Async<Outcome> Run(const Raw& args, Call& call) override {
    if (!call.planning) co_return Problem("This is no plan mode: there is nothing to leave.");
    std::string question = "Carry out this plan?\n\n" + Args(args).Text("plan").value_or("");
    Raw options{fmt::format(R"([{{"label":"{}"}},{{"label":"Keep planning"}}])", kApprove)};
    const Result<Raw> said = co_await call.ask(std::move(question), std::move(options));
    if (!said)
      co_return Problem(fmt::format("The plan was not approved: {}.", said.error().message));
    const JsonView answer(said->text);
    if (answer.StringOr("") != kApprove)
      co_return Problem(fmt::format("The user did not approve the plan, and said: {}",
                                    answer["declined"].StringOr(answer.StringOr(said->text))));
    Outcome outcome = Say("The user has approved the plan. Carry it out.");
    outcome.plan_approved = true;
    co_return outcome;
  }
};

}  // namespace

std::unique_ptr<Tool> MakeExitPlanTool() { return std::make_unique<ExitPlanTool>(); }

}  // namespace stet::tool
