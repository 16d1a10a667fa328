// The emulator as a program: what arrives over a real socket, and how it ends.
#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/source_dir_fixture.h"
#include "emulator/raw_client_fixture.h"
#include "json/schema/schema.h"
#include "json/view.h"
#include "tests/scenario/program.h"
#include "tests/scenario/running_emulator.h"

namespace stet::scenario {
namespace {

using emulator::Endpoint;
using emulator::kEndpoints;
using emulator::RawClient;
using End = RawClient::End;

std::string WithFault(std::string_view fault) {
  return fmt::format(
      R"({{"replies":[{{"times":0,"blocks":[{{"text":"abcdef"}}],"fault":{{{}}}}}]}})", fault);
}

TEST(EmulatorProgramTest, EveryDialectAnswersAndIsRecordedAndTermEndsIt) {
  RunningEmulator emulator(
      R"({"replies":[{"times":0,"blocks":[{"text":"hi"}],"usage":{"input":3,"output":4}}]})");
  std::string listed;
  for (const Endpoint& endpoint : kEndpoints) {
    EXPECT_NE(RawClient::BodyOf(emulator.Ask(endpoint)).find("\"hi\""), std::string::npos);
    listed = emulator.Requests();  // Waits for the end of the request, and so for its line.
  }
  const Finished finished = emulator.End(SIGTERM);
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_EQ(finished.out, fmt::format("listening on http://127.0.0.1:{}\n", emulator.port()));
  std::string lines = *ReadFile(emulator.record());
  std::size_t at = 0;
  for (const Endpoint& endpoint : kEndpoints) {
    const std::string line = lines.substr(at, lines.find('\n', at) - at);
    at += line.size() + 1;
    EXPECT_NE(listed.find(line), std::string::npos);
    EXPECT_EQ(JsonView(line)["dialect"].StringOr(""), endpoint.dialect);
    EXPECT_EQ(JsonView(line)["body"].text(), endpoint.body);
    EXPECT_EQ(JsonView(line)["usage"]["output"].IntOr(0), 4);
  }
  EXPECT_EQ(at, lines.size());
}

TEST(EmulatorProgramTest, IntEndsItInTheMiddleOfAStream) {
  RunningEmulator emulator(WithFault(R"("kind":"stall","afterEvents":2)"));
  RawClient client(emulator.port());
  client.Post(kEndpoints[1]);
  client.ReadUntil([](const std::string& bytes) { return bytes.find("abc") != std::string::npos; });
  EXPECT_EQ(emulator.End(SIGINT).exit_code, 0);
  EXPECT_NE(client.ReadToEnd(), End::kOpen);
}

TEST(EmulatorProgramTest, ByteByByteIsTheSame) {
  const RunningEmulator emulator(R"({"replies":[]})");
  for (const Endpoint& endpoint : kEndpoints) {
    emulator.SetScript(
        R"({"replies":[{"blocks":[{"thinking":"hm"},{"text":"ünï 👍"}],"delta":1}]})");
    const std::string whole = emulator.Ask(endpoint);
    emulator.SetScript(
        R"({"replies":[{"blocks":[{"thinking":"hm"},{"text":"ünï 👍"}],"delta":1,"write":1}]})");
    EXPECT_EQ(emulator.Ask(endpoint), whole);
  }
}

TEST(EmulatorProgramTest, EveryFaultDoesWhatItSaysInEveryDialect) {
  const RunningEmulator emulator(R"({"replies":[]})");
  for (const Endpoint& endpoint : kEndpoints) {
    const auto ask = [&](std::string_view fault, std::chrono::milliseconds patience) {
      emulator.SetScript(WithFault(fault));
      RawClient client(emulator.port());
      client.Post(endpoint);
      const End end = client.ReadToEnd(patience);
      return std::pair(end, client.received());
    };
    const auto answer = [&](std::string_view fault) {
      emulator.SetScript(WithFault(fault));
      return emulator.Ask(endpoint);
    };
    const auto events = [](const std::string& bytes) {
      return RawClient::DataOf(RawClient::BodyOf(bytes));
    };
    emulator.SetScript(R"({"replies":[{"blocks":[{"text":"abcdef"}]}]})");
    const std::size_t sound = events(emulator.Ask(endpoint)).size();
    constexpr std::chrono::milliseconds kMoment{100};

    EXPECT_EQ(ask(R"("kind":"reset")", kPatience), std::pair(End::kReset, std::string()));
    EXPECT_EQ(ask(R"("kind":"close")", kPatience), std::pair(End::kClosed, std::string()));
    EXPECT_EQ(ask(R"("kind":"half_open")", kMoment), std::pair(End::kOpen, std::string()));
    const auto reset = ask(R"("kind":"reset","afterEvents":1)", kPatience);
    EXPECT_EQ(reset.first, End::kReset);
    EXPECT_EQ(events(reset.second).size(), 1u);
    const auto cut = ask(R"("kind":"close","afterBytes":25)", kPatience);
    EXPECT_EQ(cut.first, End::kClosed);
    EXPECT_EQ(RawClient::BodyOf(cut.second).size(), 25u);
    const auto stalled = ask(R"("kind":"stall","afterEvents":2)", kMoment);
    EXPECT_EQ(stalled.first, End::kOpen);
    EXPECT_EQ(events(stalled.second).size(), 2u);
    EXPECT_EQ(events(answer(R"("kind":"drip","ms":0)")).size(), sound);
    EXPECT_FALSE(CheckJson(events(answer(R"("kind":"malformed","afterEvents":1)")).at(1)));
    EXPECT_GT(events(answer(R"("kind":"giant","bytes":100000)")).at(0).size(), 99'000u);
    const auto failed = events(answer(R"("kind":"error_event","afterEvents":1,"message":"boom")"));
    ASSERT_EQ(failed.size(), 2u);
    EXPECT_NE(failed[1].find("boom"), std::string::npos);
    const auto open = ask(R"("kind":"no_end")", kPatience);
    EXPECT_EQ(open.first, End::kClosed);
    EXPECT_LT(events(open.second).size(), sound);
    EXPECT_TRUE(open.second.ends_with("\r\n0\r\n\r\n"));
    EXPECT_NE(answer(R"("kind":"content_type")").find("text/html"), std::string::npos);
    EXPECT_NE(answer(R"("kind":"json_error_200")").find("\"error\""), std::string::npos);
    EXPECT_TRUE(answer(R"("kind":"status","status":404)").starts_with("HTTP/1.1 404 "));
    const bool anthropic = endpoint.dialect == "anthropic-messages";
    EXPECT_TRUE(
        answer(R"("kind":"overload")").starts_with(anthropic ? "HTTP/1.1 529" : "HTTP/1.1 503"));
  }
}

TEST(EmulatorProgramTest, WrongUsageAndWrongScriptsAreSaid) {
  const Program program;
  EXPECT_EQ(program.Run({"emulator"}).exit_code, 2);
  EXPECT_EQ(program.Run({"emulator", "--script"}).exit_code, 2);
  EXPECT_EQ(program.Run({"emulator", "--script", "a", "--port", "x"}).exit_code, 2);
  EXPECT_EQ(program.Run({"emulator", "--what", "a"}).exit_code, 2);
  const Ran help = program.Run({"emulator", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_NE(help.out.find("--script FILE"), std::string::npos);
  EXPECT_EQ(program.Run({"emulator", "--script", "missing.json"}).exit_code, 1);
  ASSERT_TRUE(
      ReplaceFile(program.work() + "/bad.json", R"({"replies":[{"stop":1}]})", Durable::kNo));
  const Ran bad = program.Run({"emulator", "--script", "bad.json"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_EQ(bad.err, "stet emulator: bad.json: the script, reply 1: stop: must be a string\n");
}

class WireSchemaTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!Exists(folder_)) GTEST_SKIP() << "made by scripts/wire_schemas: " << folder_;
  }

  [[nodiscard]] JsonSchema Schema(std::string_view name) const {
    const Result<std::string> text = ReadFile(fmt::format("{}/{}.json", folder_, name));
    EXPECT_TRUE(text) << text.error().Text();
    Result<JsonSchema> schema = JsonSchema::Parse(*text);
    EXPECT_TRUE(schema) << schema.error().Text();
    return *std::move(schema);
  }

  std::string folder_ = SourceDir() + "/build/wire/schemas";
};

/// Members that the official types do not have, for good reason: events of the stream itself, and
/// how other servers send reasoning.
bool IsOutsideTheTypes(std::string_view dialect, std::string_view data) {
  if (dialect == "anthropic-messages") return JsonView(data)["type"].StringOr("") == "ping";
  return data == "[DONE]" || data.find("reasoning_content") != std::string_view::npos;
}

TEST_F(WireSchemaTest, EventsFitTheOfficialTypes) {
  constexpr std::string_view kScript = R"({"replies":[
    {"blocks":[{"thinking":"Let me see what there is.","signature":"c2ln"},{"redacted":"ZW5j"},
      {"text":"I look at it."},{"call":{"name":"ls","args":{"path":"src"}}},{"call":{"name":"pwd","args":{}}}],
     "usage":{"input":10,"output":20,"cacheRead":30,"cacheWrite":40,"reasoning":5}},
    {"stop":"max_tokens","blocks":[{"text":"cut"}]},
    {"blocks":[{"refusal":"I will not."}]},
    {"stop":"refused"},
    {"stop":"stop_sequence","blocks":[{"text":"a"}]}]})";
  const RunningEmulator emulator(kScript);
  for (const Endpoint& endpoint : kEndpoints) {
    emulator.SetScript(kScript);
    const JsonSchema schema = Schema(std::string(endpoint.dialect) + "-event");
    std::size_t checked = 0;
    for (int call = 1; call <= 5; ++call) {
      for (const std::string& data : RawClient::DataOf(RawClient::BodyOf(emulator.Ask(endpoint)))) {
        if (IsOutsideTheTypes(endpoint.dialect, data)) continue;
        ++checked;
        for (const SchemaError& error : schema.Validate(data)) {
          ADD_FAILURE() << endpoint.dialect << " " << error.path << ": " << error.message << "\n"
                        << data;
        }
      }
    }
    EXPECT_GT(checked, 10u) << endpoint.dialect;
  }
}

TEST_F(WireSchemaTest, AGoodRequestPassesAndAMisspeltMemberIsNamed) {
  const RunningEmulator emulator(R"({"strict":true,"replies":[{"times":0}]})",
                                 {"--schemas", folder_});
  struct Bad {
    std::size_t endpoint;
    std::string_view body;
    std::string_view problem;
  };
  for (const Endpoint& endpoint : kEndpoints) {
    const std::string answer = emulator.Ask(endpoint);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ")) << answer;
  }
  for (
      const Bad& bad :
      {Bad{0,
           R"({"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","contents":"x"}]}]})",
           R"(/messages/0/content/0/contents: there is no such member; did you mean "content"?)"},
       Bad{0, R"({"model":"m","max_token":9,"stream":true,"messages":[]})",
           R"(/max_token: there is no such member; did you mean "max_tokens"?)"},
       Bad{1,
           R"({"model":"m","stream":true,"messages":[{"role":"user","content":[{"type":"txt","text":"x"}]}]})",
           "/messages/0/content/0/type: must be one of"},
       Bad{2,
           R"({"model":"m","stream":true,"input":[{"type":"function_call_output","call_id":"c","outputs":"x"}]})",
           "/input/0/outputs: there is no such member"},
       Bad{3, R"({"contents":[{"role":"user","parts":[{"txt":"x"}]}]})",
           R"(/contents/0/parts/0/txt: there is no such member; did you mean "text"?)"}}) {
    Endpoint endpoint = kEndpoints[bad.endpoint];
    endpoint.body = bad.body;
    const std::string answer = emulator.Ask(endpoint);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << answer;
    const std::string message =
        JsonView(RawClient::BodyOf(answer))["error"]["message"].StringOr("");
    EXPECT_NE(message.find(bad.problem), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace stet::scenario
