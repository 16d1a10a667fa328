// TodoWrite: the model's list of what is to be done. The list lives in the log, as the arguments of
// the last call; the tool keeps none.
#include <algorithm>

#include <fmt/format.h>

#include "tool/args.h"
#include "tool/builtin.h"

namespace stet::tool {

namespace {

struct Todo {
  std::string content;
  std::string status;
};

std::vector<Todo> TodosOf(const Args& args) {
  std::vector<Todo> todos;
  args.Get("todos").ForEach([&](JsonView todo) {
    todos.push_back({todo["content"].StringOr(""), todo["status"].StringOr("")});
  });
  return todos;
}

std::size_t Count(const std::vector<Todo>& todos, std::string_view status) {
  return static_cast<std::size_t>(
      std::ranges::count_if(todos, [&](const Todo& todo) { return todo.status == status; }));
}

std::string_view Box(std::string_view status) {
  return status == "completed" ? "[x]" : status == "in_progress" ? "[>]" : "[ ]";
}

class TodoWriteTool final : public Tool {
 public:
  [[nodiscard]] std::string_view name() const override { return "TodoWrite"; }
  [[nodiscard]] std::string_view description() const override {
    return "Replaces your list of tasks. Use it for work of several steps, so that the user sees "
           "the plan and where you are.\n"
           "- Give the whole list each time.\n"
           "- At most one task is in_progress. Mark a task completed as soon as it is done.";
  }
  [[nodiscard]] std::string_view schema() const override {
    return R"({"type":"object","properties":{"todos":{"type":"array","maxItems":200,)"
           R"("description":"The whole list.","items":{"type":"object","properties":{)"
           R"("content":{"type":"string","minLength":1,"description":"What is to be done."},)"
           R"("status":{"type":"string","enum":["pending","in_progress","completed"]},)"
           R"("activeForm":{"type":"string","description":"The same while it is being done."}},)"
           R"("required":["content","status"],"additionalProperties":false}}},)"
           R"("required":["todos"],"additionalProperties":false})";
  }

  [[nodiscard]] Result<Intent> Intend(const Raw& args, const Workspace&) const override {
    const std::vector<Todo> todos = TodosOf(Args(args));
    if (Count(todos, "in_progress") > 1)
      return Fail(Code::kInvalid, "At most one task may be in_progress. The list is unchanged.");
    Intent intent;
    intent.summary = fmt::format("{} tasks", todos.size());
    return intent;
  }

  Async<Outcome> Run(const Raw& args, Call&) override {
    const std::vector<Todo> todos = TodosOf(Args(args));
    std::string text = fmt::format("The list now ({} of {} completed):\n",
                                   Count(todos, "completed"), todos.size());
    for (const Todo& todo : todos) text += fmt::format("{} {}\n", Box(todo.status), todo.content);
    co_return Say(todos.empty() ? "The list is empty now." : std::move(text));
  }
};

}  // namespace

std::unique_ptr<Tool> MakeTodoWriteTool() { return std::make_unique<TodoWriteTool>(); }

}  // namespace stet::tool
