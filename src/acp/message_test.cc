#include "acp/message.h"

#include <gtest/gtest.h>

namespace stet::acp {
namespace {

std::int64_t FaultOf(std::string_view line) {
  const Message message = ReadMessage(line);
  const auto* fault = std::get_if<Fault>(&message);
  return fault == nullptr ? 0 : fault->code;
}

TEST(MessageTest, ARequestKeepsItsIdAndItsParamsToTheByte) {
  const Message message =
      ReadMessage(R"({"jsonrpc":"2.0","id":"a\u0062","method":"m","params":{"x": 1e3}})");
  const auto& request = std::get<Request>(message);
  EXPECT_EQ(request.id.text, R"("a\u0062")");
  EXPECT_EQ(request.method, "m");
  EXPECT_EQ(request.params.text, R"({"x": 1e3})");
  EXPECT_EQ(std::get<Request>(ReadMessage(R"({"jsonrpc":"2.0","id":null,"method":"m"})")).id.text,
            "null");
}

TEST(MessageTest, WithoutAnIdItIsANotificationAndWithoutAMethodAResponse) {
  const Message cancel = ReadMessage(R"({"jsonrpc":"2.0","method":"session/cancel","params":{}})");
  EXPECT_EQ(std::get<Notification>(cancel).method, "session/cancel");
  const Message said = ReadMessage(R"({"jsonrpc":"2.0","id":"s/r","result":{"a":1}})");
  EXPECT_EQ(std::get<Response>(said).id, "s/r");
  EXPECT_EQ(std::get<Response>(said).result.text, R"({"a":1})");
  const Message failed = ReadMessage(R"({"jsonrpc":"2.0","id":7,"error":{"message":"no"}})");
  EXPECT_EQ(std::get<Response>(failed).id, "7");
  EXPECT_EQ(std::get<Response>(failed).error, "no");
}

TEST(MessageTest, WhatMakesNoSenseHasTheCodeOfItsKind) {
  for (const char* line : {"", "nonsense", "{", R"({"a":1} {"b":2})", "\"\xff\""})
    EXPECT_EQ(FaultOf(line), rpc::kParseError) << line;
  for (const char* line :
       {"[]", "1", "{}", R"({"jsonrpc":"1.0","id":1,"method":"m"})",
        R"({"jsonrpc":"2.0","id":1.5,"method":"m"})", R"({"jsonrpc":"2.0","id":{},"method":"m"})",
        R"({"jsonrpc":"2.0","id":1,"method":7})", R"({"jsonrpc":"2.0","id":1})",
        R"([{"jsonrpc":"2.0","id":1,"method":"m"}])"})
    EXPECT_EQ(FaultOf(line), rpc::kInvalidRequest) << line;
}

TEST(MessageTest, AFaultNamesTheRequestWhenItIsOneAndItsIdCanBeRead) {
  const Message message = ReadMessage(R"({"jsonrpc":"2.0","id":9,"method":[]})");
  EXPECT_EQ(std::get<Fault>(message).id.text, "9");
  const Message answer = ReadMessage(R"({"jsonrpc":"1.0","id":9,"result":{}})");
  EXPECT_EQ(std::get<Fault>(answer).id.text, "null") << "the client may have asked under it";
}

TEST(MessageTest, LinesAreWrittenInOneShape) {
  EXPECT_EQ(ResultLine(Raw{"1"}, "{}"), R"({"jsonrpc":"2.0","id":1,"result":{}})");
  EXPECT_EQ(ErrorLine(Raw{"null"}, rpc::kParseError, "bad \"line\""),
            R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"bad \"line\""}})");
  EXPECT_EQ(
      ErrorLine(Raw{"2"}, Error(Code::kAuth, "no key")),
      R"({"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"no key","data":{"code":"auth"}}})");
  EXPECT_EQ(RequestLine("s/r", "m", "{}"),
            R"({"jsonrpc":"2.0","id":"s/r","method":"m","params":{}})");
  EXPECT_EQ(NotificationLine("m", "{}"), R"({"jsonrpc":"2.0","method":"m","params":{}})");
}

}  // namespace
}  // namespace stet::acp
