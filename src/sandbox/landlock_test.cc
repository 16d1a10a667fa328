#include "sandbox/landlock.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/temp_dir.h"
#include "sandbox/profile.h"
#include "sandbox/seccomp.h"

namespace stet::sandbox {
namespace {

TEST(AroundTest, EverythingIsCoveredButWhatIsUnreadable) {
  const TempDir temp;
  ASSERT_TRUE(MakeDirs(temp.Sub("a/b")));
  ASSERT_TRUE(MakeDirs(temp.Sub("a/secret")));
  ASSERT_TRUE(ReplaceFile(temp.Sub("a/file"), "", Durable::kNo));
  const std::vector<std::string> covered = Around({"/"}, {temp.Sub("a/secret")});
  const auto covers = [&](const std::string& path) {
    return std::ranges::any_of(covered, [&](const std::string& one) { return Inside(path, one); });
  };
  EXPECT_TRUE(covers(temp.Sub("a/b/c")));
  EXPECT_TRUE(covers(temp.Sub("a/file")));
  EXPECT_TRUE(covers("/usr/bin"));
  EXPECT_FALSE(covers(temp.Sub("a/secret")));
  EXPECT_FALSE(covers(temp.Sub("a/secret/x")));
  EXPECT_EQ(Around({"/"}, {}), std::vector<std::string>{"/"});
  EXPECT_EQ(Around({"/"}, {"/"}), std::vector<std::string>());
}

TEST(SeccompTest, EveryJumpStaysInsideTheFilterAndItEndsWithAnAnswer) {
  for (const bool inet : {false, true}) {
    const std::vector<sock_filter> filter = SeccompFilter({.inet = inet, .local = !inet});
    ASSERT_LT(filter.size(), 4096U);
    for (std::size_t i = 0; i < filter.size(); ++i) {
      if (BPF_CLASS(filter[i].code) != BPF_JMP) continue;
      EXPECT_LT(i + 1 + filter[i].jt, filter.size());
      EXPECT_LT(i + 1 + filter[i].jf, filter.size());
    }
    EXPECT_EQ(BPF_CLASS(filter.back().code), BPF_RET);
  }
}

}  // namespace
}  // namespace stet::sandbox
