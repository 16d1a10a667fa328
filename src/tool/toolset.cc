#include "tool/toolset.h"

#include <algorithm>

#include "json/view.h"
#include "json/writer.h"
#include "tool/call_check.h"

namespace stet::tool {

std::string EncodeToolSpecs(const protocol::ToolSpecs& specs) {
  std::string json;
  JsonWriter writer(json);
  writer.BeginArray();
  for (const protocol::ToolSpec& spec : specs) {
    writer.BeginObject();
    writer.Member("name", spec.name).Member("description", spec.description);
    writer.Member("schema", spec.schema).EndObject();
  }
  writer.EndArray();
  return json;
}

Result<protocol::ToolSpecs> DecodeToolSpecs(std::string_view json) {
  protocol::ToolSpecs specs;
  const JsonView list(json);
  if (!CheckJson(json) || !list.is_array())
    return Fail(Code::kCorrupt, "the kept list of tools cannot be read");
  list.ForEach([&](JsonView spec) {
    specs.push_back({spec["name"].StringOr(""), spec["description"].StringOr(""),
                     Raw{std::string(spec["schema"].text())}});
  });
  return specs;
}

Toolset::Toolset(protocol::ToolSpecs specs) : specs_(std::move(specs)) {
  schemas_.reserve(specs_.size());
  for (const protocol::ToolSpec& spec : specs_)
    schemas_.push_back(SharedSchema(spec.schema.text).value_or(nullptr));
}

std::vector<std::string_view> Toolset::names() const {
  std::vector<std::string_view> names;
  names.reserve(specs_.size());
  for (const protocol::ToolSpec& spec : specs_) names.emplace_back(spec.name);
  return names;
}

const protocol::ToolSpec* Toolset::Find(std::string_view name) const {
  const auto found = std::ranges::find(specs_, name, &protocol::ToolSpec::name);
  return found == specs_.end() ? nullptr : &*found;
}

Status Toolset::Check(std::string_view name, const Raw& args) const {
  const protocol::ToolSpec* spec = Find(name);
  if (spec == nullptr) return std::unexpected(NoSuchTool(name, names()));
  const auto& schema = schemas_[static_cast<std::size_t>(spec - specs_.data())];
  return schema ? CheckArguments(name, *schema, args) : Status();
}

}  // namespace stet::tool
