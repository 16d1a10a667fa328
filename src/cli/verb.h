// Verb: one verb of the command line as a value: its arguments, its help, and what it runs.
//
// A verb is a file in cli/verbs and a line in cli/program.cc. It knows nothing of the library that
// reads the command line; cli/parser does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "cli/run.h"
#include "face/clients.h"
#include "face/console.h"

namespace stet::cli {

/// What a verb works with.
struct VerbEnvironment {
  const face::Clients& clients;
  const Faces& faces;
  face::Console& console;
};

/// Where the value of an argument goes. A bool is a flag; everything else takes a value.
using Target =
    std::variant<bool*, std::string*, std::optional<std::string>*, std::vector<std::string>*,
                 std::int64_t*, std::optional<std::int64_t>*, std::size_t*, double*>;

/// What a value must be; the help shows it.
using OneOf = std::vector<std::string>;
template <class T>
struct Between {
  T least;
  T most;
};
struct NotNegative {};
struct Positive {};
using Check =
    std::variant<std::monostate, OneOf, Between<int>, Between<double>, NotNegative, Positive>;

/// How often a value may be given, where that is not clear from the target.
enum class Values {
  kAsTarget,
  kOptional,    // None or one: the name alone is enough, and leaves an empty text.
  kOneByOne,    // One each time that it is named.
  kWithCommas,  // Also several in one word.
};

struct Option {
  std::string names;  // "-y,--yes"; without dashes it is known by its place.
  Target target;
  std::string help;
  bool required = false;
  bool hidden = false;
  Check check = {};
  std::string excludes = {};  // The name of an earlier option of the same verb.
  Values values = Values::kAsTarget;
  std::string shown_type = {};  // In the help, in place of what the target says.
};

inline Option JsonFlag(bool& json) { return {"--json", &json, "Print JSON"}; }

/// Targets lie in what `run` holds.
struct Verb {
  std::string name;
  std::string help;
  std::vector<Option> options;
  std::vector<Verb> verbs;  // Below it. Without `run` and `wrong` one of them must be named.
  /// The exit code, or why it failed.
  std::function<Result<int>(const VerbEnvironment&)> run;
  /// What of the arguments does not go together; empty when all does.
  std::function<std::string()> wrong;
  bool positionals_last = false;  // What follows the first of them is never an option.
};

/// A verb by what the help of the program says; the rest is described when it is needed.
struct VerbEntry {
  std::string_view name;
  std::string_view help;
  void (*describe)(Verb& verb);
};

/// What a verb runs that asks one client, which is made then: Asks<&face::Clients::device>.
template <auto kClient, class Given, class Client>
auto Asks(std::shared_ptr<Given> given, Result<int> (*run)(const Given&, Client&, face::Console&)) {
  return [given = std::move(given), run](const VerbEnvironment& with) -> Result<int> {
    ASSIGN_OR_RETURN(const auto client, (with.clients.*kClient)());
    return run(*given, *client, with.console);
  };
}

}  // namespace stet::cli
