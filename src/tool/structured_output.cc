// StructuredOutput: how a model gives an answer that must fit a schema. The registry checks the
// schema before a call gets here.
#include "tool/builtin.h"

namespace stet::tool {

namespace {

class StructuredOutputTool final : public Tool {
 public:
  StructuredOutputTool(std::string schema, std::function<void(const Raw&)> take)
      : schema_(std::move(schema)), take_(std::move(take)) {}

  [[nodiscard]] std::string_view name() const override { return kStructuredOutput; }
  [[nodiscard]] std::string_view description() const override {
    return "Gives your final answer. You must call it, once, when the work is done: only what its "
           "arguments say counts as the answer.";
  }
  [[nodiscard]] std::string_view schema() const override { return schema_; }

  [[nodiscard]] Result<Intent> Intend(const Raw&, const Workspace&) const override {
    Intent intent;
    intent.summary = "the answer";
    return intent;
  }

  Async<Outcome> Run(const Raw& args, Call&) override {
    take_(args);
    co_return Say("The answer was taken.");
  }

 private:
  std::string schema_;
  std::function<void(const Raw&)> take_;
};

}  // namespace

std::unique_ptr<Tool> MakeStructuredOutputTool(std::string schema,
                                               std::function<void(const Raw&)> take) {
  return std::make_unique<StructuredOutputTool>(std::move(schema), std::move(take));
}

}  // namespace stet::tool
