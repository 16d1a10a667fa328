#include "base/diagnostics.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/temp_dir.h"

/// Its formatter throws.
struct Unprintable {};

template <>
struct fmt::formatter<Unprintable> {
  static constexpr auto parse(format_parse_context& context) { return context.begin(); }
  static fmt::appender format(const Unprintable&, format_context&) {
    throw std::runtime_error("cannot be printed");
  }
};

namespace stet {
namespace {

class DiagnosticsTest : public testing::Test {
 protected:
  ~DiagnosticsTest() override { Diagnostics::Close(); }

  void Open(Level minimum) const { ASSERT_TRUE(Diagnostics::Open(path_, minimum)); }

  std::vector<std::string> Lines() const {
    std::istringstream text(ReadFile(path_).value());
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }

  /// The text of the only line.
  std::string Text() const {
    const auto lines = Lines();
    if (lines.size() != 1) return "not one line";
    const std::size_t place = lines[0].find(".cc:");
    return lines[0].substr(lines[0].find(' ', place) + 1);
  }

  TempDir dir_;
  const std::string path_ = dir_.Sub("log");
};

TEST_F(DiagnosticsTest, ALineSaysWhenHowBadWhoAndWhere) {
  Open(Level::kDebug);
  STET_LOG(kWarn, "no answer from {} after {} ms", "host", 12);
  ASSERT_EQ(Lines().size(), 1u);
  EXPECT_TRUE(testing::internal::RE::FullMatch(
      Lines()[0],
      testing::internal::RE("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z "
                            "warn [0-9]+/[0-9]+ base/diagnostics_test\\.cc:[0-9]+ "
                            "no answer from host after 12 ms")))
      << Lines()[0];
}

TEST_F(DiagnosticsTest, WhatIsBelowTheLevelIsNotEvenEvaluated) {
  Open(Level::kWarn);
  int evaluated = 0;
  STET_LOG(kInfo, "{}", ++evaluated);
  EXPECT_EQ(evaluated, 0);
  STET_LOG(kError, "{}", ++evaluated);
  EXPECT_EQ(evaluated, 1);
  EXPECT_EQ(Lines().size(), 1u);
}

TEST_F(DiagnosticsTest, NothingIsLoggedWhenClosed) {
  int evaluated = 0;
  STET_LOG(kError, "{}", ++evaluated);
  Open(Level::kDebug);
  Diagnostics::Close();
  STET_LOG(kError, "{}", ++evaluated);
  EXPECT_EQ(evaluated, 0);
  EXPECT_EQ(ReadFile(path_), "");
}

TEST_F(DiagnosticsTest, AnEntryStaysOnOneLineAndHarmless) {
  Open(Level::kDebug);
  STET_LOG(kInfo, "{}", "a\nb\r\x1b[31m\\n\tz");
  EXPECT_EQ(Text(), "a\\nb\\x0d\\x1b[31m\\\\n\tz");
}

TEST_F(DiagnosticsTest, ALongLineIsCut) {
  Open(Level::kDebug);
  STET_LOG(kInfo, "{}", std::string(3 * Diagnostics::kMaxLineBytes, 'x'));
  EXPECT_EQ(ReadFile(path_).value().size(), Diagnostics::kMaxLineBytes);
  EXPECT_TRUE(Text().ends_with("xx..."));
}

TEST_F(DiagnosticsTest, AFullFileIsMovedAsideAndOneOldOneKept) {
  Open(Level::kDebug);
  ASSERT_TRUE(ReplaceFile(path_ + ".1", "older", Durable::kNo));
  const std::string text(Diagnostics::kMaxLineBytes, 'x');
  const std::size_t fits = Diagnostics::kMaxFileBytes / Diagnostics::kMaxLineBytes;
  for (std::size_t i = 0; i < fits + 1; ++i) STET_LOG(kInfo, "{}", text);
  EXPECT_EQ(StatFile(path_ + ".1").value().size, Diagnostics::kMaxFileBytes);
  EXPECT_EQ(StatFile(path_).value().size, Diagnostics::kMaxLineBytes);
  EXPECT_EQ(ListDir(dir_.path()).value().size(), 2u);
}

TEST_F(DiagnosticsTest, GoesOverToTheFileThatAnotherProcessMade) {
  Open(Level::kDebug);
  const std::string full(Diagnostics::kMaxFileBytes, 'x');
  const Fd other = OpenFile(path_, O_WRONLY).value();
  ASSERT_TRUE(WriteAll(other.get(), full));
  ASSERT_TRUE(Rename(path_, path_ + ".1"));
  ASSERT_TRUE(ReplaceFile(path_, "theirs\n", Durable::kNo));
  STET_LOG(kInfo, "ours");
  EXPECT_EQ(Lines().size(), 2u);
  EXPECT_EQ(StatFile(path_ + ".1").value().size, full.size());
}

TEST_F(DiagnosticsTest, AFormatterThatThrowsDoesNotHurtTheCaller) {
  Open(Level::kDebug);
  STET_LOG(kInfo, "{}", Unprintable());
  STET_LOG(kInfo, "next");
  EXPECT_EQ(Text(), "next");
}

TEST_F(DiagnosticsTest, LinesOfManyThreadsDoNotMix) {
  Open(Level::kDebug);
  constexpr int kThreads = 4;
  constexpr int kEach = 100;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([] {
      for (int j = 0; j < kEach; ++j) STET_LOG(kInfo, "{}", std::string(500, 'x'));
    });
  for (std::thread& thread : threads) thread.join();
  const auto lines = Lines();
  EXPECT_EQ(lines.size(), static_cast<std::size_t>(kThreads * kEach));
  EXPECT_TRUE(std::ranges::all_of(
      lines, [](const std::string& line) { return line.ends_with(std::string(500, 'x')); }));
}

TEST_F(DiagnosticsTest, OtherFilesHaveTheSameLinesAndRotateSooner) {
  Open(Level::kInfo);
  const std::string other = dir_.Sub("other.log");
  STET_LOG_IN(other, kDebug, "below");
  EXPECT_FALSE(Exists(other));
  STET_LOG_IN(other, kWarn, "turn ended reason={}", "two\nlines");
  const std::string line = ReadFile(other).value_or("");
  EXPECT_TRUE(line.ends_with(" turn ended reason=two\\nlines\n")) << line;
  EXPECT_NE(line.find(" warn "), std::string::npos);
  EXPECT_EQ(StatFile(other)->mode, 0600U);
  EXPECT_TRUE(Lines().empty()) << "not in the program's own";
  ASSERT_TRUE(ReplaceFile(other, std::string(Diagnostics::kMaxOtherBytes, 'x'), Durable::kNo));
  STET_LOG_IN(other, kInfo, "next");
  EXPECT_EQ(StatFile(other + ".1")->size, Diagnostics::kMaxOtherBytes);
  EXPECT_LT(StatFile(other)->size, 200U);
  STET_LOG_IN(dir_.Sub("none") + "/x/log", kError, "no folder: lost in silence");
  Diagnostics::Close();
  STET_LOG_IN(other, kError, "closed");
  EXPECT_EQ(ReadFile(other)->find("closed"), std::string::npos);
}

TEST_F(DiagnosticsTest, AFailedOpenLeavesItClosed) {
  Open(Level::kDebug);
  EXPECT_EQ(Diagnostics::Open(dir_.Sub("none/log"), Level::kDebug).error().code, Code::kNotFound);
  EXPECT_FALSE(Diagnostics::Enabled(Level::kError));
}

}  // namespace
}  // namespace stet
