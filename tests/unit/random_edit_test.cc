// Random files under random edits: what was not replaced stays byte for byte, and a call that fails
// changes nothing.
#include <array>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/random.h"
#include "tests/scale.h"
#include "tool/text_file.h"
#include "tool/tool_fixture.h"

namespace stet::tool {
namespace {

struct Attributes {
  mode_t mode = 0;
  uid_t owner = 0;
  gid_t group = 0;

  friend bool operator==(const Attributes&, const Attributes&) = default;
};

class RandomEditTest : public ToolTest {
 protected:
  template <class List>
  const typename List::value_type& Any(const List& list) {
    return list[random_.Below(list.size())];
  }
  bool Chance(std::uint64_t one_in) { return random_.Below(one_in) == 0; }

  /// Text without the token, with line ends of one kind or of all.
  std::string SomeText(std::string_view end) {
    constexpr std::array<std::string_view, 8> kWords = {"word", "ünï",     "👍", " ",
                                                        "\t",   "{\"q\"}", "\\", "x"};
    constexpr std::array<std::string_view, 4> kEnds = {"\n", "\r\n", "\r", "\n\n"};
    std::string text;
    for (std::uint64_t left = random_.Below(12); left > 0; --left) {
      text += Any(kWords);
      if (Chance(2)) text += end.empty() ? Any(kEnds) : end;
    }
    return text;
  }

  /// A name that is awkward to print, to quote and to find.
  std::string SomeName() {
    constexpr std::array<std::string_view, 8> kNames = {
        "plain.txt", "new\nline", "q\"u'o`te", "ünï 👍", " ", "-rf", "$(x);&|", "dir/deep/a b"};
    return std::string(Any(kNames));
  }

  /// The file under a name, at times behind a symlink; the name to call it by.
  std::string Place(const std::string& bytes) {
    name_ = SomeName();
    constexpr std::array<mode_t, 6> kModes = {0644, 0600, 0755, 0666, 02755, 0640};
    Put(name_, bytes);
    EXPECT_EQ(::chmod(Path(name_).c_str(), Any(kModes)), 0);
    if (::geteuid() == 0 && Chance(4)) {
      EXPECT_EQ(::chown(Path(name_).c_str(), 1234, 2345), 0);
    }
    if (!Chance(4)) return name_;
    [[maybe_unused]] const int removed = ::unlink(Path("link").c_str());
    EXPECT_EQ(::symlink(Path(name_).c_str(), Path("link").c_str()), 0);
    return "link";
  }

  [[nodiscard]] Attributes AttributesOf(const std::string& name) const {
    struct stat found{};
    EXPECT_EQ(::lstat(Path(name).c_str(), &found), 0);
    return {found.st_mode, found.st_uid, found.st_gid};
  }

  Outcome Edit(const std::string& name, const std::string& from, const std::string& to) {
    return Run("Edit", Strings({{"file_path", name}, {"old_string", from}, {"new_string", to}}));
  }

