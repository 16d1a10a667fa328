#include "emulator/program.h"

#include <charconv>
#include <csignal>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <sys/resource.h>

#include "base/fs.h"
#include "emulator/emulator.h"

namespace stet::emulator {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

constexpr std::string_view kHelp =
    "Usage: stet emulator --script FILE [OPTION...]\n"
    "\n"
    "Answers model requests on 127.0.0.1 as a script says, until it is interrupted.\n"
    "doc/format/emulator.md describes scripts.\n"
    "\n"
    "  --script FILE     what to answer (JSON)\n"
    "  --port N          the port; 0, the default, takes any that is free\n"
    "  --port-file FILE  gets the port's number once the emulator listens\n"
    "  --record FILE     gets a line of JSON for each model request\n"
    "  --schemas DIR     checks requests against DIR/DIALECT.json; see scripts/wire_schemas\n";

struct Arguments {
  std::string script;
  std::string port_file;
  Options options;
  bool help = false;
};

Status TakeOption(Arguments& arguments, std::string_view name, std::string_view value) {
  if (name == "--script") {
    arguments.script = value;
  } else if (name == "--port-file") {
    arguments.port_file = value;
  } else if (name == "--record") {
    arguments.options.record = value;
  } else if (name == "--schemas") {
    arguments.options.schemas = value;
  } else {
    const auto [stop, error] =
        std::from_chars(value.data(), value.data() + value.size(), arguments.options.port);
    if (error != std::errc() || stop != value.data() + value.size()) {
      return Fail(Code::kInvalid, fmt::format("--port is a number up to 65535, not {}", value));
    }
  }
  return {};
}

bool IsOption(std::string_view name) {
  return name == "--script" || name == "--port-file" || name == "--record" || name == "--schemas" ||
         name == "--port";
}

Result<Arguments> ParseArguments(std::span<const char* const> words) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--help" || word == "-h") {
      arguments.help = true;
      return arguments;
    }
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    if (!IsOption(name)) return Fail(Code::kInvalid, fmt::format("there is no {}", word));
    if (equals == std::string_view::npos && i + 1 == words.size()) {
      return Fail(Code::kInvalid, fmt::format("{} needs a value", name));
    }
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view(words[++i]) : word.substr(equals + 1);
    RETURN_IF_ERROR(TakeOption(arguments, name, value));
  }
  if (arguments.script.empty()) return Fail(Code::kInvalid, "--script is missing");
  return arguments;
}

/// A thousand connections need more descriptors than many systems grant at first.
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  // Ignoring the error on purpose: fewer connections still work.
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

Status Run(const Arguments& arguments) {
  // Blocked before the first thread starts, so that only sigwait below sees them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  RaiseDescriptorLimit();

  ASSIGN_OR_RETURN(const std::string script, ReadFile(arguments.script));
  Result<std::unique_ptr<Emulator>> emulator = Emulator::Start(script, arguments.options);
  if (!emulator) return std::unexpected(std::move(emulator).error().While(arguments.script));
  if (!arguments.port_file.empty()) {
    RETURN_IF_ERROR(
        ReplaceFile(arguments.port_file, fmt::format("{}\n", (*emulator)->port()), Durable::kNo));
  }
  std::printf("listening on %s\n", (*emulator)->base_url().c_str());
  std::fflush(stdout);
  int signal = 0;
  ::sigwait(&signals, &signal);
  return {};
}

int Complain(const std::string& message, int exit_code) {
  std::fprintf(stderr, "stet emulator: %s\n", message.c_str());
  return exit_code;
}

}  // namespace

int EmulatorMain(int argc, const char* const* argv) {
  const Result<Arguments> arguments =
      ParseArguments(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
  if (!arguments) {
    return Complain(arguments.error().message + "; see stet emulator --help", kUsage);
  }
  if (arguments->help) {
    std::fwrite(kHelp.data(), 1, kHelp.size(), stdout);
    return 0;
  }
  const Status ran = Run(*arguments);
  return ran ? 0 : Complain(ran.error().Text(), kFailed);
}

}  // namespace stet::emulator
