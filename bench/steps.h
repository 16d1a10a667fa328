// Steps: turns of many steps against the emulator, and the time between the end of a reply and the
// next request.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"
#include "bench/cost.h"
#include "emulator/emulator.h"
#include "json/writer.h"

namespace stet::bench {

/// A script in which each step calls a tool; `args` writes the members of its arguments.
inline std::string StepsScript(int steps, std::string_view tool,
                               const std::function<void(JsonWriter&, int step)>& args) {
  std::string script;
  JsonWriter json(script);
  json.BeginObject().Key("replies").BeginArray();
  for (int step = 0; step < steps; ++step) {
    json.BeginObject().Key("blocks").BeginArray().BeginObject().Key("call").BeginObject();
    json.Member("name", tool).Key("args").BeginObject();
    args(json, step);
    json.EndObject().EndObject().EndObject().EndArray().EndObject();
  }
  json.BeginObject().Member("times", 0).Key("blocks").BeginArray().BeginObject();
  json.Member("text", "Done.").EndObject().EndArray().EndObject();
  json.EndArray().EndObject();
  return script;
}

/// From the end of a reply to the next request, in milliseconds, one each step.
inline Result<std::vector<double>> GapsOf(const emulator::Emulator& emulator, std::size_t steps) {
  const std::vector<emulator::RequestRecord> requests = emulator.Requests();
  if (requests.size() != steps + 1)
    return Fail(Code::kIo, fmt::format("{} requests instead of {}", requests.size(), steps + 1));
  std::vector<double> gaps;
  for (std::size_t step = 1; step < requests.size(); ++step)
    gaps.push_back(
        static_cast<double>(requests[step].received_us - requests[step - 1].end_us.value_or(0)) /
        1000);
  return gaps;
}

/// The configuration of a program that asks the emulator.
inline std::string ConfigFor(const emulator::Emulator& emulator) {
  return fmt::format(
      "[model]\ntype = 'custom'\nid = 'm'\napi = 'anthropic-messages'\nbaseUrl = '{}'\n",
      emulator.base_url());
}

}  // namespace stet::bench
