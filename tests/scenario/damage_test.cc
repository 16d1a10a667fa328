// A bit of a session's log is flipped while its index is there: whichever line it is, the session
// goes on, at worst at the second try.
#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/temp_dir.h"
#include "log/paths.h"
#include "tests/scenario/program.h"

namespace stet::scenario {
namespace {

class DamageTest : public testing::Test {
 protected:
  DamageTest() {
    EXPECT_TRUE(MakeDirs(project_));
    EXPECT_TRUE(ReplaceFile(project_ + "/a.txt", "one\n", Durable::kNo));
    EXPECT_EQ(Stet({"-p", "hello"}).exit_code, 0);
    id_ = ListDir(program_.home() + "/sessions")->front().name;
    EXPECT_EQ(Stet({"-p", "-r", id_, "list *"}).exit_code, 0);
    for (const std::string& path : {paths().events(), paths().index(), paths().summary()})
      kept_.emplace_back(path, *ReadFile(path));
  }
  // What the damage took cannot be made again, as Program asks of every session.
  ~DamageTest() override { EXPECT_TRUE(RemoveTree(paths().dir)); }

  Ran Stet(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--cwd", project_});
    return program_.Run(std::move(arguments));
  }
  [[nodiscard]] log::Paths paths() const { return {program_.SessionDir(id_)}; }
  [[nodiscard]] const std::string& events() const { return kept_.front().second; }

  /// The session as it was, but for one bit of its log.
  void Flip(std::size_t at) {
    for (const auto& [path, bytes] : kept_) ASSERT_TRUE(ReplaceFile(path, bytes, Durable::kNo));
    std::string damaged = events();
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    ASSERT_TRUE(ReplaceFile(paths().events(), damaged, Durable::kNo));
  }

  Program program_;
  TempDir dir_;
  std::string project_ = dir_.path() + "/project";
  std::string id_;
  std::vector<std::pair<std::string, std::string>> kept_;  // Files of the session, the log first.
};

TEST_F(DamageTest, AFlippedBitUnderAGoodIndexBricksNoSession) {
  for (std::size_t start = 0; start < events().size();) {
    const std::size_t end = events().find('\n', start);
    SCOPED_TRACE(testing::Message() << "the line from byte " << start);
    Flip((start + end) / 2);
    EXPECT_EQ(program_.Run({"sessions", "show", id_}).exit_code, 0);
    if (Stet({"-p", "-r", id_, "hello again"}).exit_code != 0) {
      const Ran second = Stet({"-p", "-r", id_, "hello again"});
      EXPECT_EQ(second.exit_code, 0) << second.err;
    }
    start = end + 1;
  }
}

}  // namespace
}  // namespace stet::scenario
