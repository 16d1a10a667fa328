#include "cli/program.h"

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

namespace stet::cli {
namespace {

/// Calls `visit` for the verb and all below it, with what a user types for each.
void ForEach(const Verb& verb, const std::string& path,
             const std::function<void(const std::string&, const Verb&)>& visit) {
  visit(path, verb);
  for (const Verb& below : verb.verbs) ForEach(below, path + " " + below.name, visit);
}

TEST(ProgramTest, EveryVerbHasHelpAndSomethingToDo) {
  ForEach(WholeProgram(), "stet", [](const std::string& path, const Verb& verb) {
    EXPECT_FALSE(verb.help.empty()) << path;
    EXPECT_TRUE(verb.run || verb.wrong || !verb.verbs.empty()) << path;
    for (const Option& option : verb.options)
      EXPECT_NE(option.help.empty(), !option.hidden) << path << " " << option.names;
  });
}

TEST(ProgramTest, NoTwoVerbsHaveTheSameName) {
  ForEach(WholeProgram(), "stet", [](const std::string& path, const Verb& verb) {
    std::vector<std::string> names;
    for (const Verb& below : verb.verbs) names.push_back(below.name);
    std::ranges::sort(names);
    EXPECT_EQ(std::ranges::adjacent_find(names), names.end()) << path;
  });
}

TEST(ProgramTest, OnlyVerbsThatAreNamedAreDescribed) {
  const std::vector<const char*> words = {"stet", "vault", "ls"};
  for (const Verb& verb : ProgramFor(words).verbs)
    EXPECT_NE(verb.verbs.empty() && verb.options.empty() && !verb.wrong, verb.name == "vault")
        << verb.name;
}

}  // namespace
}  // namespace stet::cli
