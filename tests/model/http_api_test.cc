// The host's HTTP face: what scripts ask, and that openapi.json says what there is.
#include <fmt/format.h>

#include "base/source_dir_fixture.h"
#include "tests/http_asked.h"
#include "tests/model/live_fixture.h"

namespace stet::test {
namespace {

using Answer = HttpAnswer;

class HttpApiTest : public LiveTest {
 protected:
  void SetUp() override {
    Script(R"({"replies":[{"times":0,"blocks":[{"text":"Said."}]}]})");
    host_ = std::make_unique<RunningHost>(host::HostOptions{.roots = roots_});
    live_ = host_->Client();
  }

  [[nodiscard]] Fd Ask(const std::string& method, const std::string& path,
                       const std::string& body = "", const std::string& headers = "") const {
    return AskHttp({.port = host_->port(),
                    .token = RunningHost::kToken,
                    .method = method,
                    .path = path,
                    .body = body,
                    .headers = headers});
  }
  static Answer Read(const Fd& fd, const std::function<bool(const std::string&)>& enough) {
    return ReadHttp(fd, enough);
  }
  [[nodiscard]] Answer Whole(const std::string& method, const std::string& path,
                             const std::string& body = "") const {
    return ReadHttp(Ask(method, path, body));
  }

  std::string NewSession() {
    const Answer made =
        Whole("POST", "/sessions", fmt::format(R"({{"cwd":"{}","mode":"bypass"}})", project_));
    EXPECT_EQ(made.status, 201) << made.body;
    return JsonView(made.body)["sessionId"].StringOr("");
  }
};

/// The last id of a stream, and what it was about.
std::string LastId(const std::string& stream) {
  const std::size_t at = stream.rfind("\nid: ");
  return at == std::string::npos ? "" : stream.substr(at + 5, stream.find('\n', at + 1) - at - 5);
}

TEST_F(HttpApiTest, AScriptMakesASessionSendsAndHearsIt) {
  const std::string id = NewSession();
  ASSERT_FALSE(id.empty());
  const Fd stream = Ask("GET", "/sessions/" + id + "/events");
  const Answer sent =
      Whole("POST", "/sessions/" + id + "/messages", R"({"how":"send","text":"hi"})");
  EXPECT_EQ(sent.status, 202) << sent.body;
  EXPECT_EQ(JsonView(sent.body)["what"].StringOr(""), "started");
  const Answer heard = Read(
      stream, [](const std::string& all) { return all.find("runtime_end") != std::string::npos; });
  EXPECT_EQ(heard.status, 200);
  EXPECT_NE(heard.head.find("text/event-stream"), std::string::npos) << heard.head;
  EXPECT_NE(heard.body.find("event: event\n"), std::string::npos);
  EXPECT_NE(heard.body.find("\"Said.\""), std::string::npos);
  const std::string last = LastId(heard.body);
  ASSERT_FALSE(last.empty());
  const Answer again =
      Read(Ask("GET", "/sessions/" + id + "/events", "", "Last-Event-ID: " + last + "\r\n"),
           [](const std::string& all) { return all.find("\r\n\r\n") != std::string::npos; });
  EXPECT_NE(again.head.find("stream_resume"), std::string::npos) << again.head << last;
  const Answer stale =
      Read(Ask("GET", "/sessions/" + id + "/events", "", "Last-Event-ID: 1.2.3.nothing\r\n"),
           [](const std::string& all) { return all.find("event: live") != std::string::npos; });
  EXPECT_NE(stale.head.find("full_reload"), std::string::npos) << stale.head;
  EXPECT_NE(stale.body.find("\"type\":\"opened\""), std::string::npos) << "from the first event";
}

TEST_F(HttpApiTest, WhatIsWrongIsSaidWithItsStatus) {
  EXPECT_EQ(Whole("GET", "/nothing").status, 404);
  EXPECT_EQ(Whole("DELETE", "/sessions").status, 405);
  EXPECT_EQ(Whole("GET", "/sessions/ses_00000000000000").status, 404);
  EXPECT_EQ(Whole("GET", "/sessions/..%2f..%2fetc").status, 404);
  EXPECT_EQ(Whole("POST", "/sessions", "[]").status, 400);
  EXPECT_EQ(Whole("POST", "/sessions", "{\"cwd\":3}").status, 400);
  EXPECT_EQ(Whole("POST", "/sessions/ses_00000000000000/messages", R"({"how":"send"})").status,
            404);
}

TEST_F(HttpApiTest, AListIsWhatItsQuerySays) {
  const auto listed = [this](const std::string& query) {
    const Answer answer = Whole("GET", "/sessions" + query);
    EXPECT_EQ(answer.status, 200) << answer.body;
    std::vector<std::string> ids;
    JsonView(answer.body)["sessions"].ForEach(
        [&](const JsonView& row) { ids.push_back(row["sessionId"].StringOr("")); });
    return ids;
  };
  using Ids = std::vector<std::string>;
  const std::string first = NewSession();
  const std::string second = NewSession();
  const auto send = [&](const std::string& id, const std::string& text) {
    const Fd stream = Ask("GET", "/sessions/" + id + "/events");
    EXPECT_EQ(Whole("POST", "/sessions/" + id + "/messages",
                    fmt::format(R"({{"how":"send","text":"{}"}})", text))
                  .status,
              202);
    Read(stream,
         [](const std::string& all) { return all.find("runtime_end") != std::string::npos; });
  };
  send(first, "Mend the PARSER: 構文解析");
  send(first, "and then ÉCRIRE");
  send(second, "ｆｕｌｌ width");
  EXPECT_EQ(listed("").size(), 2U);
  EXPECT_EQ(listed("?limit=1").size(), 1U);
  EXPECT_EQ(listed("?limit=0").size(), 0U);
  EXPECT_EQ(listed("?text=parser"), Ids{first});
  EXPECT_EQ(listed("?text=%E6%A7%8B%E6%96%87"), Ids{first}) << "in the first prompt";
  EXPECT_EQ(listed("?text=then+%C3%A9crire"), Ids{first}) << "in the last one";
  EXPECT_EQ(listed("?text=FULL%20WIDTH&limit=5"), Ids{second});
  EXPECT_EQ(listed("?text=nowhere"), Ids{});
  EXPECT_EQ(Whole("GET", "/sessions?projectId=p_none").status, 404);
  EXPECT_EQ(Whole("GET", "/sessions?limit=many").status, 400);
  EXPECT_EQ(Whole("GET", "/sessions?limit=-1").status, 400);
  EXPECT_EQ(Whole("GET", "/sessions?limits=1").status, 400);
  EXPECT_EQ(Whole("GET", "/sessions?all=true").status, 200);
  EXPECT_EQ(Whole("GET", "/sessions?all=yes").status, 400);
  EXPECT_EQ(Whole("GET", "/sessions?text=%zz").status, 400);
}

TEST_F(HttpApiTest, OpenApiSaysWhatThereIs) {
  const std::string text = ReadFile(SourceDir() + "/doc/format/openapi.json").value_or("");
  const JsonView api(text);
  const std::string id = NewSession();
  std::size_t operations = 0;
  api["paths"].ForEachMember([&](std::string_view path, const JsonView& methods) {
    methods.ForEachMember([&](std::string_view method, const JsonView& operation) {
      ++operations;
      if (path == "/metrics") return;  // On the unix socket only.
      std::string target(path);
      if (const std::size_t at = target.find("{id}"); at != std::string::npos)
        target.replace(at, 4, id);
      operation["parameters"].ForEach([&](const JsonView& parameter) {
        if (parameter["name"].StringOr("") == "cwd") target += "?cwd=" + project_;
      });
      std::string body = method == "post" ? "{}" : "";
      if (path == "/sessions" && method == "post")
        body = fmt::format(R"({{"cwd":"{}"}})", project_);
      if (path.ends_with("/messages")) body = R"({"how":"send","text":"hi"})";
      if (path.ends_with("/answers")) body = R"({"requestId":"none","allow":false})";
      if (path.ends_with("/events")) return;  // Above.
      std::string verb(method);
      std::ranges::transform(verb, verb.begin(), [](char c) { return static_cast<char>(c - 32); });
      const Answer answer = Whole(verb, target, body);
      SCOPED_TRACE(verb + " " + target);
      if (path.ends_with("/answers")) {
        EXPECT_EQ(answer.status, 404) << "nothing is asked";
        return;
      }
      const JsonView response = operation["responses"][std::to_string(answer.status)];
      ASSERT_FALSE(response.text().empty()) << answer.status << answer.body;
      const std::string name =
          response["content"]["application/json"]["schema"]["$ref"].StringOr("");
      const JsonView schema = api["components"]["schemas"][name.substr(name.rfind('/') + 1)];
      EXPECT_TRUE(schema.is_object()) << name;
      schema["required"].ForEach([&](const JsonView& member) {
        EXPECT_FALSE(JsonView(answer.body)[member.StringOr("")].text().empty())
            << member.text() << answer.body;
      });
    });
  });
  EXPECT_EQ(operations, 16U);
}

}  // namespace
}  // namespace stet::test
