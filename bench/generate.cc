// generate DIR --bytes N | --events N [--seed S] [--sessions K]: writes K realistic sessions of
// that size into DIR. Numbers take the endings K, M and G. Prints one JSON line per session.
#include <charconv>
#include <cstdio>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/fs.h"
#include "bench/generator.h"

namespace {

std::optional<std::uint64_t> Number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view ending(stop, static_cast<std::size_t>(text.data() + text.size() - stop));
  if (ending.empty()) return number;
  if (ending == "K") return number << 10U;
  if (ending == "M") return number << 20U;
  if (ending == "G") return number << 30U;
  return std::nullopt;
}

int Usage(std::string_view problem) {
  fmt::print(stderr, "{}\nusage: generate DIR --bytes N | --events N [--seed S] [--sessions K]\n",
             problem);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  stet::bench::GenerateOptions options;
  std::uint64_t sessions = 1;
  if (argc < 2 || argv[1][0] == '-') return Usage("DIR is missing");
  for (int i = 2; i < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::optional<std::uint64_t> value = i + 1 < argc ? Number(argv[i + 1]) : std::nullopt;
    if (!value) return Usage(fmt::format("{} needs a number", name));
    if (name == "--bytes")
      options.bytes = *value;
    else if (name == "--events")
      options.events = *value;
    else if (name == "--seed")
      options.seed = *value;
    else if (name == "--sessions")
      sessions = *value;
    else
      return Usage(fmt::format("unknown option {}", name));
  }
  if (const stet::Status made = stet::MakeDirs(argv[1]); !made) return Usage(made.error().Text());
  for (std::uint64_t i = 0; i < sessions; ++i, ++options.seed) {
    const stet::Result<stet::bench::Generated> generated =
        stet::bench::GenerateSession(argv[1], options);
    if (!generated) {
      fmt::print(stderr, "{}\n", generated.error().Text());
      return 1;
    }
    fmt::print("{{\"sessionId\":\"{}\",\"events\":{},\"bytes\":{}}}\n", generated->session_id,
               generated->events, generated->bytes);
  }
  return 0;
}
