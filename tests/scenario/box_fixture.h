// BoxTest: a command in a box of the real program, among things that it must not change or see.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "sandbox/apart_dir_fixture.h"
#include "sandbox/support.h"
#include "tests/scenario/program.h"

namespace stet::scenario {

inline constexpr std::string_view kSecretText = "open-sesame-4711";

/// As a shell takes it for one word.
inline std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

class BoxTest : public testing::TestWithParam<sandbox::Mechanism> {
 protected:
  void SetUp() override {
    for (const sandbox::Tried& tried : sandbox::TryAll()) {
      if (tried.mechanism == GetParam() && !tried.works)
        GTEST_SKIP() << "not active: " << tried.why_not;
    }
    ASSERT_TRUE(MakeDirs(program_.home()));
    Furnish();
    ASSERT_TRUE(ReplaceFile(program_.home() + "/vault", kSecretText, Durable::kNo));
  }

  /// What there is: a project, a home folder with keys, and another project.
  void Furnish() const {
    for (const char* folder : {"project/src", "project/.git/hooks", "user/.ssh", "other"})
      ASSERT_TRUE(MakeDirs(At(folder)));
    Put("project/.git/config", "[core]\n");
    Put("project/.git/HEAD", "ref: refs/heads/main\n");
    Put("project/src/run.sh", "#!/bin/sh\ntouch made\n");
    ASSERT_EQ(::chmod(At("project/src/run.sh").c_str(), 0755), 0);
    Put("project/src/a.txt", "alpha\nbeta\n");
    Put("project/secret.csv", std::string(kSecretText));
    Put("project/.stetignore", "*.csv\n");
    Put("user/.ssh/id_ed25519", std::string(kSecretText));
    Put("user/notes", std::string(kSecretText));
    Put("user/.gitconfig", "[alias]\nst = status\n");
    Put("other/file", std::string(kSecretText));
  }

  [[nodiscard]] std::string At(const std::string& name) const { return apart_.Sub(name); }
  void Put(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(ReplaceFile(At(name), text, Durable::kNo));
  }

  [[nodiscard]] Finished Run(const std::string& box, const std::string& line) const {
    SpawnOptions options = program_.Options({"sandbox", "--box", box, "--", "bash", "-c", line});
    for (const std::string& variable :
         {fmt::format("STET_SANDBOX={}", sandbox::MechanismName(GetParam())), "HOME=" + At("user"),
          fmt::format("MY_API_KEY={}", kSecretText),
          fmt::format("HARMLESS_LOOKING={}", kSecretText)})
      options.env->push_back(variable);
    options.cwd = At("project");
    options.merge_stderr = true;
    const Result<Finished> finished =
        Subprocess::Run(std::move(options), Deadline::After(std::chrono::seconds(60)), {});
    EXPECT_TRUE(finished) << finished.error().Text();
    return finished ? *finished : Finished();
  }
  [[nodiscard]] std::string Read(const std::string& line) const { return Run("reads", line).out; }

  /// Every file below, with its mode, time and content.
  [[nodiscard]] std::string Tree(const std::string& folder) const {
    std::string all;
    const Result<std::vector<DirEntry>> entries = ListDir(folder);
    if (!entries) return all;
    std::vector<std::string> names;
    for (const DirEntry& entry : *entries) names.push_back(entry.name);
    std::ranges::sort(names);
    for (const std::string& name : names) {
      const std::string path = folder + "/" + name;
      struct stat facts{};
      ::lstat(path.c_str(), &facts);
      all += fmt::format("{} {:o} {} {}\n", path, facts.st_mode, facts.st_mtim.tv_sec,
                         ReadFile(path).value_or(""));
      if (S_ISDIR(facts.st_mode)) all += Tree(path);
    }
    return all;
  }

  Program program_;
  sandbox::ApartDir apart_;
};

inline std::string MechanismText(const testing::TestParamInfo<sandbox::Mechanism>& one) {
  std::string name(sandbox::MechanismName(one.param));
  std::erase(name, '-');
  return name;
}

}  // namespace stet::scenario
