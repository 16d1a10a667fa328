#include "tool/git/obeyed.h"

#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/temp_dir.h"

namespace stet::tool {
namespace {

using Paths = std::vector<std::string>;

TEST(ObeyedTest, HooksAndConfigurationOfTheRepositoryAndItsSubmodulesAreListed) {
  const TempDir temp;
  for (const char* folder : {".git/info", ".git/modules/libs/a", ".git/modules/b"})
    ASSERT_TRUE(MakeDirs(temp.Sub(folder)));
  for (const char* file :
       {".git/info/attributes", ".git/modules/libs/a/HEAD", ".git/modules/b/HEAD", "link"})
    ASSERT_TRUE(ReplaceFile(temp.Sub(file), "", Durable::kNo));
  const std::string git = temp.Sub(".git");
  EXPECT_EQ(ObeyedByGit(git),
            (Paths{git + "/hooks", git + "/config", git + "/info/attributes",
                   git + "/modules/b/hooks", git + "/modules/b/config",
                   git + "/modules/libs/a/hooks", git + "/modules/libs/a/config"}));
  EXPECT_EQ(ObeyedByGit(temp.Sub("link")), Paths{temp.Sub("link")});
  EXPECT_EQ(ObeyedByGit(temp.Sub("nothing")), Paths());
}

}  // namespace
}  // namespace stet::tool
