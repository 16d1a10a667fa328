// AcpTest: the real program as an agent of the Agent Client Protocol, against the emulator, and a
// client that speaks to it line by line.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/view.h"
#include "tests/scenario/scripted_fixture.h"
#include "tests/scenario/stream_fixture.h"

namespace stet::scenario {

/// The client's side of a connection.
class AcpClient {
 public:
  explicit AcpClient(SpawnOptions options) : talk_(std::move(options)) {}

  void Say(std::string_view line) { talk_.Say(line); }
  void Notify(std::string_view method, std::string_view params) {
    Say(fmt::format(R"({{"jsonrpc":"2.0","method":"{}","params":{}}})", method, params));
  }
  /// Sends a request and gives its id.
  int Send(std::string_view method, std::string_view params) {
    Say(fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})", ++last_id_, method,
                    params));
    return last_id_;
  }
  /// The answer to a request, whole.
  std::string Response(int id) {
    return Await(
        [&](const JsonView& line) { return !line["method"] && line["id"].IntOr(-1) == id; });
  }
  /// The result of a request; an error fails the test.
  std::string Result(int id) {
    const std::string response = Response(id);
    EXPECT_TRUE(JsonView(response)["result"]) << response;
    return std::string(JsonView(response)["result"].text());
  }
  std::string Call(std::string_view method, std::string_view params) {
    return Result(Send(method, params));
  }
  /// The error of a request as "CODE MESSAGE".
  std::string Refused(std::string_view method, std::string_view params) {
    const std::string response = Response(Send(method, params));
    const JsonView error = JsonView(response)["error"];
    return fmt::format("{} {}", error["code"].IntOr(0), error["message"].StringOr(""));
  }

  /// The code of the next error that answers no request of ours.
  std::int64_t Fault() {
    const std::string fault =
        Await([](const JsonView& line) { return line["error"] && line["id"].is_null(); });
    return JsonView(fault)["error"]["code"].IntOr(0);
  }

  std::string Initialize(std::string_view capabilities = "{}") {
    return Call("initialize",
                fmt::format(R"({{"protocolVersion":1,"clientCapabilities":{}}})", capabilities));
  }
  /// The id of a new session.
  std::string New(const std::string& cwd) {
    const std::string result =
        Call("session/new", fmt::format(R"({{"cwd":"{}","mcpServers":[]}})", cwd));
    return JsonView(result)["sessionId"].StringOr("");
  }
  int Prompt(const std::string& session, std::string_view text) {
    std::string said;
    AppendJsonString(said, text);
    return Send("session/prompt",
                fmt::format(R"({{"sessionId":"{}","prompt":[{{"type":"text","text":{}}}]}})",
                            session, said));
  }
  std::string StopReason(int prompt) {
    const std::string result = Result(prompt);
    return JsonView(result)["stopReason"].StringOr(result);
  }
  void Cancel(const std::string& session) {
    Notify("session/cancel", fmt::format(R"({{"sessionId":"{}"}})", session));
  }

  /// The next request of the agent's of that method.
  std::string Asked(std::string_view method) {
    return Await(
        [&](const JsonView& line) { return line["id"] && line["method"].StringOr("") == method; });
  }
  void Answer(const std::string& request, std::string_view result) {
    Say(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", JsonView(request)["id"].text(),
                    result));
  }
  void Choose(const std::string& request, std::string_view option) {
    Answer(request,
           fmt::format(R"({{"outcome":{{"outcome":"selected","optionId":"{}"}}}})", option));
  }
  /// The next update of that kind, of any session.
  std::string Update(std::string_view kind) {
    return Await([&](const JsonView& line) {
      return line["params"]["update"]["sessionUpdate"].StringOr("") == kind;
    });
  }
  /// The next update of a call with that status.
  std::string CallUpdate(std::string_view status) {
    return Await([&](const JsonView& line) {
      return line["params"]["update"]["sessionUpdate"].StringOr("") == "tool_call_update" &&
             line["params"]["update"]["status"].StringOr("") == status;
    });
  }

  /// Everything that was read so far, in its order.
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  /// The kinds of the updates and the methods of requests so far; answers are "=ID".
  [[nodiscard]] std::vector<std::string> Kinds() const {
    std::vector<std::string> kinds;
    for (const std::string& line : lines_) {
      const JsonView json(line);
      if (const auto kind = json["params"]["update"]["sessionUpdate"].String())
        kinds.push_back(*kind);
      else if (json["method"])
        kinds.push_back(json["method"].StringOr(""));
      else
        kinds.push_back(fmt::format("={}", json["id"].text()));
    }
    return kinds;
  }
  /// The texts of chunks of that kind so far, joined.
  [[nodiscard]] std::string Text(std::string_view kind) const {
    std::string text;
    for (const std::string& line : lines_) {
      const JsonView update = JsonView(line)["params"]["update"];
      if (update["sessionUpdate"].StringOr("") == kind)
        text += update["content"]["text"].StringOr("");
    }
    return text;
  }

  void Kill(int signal) { talk_.Kill(signal); }
  Finished End() { return talk_.End(); }

 private:
  /// The first line, not given before, that `is` it.
  std::string Await(const std::function<bool(const JsonView&)>& is) {
    for (std::size_t i = 0;; ++i) {
      if (i == lines_.size()) {
        lines_.push_back(talk_.Next().text);
        given_.push_back(false);
      }
      if (!given_[i] && is(JsonView(lines_[i]))) {
        given_[i] = true;
        return lines_[i];
      }
      if (testing::Test::HasFailure()) return "null";
    }
  }

  Talk talk_;
  int last_id_ = 0;
  std::vector<std::string> lines_;
  std::vector<bool> given_;
};

class AcpTest : public ScriptedTest {
 protected:
  AcpClient Start() { return AcpClient(program_.Options({"acp"})); }
  [[nodiscard]] bool Sound() const {
    return program_.Run({"sessions", "verify", "--all"}).exit_code == 0;
  }
  std::string Content(const std::string& name) {
    return ReadFile(project_ + "/" + name).value_or("(none)");
  }
};

}  // namespace stet::scenario
