// Every fault of the emulator, in every dialect: it ends within its clock, in the right kind, and
// loses no text that was seen.
#include "tests/model/model_fixture.h"

namespace stet::test {
namespace {

struct Fault {
  const char* name;
  const char* json;  // The script's "fault".
  const char* kind;  // What the call fails with.
  bool tried_again;
};

constexpr Fault kFaults[] = {
    {"BadRequest", R"({"kind":"status","status":400,"message":"no"})", "bad_request", false},
    {"Unauthorized", R"({"kind":"status","status":401})", "auth", false},
    {"Forbidden", R"({"kind":"status","status":403})", "auth", false},
    {"NotFound", R"({"kind":"status","status":404})", "not_found", false},
    {"TooLarge", R"({"kind":"status","status":413})", "too_large", false},
    {"Unprocessable", R"({"kind":"status","status":422})", "bad_request", false},
    {"Overflow", R"({"kind":"status","status":400,"message":"prompt is too long"})", "overflow",
     false},
    {"Quota", R"({"kind":"status","status":429,"code":"insufficient_quota","message":"billing"})",
     "quota", false},
    {"Filtered", R"({"kind":"status","status":400,"message":"content_filter"})", "refused", false},
    {"RequestTimeout", R"({"kind":"status","status":408})", "timeout", true},
    {"Conflict", R"({"kind":"status","status":409})", "server", true},
    {"RateLimited", R"({"kind":"status","status":429,"message":"slow down"})", "rate_limited",
     true},
    {"ServerError", R"({"kind":"status","status":500,"message":"oops"})", "server", true},
    {"BadGateway", R"({"kind":"status","status":502,"body":"<html>bad gateway</html>"})", "server",
     true},
    {"Overload", R"({"kind":"overload"})", "overloaded", true},
    {"ToldNotToRetry", R"({"kind":"status","status":500,"headers":{"x-should-retry":"false"}})",
     "server", false},
    {"ResetAtOnce", R"({"kind":"reset"})", "network", true},
    {"CloseAtOnce", R"({"kind":"close"})", "network", true},
    {"ResetAfterTheHeader", R"({"kind":"reset","afterBytes":1})", "truncated", true},
    {"CloseInsideTheFirstEvent", R"({"kind":"close","afterBytes":10})", "truncated", true},
    {"HalfOpen", R"({"kind":"half_open"})", "timeout", true},
    {"StallAfterTheHeader", R"({"kind":"stall"})", "timeout", true},
    {"StallAfterTheFirstEvent", R"({"kind":"stall","afterBytes":20})", "timeout", true},
    {"MalformedAtOnce", R"({"kind":"malformed","afterEvents":0})", "garbled", true},
    {"EmptyBody", R"({"kind":"status","status":200,"body":""})", "garbled", true},
    {"HalfAnObject", R"({"kind":"status","status":200,"body":"{\"id\":\"x\",\"con"})", "garbled",
     true},
    {"GiantEvent", R"({"kind":"giant","afterEvents":0,"bytes":17000000})", "protocol", false},
    {"HtmlPage", R"({"kind":"content_type"})", "protocol", false},
    {"JsonErrorWithStatus200",
     R"({"kind":"json_error_200","type":"overloaded_error","message":"overloaded"})", "overloaded",
     true},
    {"ErrorEventAtOnce",
     R"({"kind":"error_event","afterEvents":0,"type":"overloaded_error","code":"overloaded","message":"overloaded"})",
     "overloaded", true},
};

class FaultMatrixTest : public ModelTest,
                        public testing::WithParamInterface<std::tuple<Dialect, Fault>> {
 protected:
  [[nodiscard]] static Dialect dialect() { return std::get<0>(GetParam()); }
  [[nodiscard]] static const Fault& fault() { return std::get<1>(GetParam()); }
};

TEST_P(FaultMatrixTest, AFaultThatStaysEndsInItsKind) {
  StartEmulator(fmt::format(
      R"({{"replies":[{{"times":0,"blocks":[{{"text":"never"}}],"fault":{}}}]}})", fault().json));
  const provider::CallResult call = AskOnce(dialect());
  EXPECT_EQ(KindOf(call), fault().kind) << call.reply.failure->message;
  EXPECT_EQ(call.attempts.size(), fault().tried_again ? 3U : 1U);
  EXPECT_EQ(call.attempts[0].outcome, fault().kind);
  EXPECT_EQ(sink_.Count<provider::Waiting>(), call.attempts.size() - 1) << "every wait is told";
  EXPECT_EQ(TextOf(call), "");
  EXPECT_EQ(sink_.Count<provider::MessageEnd>(), 0U);
}

TEST_P(FaultMatrixTest, AFaultThatPassesEndsInTheReplyOrIsNotTriedAgain) {
  StartEmulator(fmt::format(
      R"({{"replies":[{{"blocks":[{{"text":"never"}}],"fault":{}}},
                      {{"times":0,"blocks":[{{"text":"the reply"}}]}}]}})",
      fault().json));
  const provider::CallResult call = AskOnce(dialect());
  if (fault().tried_again) {
    EXPECT_EQ(KindOf(call), "done");
    EXPECT_EQ(TextOf(call), "the reply");
    EXPECT_FALSE(call.reply.partial);
    EXPECT_EQ(call.attempts.size(), 2U);
  } else {
    EXPECT_EQ(KindOf(call), fault().kind);
  }
}

