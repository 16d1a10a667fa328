// What the HTTP face is asked wrongly: every method that openapi.json describes, with wrong types,
// nulls, numbers beyond their limits, unknown words and missing members. Each refusal is the error
// that the file describes, and begins nothing.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/source_dir_fixture.h"
#include "tests/http_asked.h"
#include "tests/model/live_fixture.h"

namespace stet::test {
namespace {

/// A schema, with its reference followed.
JsonView Followed(const JsonView& api, JsonView schema) {
  const std::string ref = schema["$ref"].StringOr("");
  return ref.empty() ? schema : api["components"]["schemas"][ref.substr(ref.rfind('/') + 1)];
}

bool HasWord(const JsonView& list, std::string_view word) {
  bool has = false;
  list.ForEach([&](const JsonView& one) { has = has || one.StringOr("") == word; });
  return has;
}

bool MayBe(const JsonView& schema, std::string_view type) {
  if (schema["type"].is_array()) return HasWord(schema["type"], type);
  if (schema["type"].is_string()) return schema["type"].StringOr("") == type;
  bool may = false;
  schema["anyOf"].ForEach([&](const JsonView& one) { may = may || MayBe(one, type); });
  return may;
}

/// Values that do not keep to the schema, as JSON.
std::vector<std::string> Wrong(const JsonView& api, const JsonView& wanted) {
  const JsonView schema = Followed(api, wanted);
  const bool any = !schema["type"] && !schema["anyOf"];  // Any JSON value.
  std::vector<std::string> wrong;
  if (any) return wrong;
  if (!MayBe(schema, "string")) wrong.emplace_back(R"("text")");
  if (!MayBe(schema, "integer")) wrong.emplace_back("7");
  if (!MayBe(schema, "boolean")) wrong.emplace_back("true");
  if (!MayBe(schema, "array")) wrong.emplace_back("[]");
  if (!MayBe(schema, "object") && !schema["anyOf"]) wrong.emplace_back("{}");
  if (!MayBe(schema, "null")) wrong.emplace_back("null");
  if (MayBe(schema, "integer")) wrong.emplace_back("1.5");
  if (MayBe(schema, "integer")) wrong.emplace_back("99999999999999999999");
  if (const auto least = schema["minimum"].Int()) wrong.push_back(std::to_string(*least - 1));
  if (const auto most = schema["maximum"].Int()) wrong.push_back(std::to_string(*most + 1));
  if (schema["enum"]) wrong.emplace_back(R"("nonsense")");
  return wrong;
}

/// A value that keeps to it.
std::string Right(const JsonView& api, const JsonView& wanted) {
  const JsonView schema = Followed(api, wanted);
  std::string first;
  schema["enum"].ForEach([&](const JsonView& one) {
    if (first.empty()) first = one.text();
  });
  if (!first.empty()) return first;
  if (MayBe(schema, "string")) return R"("text")";
  if (MayBe(schema, "boolean")) return "false";
  if (MayBe(schema, "array")) return "[]";
  if (MayBe(schema, "integer")) return "0";
  return "{}";
}

class HttpRefusalsTest : public LiveTest {
 protected:
  void SetUp() override {
    Script(R"({"replies":[{"times":0,"blocks":[{"text":"Said."}]}]})");
    host_ = std::make_unique<RunningHost>(host::HostOptions{.roots = roots_});
    file_ = ReadFile(SourceDir() + "/doc/format/openapi.json").value_or("");
    const HttpAnswer made =
        Ask("POST", "/sessions", fmt::format(R"({{"cwd":"{}","mode":"bypass"}})", project_));
    ASSERT_EQ(made.status, 201) << made.body;
    session_ = JsonView(made.body)["sessionId"].StringOr("");
  }

  [[nodiscard]] HttpAnswer Ask(const std::string& method, const std::string& path,
                               const std::string& body = "") const {
    return ReadHttp(AskHttp({.port = host_->port(),
                             .token = RunningHost::kToken,
                             .method = method,
                             .path = path,
                             .body = body}));
  }

  /// That it is an error of the wire, of a kind that the operation names.
  void ExpectRefused(const HttpAnswer& answer, const JsonView& operation, const std::string& what) {
    ++refused_;
    EXPECT_EQ(answer.status, 400) << what << ": " << answer.body;
    ExpectError(answer, what);
    const std::string kinds = operation["responses"]["default"]["description"].StringOr("");
    EXPECT_TRUE(kinds.contains(JsonView(answer.body)["code"].StringOr("?"))) << what << kinds;
    EXPECT_EQ(JsonView(answer.body)["code"].StringOr(""), "invalid") << what << answer.body;
  }
  static void ExpectError(const HttpAnswer& answer, const std::string& what) {
    EXPECT_TRUE(answer.head.contains("application/json")) << what << "\n" << answer.head;
    EXPECT_TRUE(CheckJson(answer.body)) << what << ": " << answer.body;
    EXPECT_FALSE(JsonView(answer.body)["code"].StringOr("").empty()) << what << answer.body;
    EXPECT_FALSE(JsonView(answer.body)["message"].StringOr("").empty()) << what << answer.body;
  }

  void AskBody(const std::string& path, const JsonView& operation) {
    const JsonView schema = Followed(
        JsonView(file_), operation["requestBody"]["content"]["application/json"]["schema"]);
    for (const char* body : {"[]", "7", "null", "\"text\"", "{", "{}}", "{\"a\":}", "\xff{}"})
      ExpectRefused(Ask("POST", path, body), operation, path + " " + body);
    schema["properties"].ForEachMember([&](std::string_view name, const JsonView& property) {
      for (const std::string& wrong : Wrong(JsonView(file_), property)) {
        const std::string body = Body(schema, name, wrong);
        ExpectRefused(Ask("POST", path, body), operation, path + " " + body);
      }
      if (!HasWord(schema["required"], name)) return;
      const std::string body = Body(schema, name, "");
      ExpectRefused(Ask("POST", path, body), operation, path + " " + body);
    });
  }

