#include "json/schema/schema.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/utf8.h"
#include "json/schema/graph.h"
#include "json/schema/pattern.h"

namespace stet {
namespace {

using Kind = JsonReader::Kind;
using Errors = std::vector<SchemaError>;

/// Each level of a value takes a few: references and alternatives have their own.
constexpr std::size_t kMaxCheckDepth = 700;
/// What a message lists.
constexpr std::size_t kMaxListed = 24;
constexpr std::size_t kMaxShownBytes = 80;
/// How far a name may be from the one that was meant.
constexpr std::size_t kMaxTypos = 2;
constexpr std::size_t kMaxSuggestBytes = 64;

std::string Shown(const JsonTree& value) {
  std::string text;
  AppendJson(text, value);
  if (text.size() <= kMaxShownBytes) return text;
  return text.substr(0, Utf8PrefixLength(text, kMaxShownBytes)) + "...";
}

/// "must be "a"" or "must be one of "a", "b"".
std::string MustBe(const std::set<std::string>& choices) {
  if (choices.size() == 1) return "must be " + *choices.begin();
  std::string out = "must be one of ";
  std::size_t listed = 0;
  for (const std::string& choice : choices) {
    if (listed > 0) out += ", ";
    if (listed++ == kMaxListed) return out + "...";
    out += choice;
  }
  return out;
}

std::size_t CountCodePoints(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

/// Goes over a value and its schema together.
class Checker {
 public:
  explicit Checker(const SchemaGraph& graph) : graph_(graph) {}

  Errors Run(const JsonTree& value) {
    Errors errors;
    Check(graph_.root, value, errors);
    if (exhausted_) return {{"", "this is too complex to be checked; make it smaller"}};
    return errors;
  }

 private:
  void Report(Errors& errors, std::string message) const {
    if (errors.size() < JsonSchema::kMaxErrors) errors.push_back({path_, std::move(message)});
  }

  bool Spend() {
    exhausted_ = exhausted_ || ++steps_ > JsonSchema::kMaxSteps || depth_ > kMaxCheckDepth;
    return !exhausted_;
  }

  bool Fits(SchemaId id, const JsonTree& value) {
    Errors ignored;
    return Check(id, value, ignored);
  }

  /// Adds what is wrong; true when nothing is.
  bool Check(SchemaId id, const JsonTree& value, Errors& errors) {
    if (!Spend()) return true;
    const std::size_t before = errors.size();
    ++depth_;
    const SchemaNode& node = graph_.nodes[id];
    if (node.never)
      Report(errors, "nothing is allowed here");
    else
      CheckNode(node, value, errors);
    --depth_;
    return errors.size() == before;
  }

  void CheckNode(const SchemaNode& node, const JsonTree& value, Errors& errors) {
    if (node.types != 0 && (node.types & TypeBitsOf(value)) == 0) {
      return Report(errors, fmt::format("must be {}, not {}", TypeNames(node.types), Found(value)));
    }
    if (node.ref != kNoSchema) Check(node.ref, value, errors);
    CheckChoice(node, value, errors);
    if (value.is(Kind::kNumber)) CheckNumber(node, value, errors);
    if (value.is(Kind::kString)) CheckString(node, value, errors);
    if (value.is(Kind::kArray)) CheckArray(node, value, errors);
    if (value.is(Kind::kObject)) CheckObject(node, value, errors);
    CheckCombined(node, value, errors);
  }

  static std::string Found(const JsonTree& value) {
    if (value.is(Kind::kNumber)) return Shown(value);
    if (value.is(Kind::kBool)) return value.boolean ? "true" : "false";
    return TypeNames(TypeBitsOf(value));
  }

  static bool IsChoice(const SchemaNode& node, const JsonTree& value) {
    if (node.constant != nullptr && !SameJson(*node.constant, value)) return false;
    return node.choices == nullptr || std::ranges::any_of(*node.choices, [&](const JsonTree& one) {
             return SameJson(one, value);
           });
  }

  static void AddChoices(const SchemaNode& node, std::set<std::string>& out) {
    if (node.constant != nullptr) out.insert(Shown(*node.constant));
    if (node.choices == nullptr) return;
    for (const JsonTree& one : *node.choices) out.insert(Shown(one));
  }

  void CheckChoice(const SchemaNode& node, const JsonTree& value, Errors& errors) {
    if (node.choices != nullptr) steps_ += node.choices->size();
    if (IsChoice(node, value)) return;
    std::set<std::string> choices;
    AddChoices(node, choices);
    Report(errors, choices.empty() ? "nothing is allowed here" : MustBe(choices));
  }

  void CheckNumber(const SchemaNode& node, const JsonTree& value, Errors& errors) const {
    const double number = value.number;
    if (node.minimum && number < *node.minimum) {
      Report(errors, fmt::format("must be at least {}", *node.minimum));
    }
    if (node.maximum && number > *node.maximum) {
      Report(errors, fmt::format("must be at most {}", *node.maximum));
    }
    if (node.exclusive_minimum && number <= *node.exclusive_minimum) {
      Report(errors, fmt::format("must be more than {}", *node.exclusive_minimum));
    }
    if (node.exclusive_maximum && number >= *node.exclusive_maximum) {
      Report(errors, fmt::format("must be less than {}", *node.exclusive_maximum));
    }
    if (node.multiple_of && !IsMultiple(number, *node.multiple_of)) {
      Report(errors, fmt::format("must be a multiple of {}", *node.multiple_of));
    }
  }

  /// Allows for the steps between doubles: 0.3 is three times 0.1.
  static bool IsMultiple(double number, double of) {
    const double times = number / of;
    if (std::isinf(times)) return std::fmod(number, of) == 0;
    return std::abs(times - std::round(times)) <= 1e-9 * std::max(1.0, std::abs(times) * 1e-6);
  }

  void CheckString(const SchemaNode& node, const JsonTree& value, Errors& errors) {
    if (node.min_length || node.max_length) {
      const auto length = static_cast<double>(CountCodePoints(value.text));
      Between(node.min_length, node.max_length, length, "characters", errors);
    }
    if (!node.pattern) return;
    steps_ += value.text.size();
    if (value.text.size() > JsonSchema::kMaxPatternText) {
      Report(errors, fmt::format("is too long for its pattern; at most {} bytes can be checked",
                                 JsonSchema::kMaxPatternText));
    } else if (!Matches(*node.pattern, value.text)) {
      Report(errors, fmt::format("must match the pattern {}", node.pattern->text));
    }
  }

  void Between(std::optional<double> least, std::optional<double> most, double count,
               std::string_view what, Errors& errors) const {
    if (least && count < *least) {
      Report(errors, fmt::format("must have at least {} {}, not {}", *least, what, count));
    }
    if (most && count > *most) {
      Report(errors, fmt::format("must have at most {} {}, not {}", *most, what, count));
    }
  }

  /// Checks a part of the value, one step further down the path.
  void CheckPart(SchemaId id, std::string_view name, const JsonTree& value, Errors& errors) {
    const std::size_t length = path_.size();
    Descend(name);
    Check(id, value, errors);
    path_.resize(length);
  }

  void Descend(std::string_view name) {
    path_ += '/';
    for (const char c : name) {
      if (c == '~')
        path_ += "~0";
      else if (c == '/')
        path_ += "~1";
      else
        path_ += c;
    }
  }

  void CheckArray(const SchemaNode& node, const JsonTree& value, Errors& errors) {
    const std::vector<JsonTree>& items = value.items;
    Between(node.min_items, node.max_items, static_cast<double>(items.size()), "items", errors);
    if (node.prefix_items.empty() && node.items == kNoSchema && !node.unique_items) return;
    for (std::size_t i = 0; i < items.size() && !exhausted_; ++i) {
      const SchemaId id = i < node.prefix_items.size() ? node.prefix_items[i] : node.items;
      if (id != kNoSchema) CheckPart(id, fmt::format("{}", i), items[i], errors);
    }
    if (node.unique_items) CheckUnique(items, errors);
  }

  void CheckUnique(const std::vector<JsonTree>& items, Errors& errors) {
    for (std::size_t i = 1; i < items.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (!Spend()) return;
        if (!SameJson(items[i], items[j])) continue;
        return Report(errors, fmt::format("must not have the same item twice: {} and {}", j, i));
      }
    }
  }

  void CheckObject(const SchemaNode& node, const JsonTree& value, Errors& errors) {
    for (const std::string_view name : node.required) {
      if (value.Find(name) == nullptr) Report(errors, fmt::format("\"{}\" is missing", name));
    }
    for (const auto& [name, others] : node.dependent_required) {
      if (value.Find(name) == nullptr) continue;
      for (const std::string_view other : others) {
        if (value.Find(other) != nullptr) continue;
        Report(errors, fmt::format("\"{}\" is missing; \"{}\" needs it", other, name));
      }
    }
    Between(node.min_properties, node.max_properties, static_cast<double>(value.members.size()),
            "members", errors);
    for (const JsonMember& member : value.members) {
      if (!Spend()) return;
      CheckMember(node, member, errors);
    }
  }

  void CheckMember(const SchemaNode& node, const JsonMember& member, Errors& errors) {
    bool known = false;
    if (const auto found = node.properties.find(member.name); found != node.properties.end()) {
      known = true;
      CheckPart(found->second, member.name, member.value, errors);
    }
    for (const auto& [pattern, id] : node.pattern_properties) {
      steps_ += member.name.size();
      if (!Matches(pattern, member.name)) continue;
      known = true;
      CheckPart(id, member.name, member.value, errors);
    }
    if (node.property_names != kNoSchema) {
      JsonTree name{.kind = Kind::kString, .text = member.name};
      CheckPart(node.property_names, member.name, name, errors);
    }
    if (known || node.additional_properties == kNoSchema) return;
    if (!graph_.nodes[node.additional_properties].never) {
      return CheckPart(node.additional_properties, member.name, member.value, errors);
    }
    const std::size_t length = path_.size();
    Descend(member.name);
    Report(errors, "there is no such member" + Suggestion(node, member.name));
    path_.resize(length);
  }

  /// "; did you mean ...?" when a known name is near.
  std::string Suggestion(const SchemaNode& node, std::string_view name) {
    std::string_view best;
    std::size_t least = kMaxTypos + 1;
    if (name.size() > kMaxSuggestBytes) return "";
    for (const auto& [known, id] : node.properties) {
      if (known.size() > kMaxSuggestBytes || !Spend()) continue;
      const std::size_t distance = EditDistance(name, known);
      if (distance < least || (distance == least && !best.empty() && known < best)) {
        least = distance;
        best = known;
      }
    }
    return best.empty() ? "" : fmt::format("; did you mean \"{}\"?", best);
  }

  void CheckCombined(const SchemaNode& node, const JsonTree& value, Errors& errors) {
    for (const SchemaId id : node.all_of) Check(id, value, errors);
    if (!node.any_of.empty()) CheckAlternatives(node.any_of, value, false, errors);
    if (!node.one_of.empty()) CheckAlternatives(node.one_of, value, true, errors);
    if (node.negated != kNoSchema && Fits(node.negated, value)) {
      Report(errors, "is what must not be here");
    }
    if (node.if_schema == kNoSchema) return;
    const SchemaId then = Fits(node.if_schema, value) ? node.then_schema : node.else_schema;
    if (then != kNoSchema) Check(then, value, errors);
  }

  /// What rules alternatives out before they are looked at closely.
  struct RuledOut {
    std::uint8_t types = 0;         // The types that were wanted instead.
    std::string_view member;        // A member that says which alternative it is, and is another.
    std::set<std::string> choices;  // What that member may be.
  };

  /// The node itself, past references that stand alone.
  const SchemaNode& Resolved(SchemaId id) const {
    const SchemaNode* node = &graph_.nodes[id];
    for (int hops = 0; node->ref != kNoSchema && hops < 16; ++hops) node = &graph_.nodes[node->ref];
    return *node;
  }

  bool IsRuledOut(SchemaId id, const JsonTree& value, RuledOut& why) {
    const SchemaNode& node = Resolved(id);
    if (node.types != 0 && (node.types & TypeBitsOf(value)) == 0) {
      why.types |= node.types;
      return true;
    }
    if (!value.is(Kind::kObject)) return false;
    for (const JsonMember& member : value.members) {
      if (!Spend()) return false;
      const auto found = node.properties.find(member.name);
      if (found == node.properties.end()) continue;
      const SchemaNode& marker = Resolved(found->second);
      if (marker.constant == nullptr || !marker.constant->is(Kind::kString)) continue;
      if (SameJson(*marker.constant, member.value)) continue;
      if (why.member.empty()) why.member = member.name;
      if (why.member == member.name) AddChoices(marker, why.choices);
      return true;
    }
    return false;
  }

  void CheckAlternatives(const std::vector<SchemaId>& ids, const JsonTree& value, bool only_one,
                         Errors& errors) {
    RuledOut why;
    std::optional<Errors> closest;
    int fitting = 0;
    for (const SchemaId id : ids) {
      if (IsRuledOut(id, value, why)) continue;
      Errors found;
      if (Check(id, value, found)) {
        if (++fitting == 1 && !only_one) return;
        continue;
      }
      if (!closest || IsCloser(found, *closest)) closest = std::move(found);
    }
    if (fitting == 1) return;
    if (fitting > 1) return Report(errors, "fits several alternatives; it must fit exactly one");
    if (closest) {
      for (SchemaError& error : *closest) {
        if (errors.size() < JsonSchema::kMaxErrors) errors.push_back(std::move(error));
      }
      return;
    }
    ReportRuledOut(why, value, errors);
  }

  /// Fewer things to correct, and those deeper inside: there the rest fits already.
  [[nodiscard]] bool IsCloser(const Errors& a, const Errors& b) const {
    const auto at_top = [&](const Errors& errors) {
      return std::ranges::count(errors, path_, &SchemaError::path);
    };
    return std::pair(at_top(a), a.size()) < std::pair(at_top(b), b.size());
  }

  void ReportRuledOut(const RuledOut& why, const JsonTree& value, Errors& errors) {
    if (why.member.empty()) {
      return Report(errors, fmt::format("must be {}, not {}", TypeNames(why.types), Found(value)));
    }
    const std::size_t length = path_.size();
    Descend(why.member);
    Report(errors, MustBe(why.choices));
    path_.resize(length);
  }

  const SchemaGraph& graph_;
  std::string path_;
  std::size_t steps_ = 0;
  std::size_t depth_ = 0;
  bool exhausted_ = false;
};

}  // namespace

Result<JsonSchema> JsonSchema::Parse(std::string_view text) {
  ASSIGN_OR_RETURN(auto graph, BuildSchemaGraph(text));
  return JsonSchema(std::move(graph));
}

std::vector<SchemaError> JsonSchema::Validate(std::string_view json) const {
  const Result<JsonTree> value = ParseTree(json, {.depth = kMaxDepth});
  if (!value) return {{"", value.error().message}};
  return Checker(*graph_).Run(*value);
}

}  // namespace stet
