#include "acp/message.h"

#include <gtest/gtest.h>

namespace stet::acp {
namespace {

TEST(MessageTest, AnErrorHasTheProtocolsCodeAndOurName) {
  std::string written;
  rpc::JsonLines line({}, {}, [&](const std::string& text) { written = text; });
  RefuseWith(line, Raw{"2"}, Error(Code::kAuth, "no key"));
  EXPECT_EQ(written, R"({"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"no key",)"
                     R"("data":{"code":"auth"}}})");
}

}  // namespace
}  // namespace stet::acp
