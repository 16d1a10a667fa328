#include "tool/call_check.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest_name.h"
#include "base/text.h"
#include "base/utf8.h"
#include "json/view.h"

namespace stet::tool {
namespace {

constexpr std::size_t kMaxNameShown = 64;
constexpr std::size_t kMaxNearest = 3;

std::vector<std::string_view> Nearest(std::string_view name,
                                      const std::vector<std::string_view>& names) {
  std::vector<std::pair<std::size_t, std::string_view>> ranked;
  ranked.reserve(names.size());
  for (const std::string_view known : names)
    ranked.emplace_back(LetterDistance(Lower(name), Lower(known)), known);
  std::ranges::sort(ranked);
  if (ranked.size() > kMaxNearest) ranked.resize(kMaxNearest);
  std::vector<std::string_view> nearest;
  for (const auto& [distance, known] : ranked) nearest.push_back(known);
  return nearest;
}

/// Arguments that are a string are what the model wrote when that was no JSON.
Status CheckIsObject(const Raw& args) {
  const JsonView json(args.text);
  if (json.is_object()) return {};
  const std::optional<std::string> text = json.String();
  if (!text)
    return Fail(Code::kInvalid, "The arguments are not a JSON object. Call again with an object.");
  if (const Status status = CheckJson(*text); !status)
    return Fail(Code::kInvalid, fmt::format("The arguments are not valid JSON ({}). Nothing was "
                                            "run. Call again with a complete JSON object.",
                                            status.error().message));
  return Fail(
      Code::kInvalid,
      "The arguments are a JSON string that holds JSON. Call again with the object itself.");
}

}  // namespace

Result<std::shared_ptr<const JsonSchema>> SharedSchema(std::string_view text) {
  constexpr std::size_t kManyKnown = 256;
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const JsonSchema>, std::less<>> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(text); found != known.end()) {
    if (auto schema = found->second.lock()) return schema;
  }
  ASSIGN_OR_RETURN(JsonSchema parsed, JsonSchema::Parse(text));
  if (known.size() >= kManyKnown)
    std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  auto schema = std::make_shared<const JsonSchema>(std::move(parsed));
  known.insert_or_assign(std::string(text), schema);
  return schema;
}

Status CheckArguments(std::string_view tool, const JsonSchema& schema, const Raw& args) {
  RETURN_IF_ERROR(CheckIsObject(args));
  // Hooks and clients are asked about the same text, and may read the other of the two.
  if (const auto repeated = RepeatedMember(args.text))
    return Fail(Code::kInvalid,
                fmt::format("The arguments name \"{}\" twice in one object. Nothing was run. Call "
                            "again with each name once.",
                            *repeated));
  const std::vector<SchemaError> errors = schema.Validate(args.text);
  if (errors.empty()) return {};
  std::string message = fmt::format("The arguments do not fit the schema of {}:", tool);
  for (const SchemaError& error : errors)
    message +=
        fmt::format("\n- {}: {}", error.path.empty() ? "(arguments)" : error.path, error.message);
  return Fail(Code::kInvalid, std::move(message));
}

Error NoSuchTool(std::string_view called, const std::vector<std::string_view>& names) {
  const std::string_view shown = called.substr(0, Utf8PrefixLength(called, kMaxNameShown));
  const std::vector<std::string_view> nearest = Nearest(shown, names);
  return Error(
      Code::kNotFound,
      fmt::format("There is no tool named {}.{}", shown,
                  nearest.empty() ? std::string()
                                  : fmt::format(" Did you mean {}?", fmt::join(nearest, ", "))));
}

}  // namespace stet::tool
