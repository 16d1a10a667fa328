#include "rpc/json/rpc.h"

#include <gtest/gtest.h>

namespace stet::rpc {
namespace {

std::int64_t FaultOf(std::string_view line) {
  const Message message = ReadMessage(line);
  const auto* fault = std::get_if<Fault>(&message);
  return fault == nullptr ? 0 : fault->code;
}

TEST(JsonRpcTest, ARequestKeepsItsIdAndItsParamsToTheByte) {
  const Message message =
      ReadMessage(R"({"jsonrpc":"2.0","id":"a\u0062","method":"m","params":{"x": 1e3}})");
  const auto& request = std::get<Request>(message);
  EXPECT_EQ(request.id.text, R"("a\u0062")");
  EXPECT_EQ(request.method, "m");
  EXPECT_EQ(request.params.text, R"({"x": 1e3})");
  EXPECT_EQ(std::get<Request>(ReadMessage(R"({"jsonrpc":"2.0","id":null,"method":"m"})")).id.text,
            "null");
}

TEST(JsonRpcTest, TheIdOfARequestIsReadFromItsBeginning) {
  EXPECT_EQ(RequestIdIn(R"({"jsonrpc":"2.0","id":7,"method":"m","params":{"text":"aaa)").text, "7");
  EXPECT_EQ(RequestIdIn(R"({"method":"m","id":"a b","params":[1,[2)").text, R"("a b")");
  for (const std::string_view none :
       {"", "[", "x", R"({"id":7,"result":"aaa)", R"({"method":"m","params":{"id":7)",
        R"({"method":"m","id":7)", R"({"method":"m","id":[7],"params":")", R"({"id":7,"meth)",
        "{\"method\":\"m\",\"id\":\"\xff\",\"params\":\""})
    EXPECT_EQ(RequestIdIn(none).text, "null") << none;
}

TEST(JsonRpcTest, WithoutAnIdItIsANotificationAndWithoutAMethodAResponse) {
  const Message cancel = ReadMessage(R"({"jsonrpc":"2.0","method":"session/cancel","params":{}})");
  EXPECT_EQ(std::get<Notification>(cancel).method, "session/cancel");
  const Message said = ReadMessage(R"({"jsonrpc":"2.0","id":"s/r","result":{"a":1}})");
  EXPECT_EQ(std::get<Response>(said).id, "s/r");
  EXPECT_EQ(std::get<Response>(said).result.text, R"({"a":1})");
  const Message failed = ReadMessage(R"({"jsonrpc":"2.0","id":7,"error":{"message":"no"}})");
  EXPECT_EQ(std::get<Response>(failed).id, "7");
  EXPECT_EQ(std::get<Response>(failed).error, "no");
}

TEST(JsonRpcTest, WhatMakesNoSenseHasTheCodeOfItsKind) {
  for (const char* line : {"", "nonsense", "{", R"({"a":1} {"b":2})", "\"\xff\""})
    EXPECT_EQ(FaultOf(line), kParseError) << line;
  for (const char* line :
       {"[]", "1", "{}", R"({"jsonrpc":"1.0","id":1,"method":"m"})",
        R"({"jsonrpc":"2.0","id":1.5,"method":"m"})", R"({"jsonrpc":"2.0","id":{},"method":"m"})",
        R"({"jsonrpc":"2.0","id":1,"method":7})", R"({"jsonrpc":"2.0","id":1})",
        R"([{"jsonrpc":"2.0","id":1,"method":"m"}])"})
    EXPECT_EQ(FaultOf(line), kInvalidRequest) << line;
}

TEST(JsonRpcTest, AFaultNamesTheRequestWhenItIsOneAndItsIdCanBeRead) {
  const Message message = ReadMessage(R"({"jsonrpc":"2.0","id":9,"method":[]})");
  EXPECT_EQ(std::get<Fault>(message).id.text, "9");
  const Message answer = ReadMessage(R"({"jsonrpc":"1.0","id":9,"result":{}})");
  EXPECT_EQ(std::get<Fault>(answer).id.text, "null") << "the client may have asked under it";
}

TEST(JsonRpcTest, WhoIsReadLenientlyMayLeaveOutWhatSaysNothing) {
  const Message asked = ReadMessage(R"({"id":[1],"method":"m"})", Reading::kLenient);
  EXPECT_EQ(std::get<Request>(asked).id.text, "[1]");
  EXPECT_TRUE(std::holds_alternative<Response>(ReadMessage(R"({"id":3})", Reading::kLenient)));
  const Message failed = ReadMessage(R"({"id":3,"error":{"message":"no"}})", Reading::kLenient);
  EXPECT_EQ(std::get<Response>(failed).error, "no");
  for (const char* line : {"garbage", "[1]", "\"\xff\""})
    EXPECT_TRUE(std::holds_alternative<Fault>(ReadMessage(line, Reading::kLenient))) << line;
}

TEST(JsonRpcTest, LinesAreWrittenInOneShape) {
  EXPECT_EQ(ResultLine(Raw{"1"}, "{}"), R"({"jsonrpc":"2.0","id":1,"result":{}})");
  EXPECT_EQ(ErrorLine(Raw{"null"}, kParseError, "bad \"line\""),
            R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"bad \"line\""}})");
  EXPECT_EQ(ErrorLine(Raw{"2"}, kRefused, "no", R"({"a":1})"),
            R"({"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"no","data":{"a":1}}})");
  EXPECT_EQ(RequestLine(Raw{"7"}, "m", "{}"),
            R"({"jsonrpc":"2.0","id":7,"method":"m","params":{}})");
  EXPECT_EQ(NotificationLine("m", "{}"), R"({"jsonrpc":"2.0","method":"m","params":{}})");
}

}  // namespace
}  // namespace stet::rpc