  /// All that is required, and `name` as it is given; without it when that is empty.
  [[nodiscard]] std::string Body(const JsonView& schema, std::string_view name,
                                 const std::string& value) const {
    std::string body;
    const auto add = [&](std::string_view member, const std::string& what) {
      body += fmt::format("{}\"{}\":{}", body.empty() ? "" : ",", member, what);
    };
    if (!value.empty()) add(name, value);
    schema["required"].ForEach([&](const JsonView& one) {
      const std::string member = one.StringOr("");
      if (member != name) add(member, Right(JsonView(file_), schema["properties"][member]));
    });
    return "{" + body + "}";
  }

  void AskQuery(const std::string& path, const JsonView& operation) {
    ExpectRefused(Ask("GET", path + "?nonsense=1"), operation, path + " nonsense");
    ExpectRefused(Ask("GET", path + "?%zz=1"), operation, path + " no query");
    operation["parameters"].ForEach([&](const JsonView& parameter) {
      if (parameter["in"].StringOr("") != "query") return;
      const std::string name = parameter["name"].StringOr("");
      const JsonView schema = parameter["schema"];
      std::vector<std::string> wrong;
      if (MayBe(schema, "integer")) wrong = {"x", "1.5", "", "-1", "99999999999999999999"};
      if (MayBe(schema, "boolean")) wrong = {"maybe", "1", ""};
      if (const auto most = schema["maximum"].Int()) wrong.push_back(std::to_string(*most + 1));
      for (const std::string& value : wrong)
        ExpectRefused(Ask("GET", path + "?" + name + "=" + value), operation,
                      path + " " + name + "=" + value);
      if (parameter["required"].Bool().value_or(false))
        ExpectRefused(Ask("GET", path), operation, path + " without " + name);
    });
  }

  std::string file_;
  std::string session_;
  int refused_ = 0;
};

TEST_F(HttpRefusalsTest, WhatDoesNotKeepToTheFileIsRefusedAsTheFileSays) {
  ASSERT_TRUE(CheckJson(file_));
  JsonView(file_)["paths"].ForEachMember([&](std::string_view name, const JsonView& verbs) {
    std::string path(name);
    if (path == "/metrics") return;  // On the unix socket alone.
    if (const std::size_t id = path.find("{id}"); id != std::string::npos)
      path.replace(id, 4, session_);
    verbs.ForEachMember([&](std::string_view verb, const JsonView& operation) {
      if (verb == "post" && operation["requestBody"]) AskBody(path, operation);
      if (verb == "get" && !name.contains("{id}") && operation["parameters"].text() != "[]")
        AskQuery(path, operation);
    });
  });
  EXPECT_GT(refused_, 120);
  const std::string state = Ask("GET", "/sessions/" + session_).body;
  EXPECT_EQ(JsonView(state)["state"].StringOr(""), "idle") << state;
  EXPECT_TRUE(emulator_->Requests().empty()) << "nothing of it began a turn";
}

TEST_F(HttpRefusalsTest, AMessageWithoutItsWayOrWithAMisspeltOneBeginsNothing) {
  const std::string path = "/sessions/" + session_ + "/messages";
  for (const char* body :
       {R"({"text":"hi"})", R"({"how":"","text":"hi"})", R"({"how":"Send","text":"hi"})",
        R"({"hwo":"send","text":"hi"})", R"({"how":"next steer","text":"hi"})",
        R"({"how":"steer send","text":"hi"})"}) {
    const HttpAnswer refused = Ask("POST", path, body);
    EXPECT_EQ(refused.status, 400) << body << refused.body;
    EXPECT_TRUE(refused.body.contains("send, steer, continue, next, compact")) << refused.body;
  }
  EXPECT_TRUE(emulator_->Requests().empty());
  EXPECT_EQ(Ask("POST", path, R"({"how":"send","text":"hi"})").status, 202);
}

TEST_F(HttpRefusalsTest, WhatIsNoRequestIsRefusedWithTheSameError) {
  const auto raw = [&](const std::string& bytes) {
    const Fd fd = AskHttp({.port = host_->port(),
                           .token = RunningHost::kToken,
                           .method = "GET",
                           .path = "/status",
                           .headers = bytes});
    return ReadHttp(fd);
  };
  const HttpAnswer long_head = raw("X-Long: " + std::string(200'000, 'x') + "\r\n");
  EXPECT_EQ(long_head.status, 431);
  ExpectError(long_head, "a long head");
  const HttpAnswer broken = raw("no header at all\r\n");
  EXPECT_EQ(broken.status, 400);
  ExpectError(broken, "a broken head");
  const HttpAnswer nowhere = Ask("GET", "/nowhere");
  EXPECT_EQ(nowhere.status, 404);
  ExpectError(nowhere, "nowhere");
  const HttpAnswer other = Ask("PUT", "/sessions");
  EXPECT_EQ(other.status, 405);
  ExpectError(other, "another method");
  const HttpAnswer stranger =
      ReadHttp(AskHttp({.port = host_->port(), .token = "x", .path = "/status"}));
  EXPECT_EQ(stranger.status, 401);
  ExpectError(stranger, "a wrong token");
}

}  // namespace
}  // namespace stet::test
