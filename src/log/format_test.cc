// The format document is tested: every example line in doc/format/log.md is a good line of its
// kind, and every type of the program stands in its table with its place.
#include <gtest/gtest.h>

#include "base/example_fixture.h"
#include "base/source_dir_fixture.h"
#include "log/line.h"
#include "protocol/event.h"

namespace stet::log {
namespace {

std::string Document() { return FormatPage(SourceDir(), "log.md"); }

TEST(LogFormat, EveryExampleLineIsGood) {
  const std::vector<std::string> lines = ExampleLines(Document());
  ASSERT_GE(lines.size(), 6u);
  for (const std::string& line : lines) {
    std::string sealed = line.substr(0, line.rfind(",\"crc\"")) + "}";
    SealLine(sealed, 0);
    EXPECT_TRUE(CheckLine(line)) << "should be " << sealed;
  }
}

TEST(LogFormat, EveryExampleIsReadAndWrittenBackUnchanged) {
  for (const std::string& line : ExampleLines(Document())) {
    std::string again;
    if (line.starts_with("{\"version\"")) {
      again = Encode(*Decode<protocol::Header>(Unsealed(line)));
      SealLine(again, 0);
      EXPECT_EQ(again, line + "\n");
      continue;
    }
    const Result<protocol::Event> event = protocol::DecodeEvent(line);
    ASSERT_TRUE(event) << event.error().Text();
    protocol::EncodeEvent(*event, again);
    SealLine(again, 0);
    EXPECT_EQ(again, line + "\n");
  }
}

TEST(LogFormat, EveryTypeStandsInTheTable) {
  const std::string text = Document();
  for (std::size_t i = 0; i + 1 < std::variant_size_v<protocol::PayloadVariant>; ++i) {
    const std::string name(protocol::TypeName(static_cast<std::uint8_t>(i)));
    EXPECT_NE(text.find("| `" + name + "`"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace stet::log
