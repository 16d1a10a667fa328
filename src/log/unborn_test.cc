#include "log/unborn.h"

#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/lock.h"
#include "log/log_fixture.h"

namespace stet::log {
namespace {

class UnbornTest : public LogTest {
 protected:
  void SetUp() override { ASSERT_TRUE(MakeDirs(Dir())); }

  void Put(const std::string& name) {
    ASSERT_TRUE(ReplaceFile(Dir() + "/" + name, "", Durable::kNo));
  }
};

TEST_F(UnbornTest, ALogIsMadeInAFolderInWhichNoneCameToBe) {
  EXPECT_TRUE(IsUnborn({Dir()}));
  for (const char* name : {"lock", "events.jsonl", "diagnostics.log"}) {
    Put(name);
    EXPECT_TRUE(IsUnborn({Dir()})) << name;
  }
  {
    auto log = Create();
    ASSERT_TRUE(log);
    Append(*log, User("one"));
  }
  EXPECT_FALSE(IsUnborn({Dir()}));
  EXPECT_EQ(PathIds(*Open(Mode::kRead)).size(), 1u);
}

TEST_F(UnbornTest, ASessionThatLostItsLogIsNoUnbornOne) {
  EXPECT_FALSE(IsUnborn({Dir("ses_none")}));
  for (const char* name : {"summary.json", "index", "agents", "blobs"}) {
    Put(name);
    EXPECT_FALSE(IsUnborn({Dir()})) << name;
    EXPECT_TRUE(RemoveUnborn({Dir()}));
    ASSERT_TRUE(Remove(Dir() + "/" + name)) << "it is still there";
  }
}

TEST_F(UnbornTest, OneInWhichASessionIsJustBeingMadeIsNotRemoved) {
  {
    const Result<FileLock> maker = FileLock::Acquire(Paths{Dir()}.lock());
    ASSERT_TRUE(maker);
    EXPECT_EQ(RemoveUnborn({Dir()}).error().code, Code::kBusy);
    EXPECT_TRUE(Exists(Dir()));
  }
  EXPECT_TRUE(RemoveUnborn({Dir()}));
  EXPECT_FALSE(Exists(Dir()));
  EXPECT_TRUE(RemoveUnborn({Dir()})) << "there is nothing to do";
}

}  // namespace
}  // namespace stet::log
