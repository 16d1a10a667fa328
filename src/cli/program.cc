#include "cli/program.h"

#include <algorithm>

#include "cli/work_arguments.h"

namespace stet::cli {

// Every verb, in the order of the help: VERB(Vault) is VaultVerb() in verbs/vault.cc.
#define STET_VERBS(VERB) \
  VERB(Sessions)         \
  VERB(Models)           \
  VERB(Setup)            \
  VERB(Doctor)           \
  VERB(Config)           \
  VERB(Trust)            \
  VERB(Vault)            \
  VERB(Sandbox)          \
  VERB(Hooks)            \
  VERB(Extensions)       \
  VERB(Host)             \
  VERB(Attach)           \
  VERB(Tasks)            \
  VERB(Completion)       \
  VERB(Replay)           \
  VERB(Context)          \
  VERB(Emulator)         \
  VERB(Acp)

#define STET_DECLARE(name) VerbEntry name##Verb();
STET_VERBS(STET_DECLARE)
#undef STET_DECLARE

namespace {

template <class Wanted>
Verb Program(Wanted wanted) {
  Verb program{.name = "stet",
               .help =
                   "stet runs a language model in a tool loop over your repository; everything "
                   "that happens is one append-only event log."};
  DescribeWork(program);
#define STET_ENTRY(name) name##Verb(),
  for (const VerbEntry& entry : {STET_VERBS(STET_ENTRY)}) {
    Verb& verb = program.verbs.emplace_back(
        Verb{.name = std::string(entry.name), .help = std::string(entry.help)});
    if (wanted(entry.name)) entry.describe(verb);
  }
#undef STET_ENTRY
  return program;
}

}  // namespace

Verb WholeProgram() {
  return Program([](std::string_view) { return true; });
}

Verb ProgramFor(std::span<const char* const> words) {
  return Program(
      [&](std::string_view name) { return std::ranges::find(words, name) != words.end(); });
}

}  // namespace stet::cli
