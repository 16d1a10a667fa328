#include "agent/scripts.h"

#include <gtest/gtest.h>

#include "agent/question.h"
#include "base/fs.h"
#include "base/temp_dir.h"

namespace stet::agent {
namespace {

class ScriptsTest : public testing::Test {
 protected:
  ScriptsTest() {
    workspace_.project = dir_.path();
    workspace_.cwd = dir_.path();
    rules_.project = dir_.path();
    rules_.mode = policy::Mode::kBypass;
    rules_.deny = *policy::ParseRules("Bash(rm *),Edit(locked)");
  }
  void Put(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(MakeDirs(ParentDir(dir_.Sub(name))));
    ASSERT_TRUE(ReplaceFile(dir_.Sub(name), text, Durable::kNo, 0755));
  }
  [[nodiscard]] bool IsDenied(const std::string& line) const {
    tool::Intent intent;
    intent.effects = true;
    intent.command = line;
    const policy::Question question = QuestionOf("Bash", intent, workspace_, rules_);
    return policy::Decide(rules_, question).verdict == policy::Verdict::kDeny;
  }

  TempDir dir_;
  tool::Workspace workspace_;
  policy::Rules rules_;
};

TEST_F(ScriptsTest, ARuleThatDeniesHoldsForWhatAScriptOfTheProjectNames) {
  Put("x.sh", "#!/bin/sh\nset -e\nrm -f gone\n");
  Put("outer.sh", "cd sub && ./inner.sh\n");
  Put("sub/inner.sh", "#!/usr/bin/env bash\nif true; then /bin/rm y; fi\n");
  Put("writes.sh", "echo x >locked\n");
  for (const char* line : {"bash x.sh", "sh -e ./x.sh", "./x.sh a b", ". ./x.sh", "source x.sh",
                           "true && timeout 5 ./x.sh", "bash outer.sh", "bash writes.sh"})
    EXPECT_TRUE(IsDenied(line)) << line;
}

TEST_F(ScriptsTest, WhatIsNotTheShellsOrNamesNothingDeniedRuns) {
  Put("good.sh", "#!/bin/bash\neval \"$(tool env)\"\n\"$CC\" -o x x.c\nmake \"$@\"\n");
  Put("x.py", "#!/usr/bin/env python3\nrm = 1\nrm -1\n");
  Put("binary", std::string("#!/bin/sh\n\0rm x", 15));
  Put("broken.sh", "if rm x\n");
  Put("large.sh", std::string(policy::kMaxShellBytes, '#') + "\nrm x\n");
  for (const char* line : {"bash good.sh", "./good.sh", "./x.py", "./binary", "bash broken.sh",
                           "bash large.sh", "bash absent.sh", "make"})
    EXPECT_FALSE(IsDenied(line)) << line;
}

TEST_F(ScriptsTest, ScriptsThatRunOneAnotherComeToAnEnd) {
  Put("a.sh", "./b.sh\n./a.sh\n");
  Put("b.sh", "./a.sh\nrm x\n");
  EXPECT_TRUE(IsDenied("./a.sh"));
}

}  // namespace
}  // namespace stet::agent
