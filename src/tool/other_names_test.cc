#include "tool/other_names.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tool/paths.h"
#include "tool/tool_fixture.h"

namespace stet::tool {
namespace {

class OtherNamesTest : public ToolTest {
 protected:
  OtherNamesTest() {
    workspace_.exclude = std::make_shared<const IgnoreFile>("secret/\n");
    workspace_.secret_names = {".env"};
    Put("a", "x");
  }
  void Name(const std::string& from, const std::string& to) {
    ASSERT_TRUE(MakeDirs(ParentDir(to)));
    ASSERT_EQ(::link(from.c_str(), to.c_str()), 0);
  }
};

TEST_F(OtherNamesTest, NamesInTheProjectAreOneFileAndNoneElsewhereIsPassedOver) {
  EXPECT_EQ(CautionAbout(Path("a"), workspace_), "");
  Name(Path("a"), Path("sub/b"));
  EXPECT_EQ(CautionAbout(Path("a"), workspace_), "");
  Name(Path("a"), temp_.Sub("outside"));
  EXPECT_NE(CautionAbout(Path("a"), workspace_).find("outside of the project"), std::string::npos);
  EXPECT_EQ(CautionAboutReading(Path("a"), workspace_), "");
}

TEST_F(OtherNamesTest, ANameThatIsExcludedOrCalledLikeASecretIsAskedForReadingToo) {
  Name(Path("a"), Path("secret/deep/b"));
  EXPECT_NE(CautionAbout(Path("a"), workspace_).find("secret/deep/b"), std::string::npos);
  EXPECT_NE(CautionAboutReading(Path("a"), workspace_).find("secret/deep/b"), std::string::npos);
  Put("c", "y");
  Name(Path("c"), Path(".env"));
  EXPECT_NE(CautionAboutReading(Path("c"), workspace_).find(".env"), std::string::npos);
  EXPECT_EQ(CautionAboutReading(Path(".env"), workspace_), "")
      << "its own name is judged by itself";
}

}  // namespace
}  // namespace stet::tool