  Random random_{5};
  std::string name_;  // Of the file itself.
};

constexpr std::array kEncodings = {Encoding::kUtf8, Encoding::kUtf8WithMark, Encoding::kUtf16Le,
                                   Encoding::kUtf16Be};
constexpr std::array<std::string_view, 3> kLineEnds = {"\n", "\r\n", ""};
constexpr std::string_view kToken = "TOKEN";

/// What EncodeText puts before the text.
std::size_t MarkBytes(Encoding encoding) { return EncodeText("", encoding).size(); }

TEST_F(RandomEditTest, WhatIsNotReplacedStaysByteForByte) {
  int edited = 0;
  for (int i = 0; i < TestScale().edits && !HasFailure(); ++i) {
    SCOPED_TRACE(testing::Message() << "edit " << i);
    const Encoding encoding = Any(kEncodings);
    const std::string_view end = Any(kLineEnds);
    const std::string before = SomeText(end);
    const std::string after = SomeText(end);
    const bool newline = Chance(3) && !end.empty();
    const std::string token = std::string(kToken) + (newline ? std::string(end) : "");
    const std::string bytes = EncodeText(before + token + after, encoding);
    const std::string called = Place(bytes);
    const Attributes attributes = AttributesOf(name_);
    ASSERT_FALSE(Run("Read", Strings({{"file_path", called}})).is_error);
    const std::string wanted = SomeText(Chance(2) ? "\n" : "\r\n");
    const Outcome outcome = Edit(called, newline ? "TOKEN\n" : "TOKEN", wanted);
    ASSERT_FALSE(outcome.is_error) << TextOf(outcome);
    ++edited;
    const std::string now = Get(name_);
    const std::string head = EncodeText(before, encoding);
    const std::string tail = EncodeText(after, encoding).substr(MarkBytes(encoding));
    ASSERT_GE(now.size(), head.size() + tail.size());
    EXPECT_TRUE(now.starts_with(head)) << "what stands before, and the mark";
    EXPECT_TRUE(now.ends_with(tail)) << "what stands behind, and the end of the file";
    const std::string middle = now.substr(head.size(), now.size() - head.size() - tail.size());
    const std::string put = DecodeText(EncodeText("", encoding) + middle).text;
    EXPECT_EQ(ToLf(put), ToLf(wanted));
    const bool one_kind = !end.empty() && (before + token + after).contains(end);
    if (one_kind) {
      EXPECT_EQ(put, end == "\n" ? ToLf(put) : ToCrLf(put));
    }
    EXPECT_EQ(AttributesOf(name_), attributes);
  }
  EXPECT_EQ(edited, TestScale().edits);
}

TEST_F(RandomEditTest, WritingAllOfAFileKeepsItsEncodingItsLineEndsAndItsMode) {
  for (int i = 0; i < TestScale().edits / 3 && !HasFailure(); ++i) {
    SCOPED_TRACE(testing::Message() << "write " << i);
    const Encoding encoding = Any(kEncodings);
    const std::string_view end = Chance(2) ? "\n" : "\r\n";
    const std::string old = "first" + std::string(end) + SomeText(end);
    const std::string called = Place(EncodeText(old, encoding));
    const Attributes attributes = AttributesOf(name_);
    ASSERT_FALSE(Run("Read", Strings({{"file_path", called}})).is_error);
    const std::string content = SomeText("\n") + "end";
    const Outcome outcome = Run("Write", Strings({{"file_path", called}, {"content", content}}));
    ASSERT_FALSE(outcome.is_error) << TextOf(outcome);
    EXPECT_EQ(Get(name_), EncodeText(end == "\n" ? content : ToCrLf(content), encoding));
    EXPECT_EQ(AttributesOf(name_), attributes);
  }
}

/// Something that is not text in any encoding that is known, with the token in it.
TEST_F(RandomEditTest, WhatCannotBeWrittenBackExactlyIsRefused) {
  using namespace std::string_literals;
  const std::array files = {"caf\xE9 TOKEN\n"s,
                            "TOKEN \x80\n"s,
                            "TOKEN\0binary"s,
                            "\xFF\xFET\0O\0K\0E\0N\0\x00\xD8"s,
                            "\xFF\xFET\0O\0K\0E\0N\0x"s,
                            "\xEF\xBB\xBFTOKEN \xC3("s};
  for (const std::string& bytes : files) {
    Put("a", bytes);
    Run("Read", Strings({{"file_path", "a"}}));
    EXPECT_TRUE(Edit("a", "TOKEN", "new").is_error) << bytes;
    EXPECT_TRUE(Run("Write", Strings({{"file_path", "a"}, {"content", "new"}})).is_error) << bytes;
    EXPECT_EQ(Get("a"), bytes);
  }
  EXPECT_TRUE(written_.empty());
}

TEST_F(RandomEditTest, AFailedCallLeavesTheFileItself) {
  for (int i = 0; i < TestScale().edits / 10 && !HasFailure(); ++i) {
    const std::string bytes = SomeText("") + "TOKEN" + SomeText("");
    const std::string called = Place(bytes);
    ASSERT_FALSE(Run("Read", Strings({{"file_path", called}})).is_error);
    const auto before = StatFile(Path(name_));
    record_fails_ = Chance(2);
    const std::string second = record_fails_
                                   ? R"("old_string":"new","new_string":"newer")"
                                   : R"("old_string":"nowhere to be found","new_string":"x")";
    Raw args{""};
    JsonWriter(args.text)
        .BeginObject()
        .Member("file_path", called)
        .Key("edits")
        .Text(R"([{"old_string":"TOKEN","new_string":"new"},{)" + second + "}]")
        .EndObject();
    EXPECT_TRUE(Run("Edit", args).is_error);
    record_fails_ = false;
    EXPECT_EQ(Get(name_), bytes);
    EXPECT_EQ(StatFile(Path(name_))->inode, before->inode);
    EXPECT_EQ(StatFile(Path(name_))->mtime_ns, before->mtime_ns);
  }
}

/// Ways in which others change a file.
enum class Outside { kAppend, kSameSizeAndTime, kReplace, kDelete, kFifo, kLinkAway, kWays };

class OutsideChangeTest : public RandomEditTest {
 protected:
  /// Does it to project/a, and gives what is there then, if that is a file.
  std::string Do(Outside way) {
    const std::string path = Path("a");
    switch (way) {
      case Outside::kAppend: {
        const Fd fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
        EXPECT_TRUE(WriteAll(fd.get(), "more"));
        return "TOKEN\nmore";
      }
      case Outside::kSameSizeAndTime: {
        struct stat was{};
        EXPECT_EQ(::stat(path.c_str(), &was), 0);
        const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
        EXPECT_TRUE(WriteAll(fd.get(), "token"));
        const std::array times = {was.st_atim, was.st_mtim};
        EXPECT_EQ(::utimensat(AT_FDCWD, path.c_str(), times.data(), 0), 0);
        return "token\n";
      }
      case Outside::kReplace: Put("a", "other TOKEN\n"); return "other TOKEN\n";
      case Outside::kDelete: EXPECT_EQ(::unlink(path.c_str()), 0); return "";
      case Outside::kFifo:
        EXPECT_EQ(::unlink(path.c_str()), 0);
        EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
        return "";
      default:
        EXPECT_TRUE(ReplaceFile(temp_.Sub("secret"), "TOKEN\n", Durable::kNo));
        EXPECT_EQ(::unlink(path.c_str()), 0);
        EXPECT_EQ(::symlink(temp_.Sub("secret").c_str(), path.c_str()), 0);
        return "TOKEN\n";
    }
  }

