#include "base/private_process.h"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"

namespace stet {
namespace {

TEST(PrivateProcessTest, VariablesAreFoundAndNoneIsShown) {
  ASSERT_FALSE(ReadFile("/proc/self/environ").value_or("").empty());
  const pid_t child = ::fork();
  if (child == 0) {
    const char* path = std::getenv("PATH");
    const std::string before = path != nullptr ? path : "";
    MakeProcessPrivate();
    MakeProcessPrivate();
    path = std::getenv("PATH");
    const bool kept = before == (path != nullptr ? path : "");
    const std::string shown = ReadFile("/proc/self/environ").value_or("");
    const bool hidden = shown.find_first_not_of('\0') == std::string::npos;
    const bool closed = ::prctl(PR_GET_DUMPABLE) == 0;
    const bool changes = ::setenv("STET_TEST_NEW", "1", 1) == 0 && ::unsetenv("PATH") == 0 &&
                         std::getenv("PATH") == nullptr && std::getenv("STET_TEST_NEW") != nullptr;
    ::_exit((kept ? 0 : 1) + (hidden ? 0 : 2) + (closed ? 0 : 4) + (changes ? 0 : 8));
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace stet
