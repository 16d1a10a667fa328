// Lines of the Agent Client Protocol from arbitrary bytes: whatever comes, every answer is one line
// of JSON, every request that can be read is answered once, and nothing that a client or a model
// wrote upsets what is shown of it. There is no session: opening one fails.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "acp/agent.h"
#include "acp/asks.h"
#include "acp/listing.h"
#include "acp/options.h"
#include "acp/prompt.h"
#include "acp/tool_view.h"
#include "base/text.h"
#include "base/utf8.h"

namespace stet::fuzz {
namespace {

constexpr std::string_view kHello =
    R"({"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":1}})";

void CheckText(std::string_view json) {
  CHECK(CheckJson(json) && IsValidUtf8(json), "what is written is JSON");
  CHECK(json.find('\n') == std::string_view::npos, "and one line");
}

acp::Clients Nobody() {
  const auto none = [] { return Fail(Code::kUnavailable, "there is none"); };
  return {.sessions = none, .models = none, .live = none};
}

/// All that an agent says to these bytes.
std::string Converse(std::string_view bytes, bool greet) {
  static const int file = ::memfd_create("output", MFD_CLOEXEC);
  CHECK(file >= 0 && ::ftruncate(file, 0) == 0 && ::lseek(file, 0, SEEK_SET) == 0, "a file");
  acp::Output output([] {});
  {
    acp::Agent agent(Nobody(), output);
    if (greet) agent.Feed(std::string(kHello) + "\n");
    agent.Feed(bytes);
    agent.Finish();
  }
  while (!output.empty()) CHECK(output.WriteSome(file).has_value(), "a file takes everything");
  std::string all(static_cast<std::size_t>(::lseek(file, 0, SEEK_CUR)), '\0');
  CHECK(::pread(file, all.data(), all.size(), 0) == static_cast<ssize_t>(all.size()), "a file");
  return all;
}

void CheckAnswers(std::string_view bytes, bool greet) {
  std::map<std::string, int> open;
  if (greet) ++open["\"hello\""];
  for (const std::string_view line : SplitLines(bytes)) {
    rpc::Message message = rpc::ReadMessage(line);
    if (const auto* request = std::get_if<rpc::Request>(&message)) ++open[request->id.text];
    if (const auto* fault = std::get_if<rpc::Fault>(&message)) ++open[fault->id.text];
  }
  for (const std::string_view line : SplitLines(Converse(bytes, greet))) {
    CheckText(line);
    const JsonView id = JsonView(line)["id"];
    CHECK(id && !JsonView(line)["method"], "nothing is asked without a session");
    if (!id.is_null()) --open[std::string(id.text())];
  }
  for (const auto& [id, count] : open)
    CHECK(count == 0 || id == "null", "every request is answered once");
}

void CheckParts(const JsonView& json) {
  const Raw raw{std::string(json.text())};
  if (const Result<protocol::Send> send = acp::ReadPrompt(json, "/p"))
    CHECK(IsValidUtf8(send->text), "a text is UTF-8");
  const std::string word = json.StringOr("");
  (void)acp::PathOfUri(word);
  (void)acp::ListPage({}, {.cwd = {}, .cursor = word});
  (void)acp::ReadChoice(word, word, {});
  for (const char* tool : {"Read", "Write", "Edit", "Bash", "TodoWrite", "Other"}) {
    std::string shown;
    JsonWriter writer(shown);
    writer.BeginArray().String(acp::TitleOf(tool, raw));
    acp::WriteLocations(writer, acp::LocationsOf(tool, raw, "/p"));
    for (const acp::FileDiff& diff : acp::DiffsOf(tool, raw, "/p")) acp::WriteDiff(writer, diff);
    writer.EndArray();
    CheckText(shown);
  }
  if (const std::string plan = acp::PlanUpdate(raw); !plan.empty()) CheckText(plan);
}

void CheckAsks(const JsonView& json) {
  acp::Asks asks("s");
  const Raw raw{std::string(json.text())};
  protocol::PermissionAsk permission;
  permission.request_id = "r";
  permission.session_rule = json.StringOr("");
  CheckText(asks.Ask(permission, "{}")->params.text);
  protocol::QuestionAsk question;
  question.text = json.StringOr("");
  question.options = raw;
  question.question_id = "f";
  CheckText(asks.AskForm(question)->params.text);
  question.question_id = "p";
  CheckText(asks.AskPlan(question)->params.text);
  for (const char* id : {"r", "f", "p"}) {
    const std::optional<protocol::AskAnswer> answer = asks.Take(id, raw);
    CHECK(answer, "what was asked can be answered");
    if (const auto* said = std::get_if<protocol::QuestionAnswer>(&*answer))
      CheckText(said->answer.text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  CheckAnswers(bytes, size % 4 != 0);
  for (const std::string_view line : SplitLines(bytes)) {
    if (!IsValidUtf8(line) || !CheckJson(line)) continue;
    const JsonView json(line);
    CheckParts(json);
    CheckParts(json["params"]["prompt"]);
    CheckAsks(json);
    CheckAsks(json["result"]);
  }
  return 0;
}

}  // namespace stet::fuzz
