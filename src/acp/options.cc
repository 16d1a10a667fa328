#include "acp/options.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include <fmt/format.h>

namespace stet::acp {
namespace {

struct Value {
  std::string id;
  std::string name;
  std::string description;
};
using Values = std::vector<Value>;

struct ModeRow {
  std::string_view id;
  std::string_view name;
  std::string_view description;
};

constexpr std::array kModes = {
    ModeRow{"default", "Ask", "Asks before files are changed and commands are run"},
    ModeRow{"acceptEdits", "Accept edits", "Changes files of the project unasked"},
    ModeRow{"auto", "Auto", "Runs unasked what is judged to be harmless"},
    ModeRow{"plan", "Plan", "Reads and plans; nothing is changed"},
    ModeRow{"dontAsk", "Do not ask", "What would be asked is refused"},
};
/// Offered only where it is in force: it must have been wanted very much.
constexpr ModeRow kBypass = {"bypass", "Bypass", "Everything runs unasked"};

constexpr std::string_view kOwnEffort = "default";

Values ModesFor(const protocol::LiveState& state) {
  Values modes;
  const auto add = [&](const ModeRow& row) {
    modes.push_back({std::string(row.id), std::string(row.name), std::string(row.description)});
  };
  std::ranges::for_each(kModes, add);
  if (state.mode == kBypass.id) add(kBypass);
  return modes;
}

/// Those whose key is there or that need none, and the one in use.
Values ModelsFor(const protocol::LiveState& state, const protocol::ModelList& models) {
  std::set<std::string> usable;
  for (const protocol::ProviderRow& provider : models.providers)
    if (provider.key_present || provider.local) usable.insert(provider.name);
  Values values;
  bool current = false;
  for (const protocol::ModelRow& row : models.models) {
    const bool same = row.name == state.model;
    if (!row.configured && !same && !usable.contains(row.provider)) continue;
    current = current || same;
    values.push_back({row.name, row.title.empty() ? row.name : row.title, row.name});
  }
  if (!current) values.insert(values.begin(), {state.model, state.model, ""});
  return values;
}

Values EffortsFor(const protocol::LiveState& state, const protocol::ModelList& models) {
  Values values;
  const auto row = std::ranges::find_if(models.models, [&](const protocol::ModelRow& model) {
    return model.name == state.model ||
           fmt::format("{}/{}", model.provider, model.id) == state.model;
  });
  if (row == models.models.end() || row->efforts.empty()) return values;
  for (const std::string& effort : row->efforts) values.push_back({effort, effort, ""});
  if (state.effort.empty()) {
    values.insert(values.begin(), {std::string(kOwnEffort), "The model's own", ""});
  } else if (std::ranges::find(row->efforts, state.effort) == row->efforts.end()) {
    values.push_back({state.effort, state.effort, ""});
  }
  return values;
}

struct Select {
  std::string_view id;
  std::string_view name;
  std::string_view category;
};

void WriteSelect(JsonWriter& writer, const Select& select, std::string_view current,
                 const Values& values) {
  writer.BeginObject().Member("id", select.id).Member("name", select.name);
  writer.Member("category", select.category).Member("type", "select");
  writer.Member("currentValue", current).Key("options").BeginArray();
  for (const Value& value : values) {
    writer.BeginObject().Member("value", value.id).Member("name", value.name);
    if (!value.description.empty()) writer.Member("description", value.description);
    writer.EndObject();
  }
  writer.EndArray().EndObject();
}

}  // namespace

void WriteModes(JsonWriter& writer, const protocol::LiveState& state) {
  writer.BeginObject().Member("currentModeId", state.mode).Key("availableModes").BeginArray();
  for (const Value& mode : ModesFor(state)) {
    writer.BeginObject().Member("id", mode.id).Member("name", mode.name);
    writer.Member("description", mode.description).EndObject();
  }
  writer.EndArray().EndObject();
}

void WriteOptions(JsonWriter& writer, const protocol::LiveState& state,
                  const protocol::ModelList& models) {
  writer.BeginArray();
  WriteSelect(writer, {"mode", "Mode", "mode"}, state.mode, ModesFor(state));
  WriteSelect(writer, {"model", "Model", "model"}, state.model, ModelsFor(state, models));
  if (const Values efforts = EffortsFor(state, models); !efforts.empty()) {
    const std::string_view current = state.effort.empty() ? kOwnEffort : state.effort;
    WriteSelect(writer, {"effort", "Effort", "thought_level"}, current, efforts);
  }
  writer.EndArray();
}

Result<protocol::Change> ReadChoice(std::string_view option, const std::string& value,
                                    const protocol::LiveState& state) {
  protocol::Change change;
  if (option == "mode") {
    if (value != state.mode) change.mode = value;
  } else if (option == "model") {
    if (value != state.model) change.model = value;
  } else if (option == "effort") {
    const bool own = value == kOwnEffort && state.effort.empty();
    if (!own && value != state.effort) change.effort = value;
  } else {
    return Fail(Code::kInvalid, fmt::format("configId: there is no option {}", option));
  }
  return change;
}

}  // namespace stet::acp