  void ExpectUntouched(Outside way, const std::string& bytes) {
    if (!bytes.empty()) {
      EXPECT_EQ(Get("a"), bytes);
    }
    if (way == Outside::kLinkAway) {
      EXPECT_EQ(ReadFile(temp_.Sub("secret")).value_or(""), "TOKEN\n");
    }
    if (way == Outside::kDelete) {
      EXPECT_FALSE(Exists(Path("a")));
    }
  }
};

TEST_F(OutsideChangeTest, IsNeverWrittenOver) {
  for (int way = 0; way < static_cast<int>(Outside::kWays); ++way) {
    for (const bool while_recording : {false, true}) {
      SCOPED_TRACE(testing::Message() << "way " << way << ", while recording: " << while_recording);
      ASSERT_TRUE(RemoveTree(Path("")));
      Put("a", "TOKEN\n");
      Read("a");
      std::string bytes;
      const auto change = [&] { bytes = Do(static_cast<Outside>(way)); };
      if (while_recording)
        on_record_ = change;
      else
        change();
      EXPECT_TRUE(Edit("a", "TOKEN", "new").is_error);
      on_record_ = nullptr;
      ExpectUntouched(static_cast<Outside>(way), bytes);
    }
  }
}

TEST_F(OutsideChangeTest, AFolderThatBecameALinkIsNotFollowed) {
  ASSERT_TRUE(MakeDirs(Path("d")));
  ASSERT_TRUE(MakeDirs(temp_.Sub("outside")));
  for (const char* name : {"d/new", "d/deep/new"}) {
    on_record_ = [&] {
      ASSERT_EQ(::rename(Path("d").c_str(), Path("was").c_str()), 0);
      ASSERT_EQ(::symlink(temp_.Sub("outside").c_str(), Path("d").c_str()), 0);
    };
    EXPECT_TRUE(Run("Write", Strings({{"file_path", name}, {"content", "x"}})).is_error);
    on_record_ = nullptr;
    EXPECT_TRUE(ListDir(temp_.Sub("outside"))->empty());
    ASSERT_EQ(::unlink(Path("d").c_str()), 0);
    ASSERT_EQ(::rename(Path("was").c_str(), Path("d").c_str()), 0);
  }
}

TEST_F(RandomEditTest, SizesAtTheCapAreEditedAndAboveItRefused) {
  std::string bytes = "TOKEN\n";
  while (bytes.size() < kMaxTextBytes) bytes += std::string(1023, 'x') + "\n";
  bytes.resize(kMaxTextBytes);
  Put("a", bytes);
  Run("Read", R"({"file_path":"a","limit":1})");
  EXPECT_TRUE(Edit("a", "TOKEN", "TOKENS").is_error) << "one byte too many";
  EXPECT_EQ(Sha256Hex(Get("a")), Sha256Hex(bytes));
  EXPECT_FALSE(Edit("a", "TOKEN", "token").is_error);
  bytes.replace(0, 5, "token");
  EXPECT_EQ(Sha256Hex(Get("a")), Sha256Hex(bytes));
  Put("a", bytes + "y");
  EXPECT_TRUE(Run("Read", R"({"file_path":"a","limit":1})").is_error);
  EXPECT_TRUE(Edit("a", "token", "x").is_error);
}

TEST_F(RandomEditTest, AFileWithSeveralNamesStaysOneFile) {
  Put("a", "TOKEN\n");
  ASSERT_EQ(::link(Path("a").c_str(), Path("b").c_str()), 0);
  Read("a");
  EXPECT_FALSE(Edit("a", "TOKEN", "new").is_error);
  EXPECT_EQ(Get("a"), "new\n");
  EXPECT_EQ(Get("b"), "new\n");
  EXPECT_EQ(StatFile(Path("a"))->links, 2U);
}

TEST_F(RandomEditTest, AReadOnlyFileStaysAsItIs) {
  Put("a", "TOKEN\n");
  ASSERT_EQ(::chmod(Path("a").c_str(), 0444), 0);
  Read("a");
  EXPECT_TRUE(Edit("a", "TOKEN", "new").is_error);
  EXPECT_TRUE(Run("Write", R"({"file_path":"a","content":"new"})").is_error);
  EXPECT_EQ(Get("a"), "TOKEN\n");
}

}  // namespace
}  // namespace stet::tool
