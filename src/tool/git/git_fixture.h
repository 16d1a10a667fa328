// A repository for tests, made by git itself.
#pragma once

#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/subprocess/subprocess.h"
#include "base/temp_dir.h"
#include "tool/git/tracked.h"

namespace stet::tool {

class GitFixture : public testing::Test {
 protected:
  GitFixture() { EXPECT_TRUE(MakeDirs(root_)); }

  /// What git, or any line of a shell, says in a folder below the top of the tests.
  std::string ShellIn(const std::string& folder, const std::string& line) const {
    SpawnOptions options;
    options.argv = {"/bin/sh", "-c", line};
    options.cwd = folder;
    options.env = {"PATH=/usr/local/bin:/usr/bin:/bin",
                   "HOME=" + home_,
                   "GIT_CONFIG_NOSYSTEM=1",
                   "GIT_AUTHOR_NAME=u",
                   "GIT_AUTHOR_EMAIL=u@example.com",
                   "GIT_COMMITTER_NAME=u",
                   "GIT_COMMITTER_EMAIL=u@example.com",
                   "LC_ALL=C"};
    const Result<Finished> ran =
        Subprocess::Run(std::move(options), Deadline::After(std::chrono::minutes(1)), {});
    EXPECT_TRUE(ran && ran->exit_code == 0) << line << (ran ? ran->out + ran->err : "");
    return ran ? ran->out : "";
  }
  std::string Git(const std::string& command) const {
    return ShellIn(root_,
                   "git -c init.defaultBranch=main -c protocol.file.allow=always " + command);
  }
  void Put(const std::string& name, const std::string& text, mode_t mode = 0644) const {
    ASSERT_TRUE(MakeDirs(ParentDir(root_ + "/" + name)));
    ASSERT_TRUE(ReplaceFile(root_ + "/" + name, text, Durable::kNo, mode));
  }

  /// Has git write its index anew once the clock of the file system went on: then no entry of it is
  /// of the moment in which it was written.
  void Settle(const std::string& folder = "") const {
    const std::string at = folder.empty() ? root_ : root_ + "/" + folder;
    const std::string probe = dir_.path() + "/probe";
    const auto now = [&] {
      EXPECT_TRUE(ReplaceFile(probe, "", Durable::kNo));
      return StatFile(probe).value().mtime_ns;
    };
    for (const std::uint64_t before = now(); now() == before;) {
    }
    ShellIn(at, "git update-index -q --refresh; git update-index --force-write-index");
  }

  [[nodiscard]] Environment OwnEnvironment() const { return Environment({"HOME=" + home_}); }
  [[nodiscard]] TrackedFiles Read() const { return TrackedFiles::Read(root_, OwnEnvironment()); }

  [[nodiscard]] std::optional<GitObject> Object(const TrackedFiles& files, const std::string& name,
                                                HashBudget budget = {}) const {
    struct stat now{};
    if (::lstat((root_ + "/" + name).c_str(), &now) != 0) return std::nullopt;
    return files.ObjectOf(name, now, budget);
  }
  /// Nothing may be hashed.
  [[nodiscard]] bool IsSure(const std::string& name) const {
    return Object(Read(), name, {.bytes = 0, .until = Deadline::Never()}).has_value();
  }
  /// It may be hashed.
  [[nodiscard]] bool Is(const std::string& name) const { return Object(Read(), name).has_value(); }

  TempDir dir_;
  std::string home_ = dir_.path() + "/home";
  std::string root_ = dir_.path() + "/project";
};

}  // namespace stet::tool