INSTANTIATE_TEST_SUITE_P(Matrix, FaultMatrixTest,
                         testing::Combine(testing::ValuesIn(kDialects), testing::ValuesIn(kFaults)),
                         [](const auto& tested) {
                           return NameOf(std::get<0>(tested.param)) +
                                  std::get<1>(tested.param).name;
                         });

/// What breaks off after text was seen is not tried again, and keeps the text.
class PartialReplyTest : public ModelTest, public testing::WithParamInterface<Dialect> {
 protected:
  /// The reply breaks off by `fault` once `text` has been seen.
  provider::CallResult Break(const std::string& fault, const std::string& blocks) {
    StartEmulator(fmt::format(R"({{"replies":[{{"times":0,"delta":4,"blocks":{},"fault":{}}}]}})",
                              blocks, fault));
    return AskOnce(GetParam());
  }
  static constexpr const char* kLongText =
      R"([{"text":"one two three four five six seven eight"}])";
};

TEST_P(PartialReplyTest, TextThatWasSeenIsKeptAndTheCallNotRepeated) {
  struct Case {
    const char* fault;
    const char* kind;
  };
  for (
      const Case& broken : {
          Case{R"({"kind":"reset","afterEvents":8})", "truncated"},
          Case{R"({"kind":"close","afterEvents":8})", "truncated"},
          Case{R"({"kind":"stall","afterEvents":8})", "timeout"},
          Case{R"({"kind":"malformed","afterEvents":8})", "garbled"},
          Case{
              R"({"kind":"error_event","afterEvents":8,"type":"overloaded_error","code":"overloaded","message":"overloaded"})",
              "overloaded"},
          Case{R"({"kind":"no_end"})", "truncated"},
      }) {
    const provider::CallResult call = Break(broken.fault, kLongText);
    EXPECT_EQ(KindOf(call), broken.kind) << broken.fault;
    EXPECT_TRUE(call.reply.partial);
    EXPECT_EQ(call.attempts.size(), 1U) << broken.fault;
    std::string seen;
    for (const provider::StreamEvent& event : sink_.events) {
      if (const auto* delta = std::get_if<provider::TextDelta>(&event)) seen += delta->text;
    }
    EXPECT_FALSE(seen.empty()) << broken.fault;
    EXPECT_EQ(TextOf(call), seen) << broken.fault;
  }
}

TEST_P(PartialReplyTest, ThinkingAloneIsRepeatedAndItsFirstTryDeclaredVoid) {
  StartEmulator(R"({"replies":[
    {"delta":4,"blocks":[{"thinking":"a long thought that breaks off somewhere"},{"text":"x"}],
     "fault":{"kind":"reset","afterEvents":5}},
    {"times":0,"blocks":[{"text":"the reply"}]}]})");
  const provider::CallResult call = AskOnce(GetParam());
  EXPECT_EQ(TextOf(call), "the reply") << KindOf(call);
  EXPECT_EQ(sink_.Count<provider::Restarted>(), 1U);
}

TEST_P(PartialReplyTest, AByteAtATimeIsTheSameReply) {
  StartEmulator(fmt::format(
      R"({{"replies":[{{"blocks":{0}}},{{"times":0,"blocks":{0},"write":1}}]}})", kLongText));
  AskOnce(GetParam());
  const std::string whole = sink_.Text();
  random_ = Random(1);
  AskOnce(GetParam());
  EXPECT_EQ(sink_.Text(), whole);
}

TEST_P(PartialReplyTest, ADrippingServerIsSlowButNotDead) {
  StartEmulator(R"({"replies":[{"blocks":[{"text":"ok"}],"fault":{"kind":"drip","ms":1}}]})");
  EXPECT_EQ(TextOf(AskOnce(GetParam())), "ok");
}

TEST_P(PartialReplyTest, ASilenceIsToldBeforeItIsGivenUp) {
  Break(R"({"kind":"stall","afterEvents":8})", kLongText);
  EXPECT_EQ(sink_.Count<provider::Stalled>(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Dialects, PartialReplyTest, testing::ValuesIn(kDialects),
                         [](const auto& tested) { return NameOf(tested.param); });

}  // namespace
}  // namespace stet::test
