// The command line and the policy know the same permission modes.
#include <algorithm>

#include <gtest/gtest.h>

#include "cli/program.h"
#include "policy/policy.h"

namespace stet {
namespace {

TEST(PermissionModesTest, TheCommandLineTakesThoseThatThePolicyHas) {
  const cli::Verb program = cli::WholeProgram();
  const auto option = std::ranges::find(program.options, "--permission-mode", &cli::Option::names);
  ASSERT_NE(option, program.options.end());
  const auto& taken = std::get<cli::OneOf>(option->check);
  for (const std::string& name : taken) EXPECT_TRUE(policy::ModeFrom(name)) << name;
  for (const policy::Mode mode :
       {policy::Mode::kDefault, policy::Mode::kAcceptEdits, policy::Mode::kAuto,
        policy::Mode::kPlan, policy::Mode::kDontAsk, policy::Mode::kBypass})
    EXPECT_NE(std::ranges::find(taken, policy::ModeName(mode)), taken.end())
        << policy::ModeName(mode);
}

}  // namespace
}  // namespace stet
