#include "json/schema/graph.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "json/schema/pattern.h"
#include "json/schema/schema.h"

namespace stet {
namespace {

using Kind = JsonReader::Kind;

struct TypeName {
  std::string_view name;
  std::uint8_t bits;
  std::string_view with_article;
};
constexpr std::array<TypeName, 7> kTypes = {{{"null", kTypeNull, "null"},
                                             {"boolean", kTypeBool, "true or false"},
                                             {"number", kTypeNumber, "a number"},
                                             {"integer", kTypeInteger, "an integer"},
                                             {"string", kTypeString, "a string"},
                                             {"array", kTypeArray, "an array"},
                                             {"object", kTypeObject, "an object"}}};

constexpr std::array<std::string_view, 3> kOldDrafts = {"draft-04", "draft-06", "draft-07"};

/// The byte that "%xx" at the start of `text` stands for; nothing when it is no such escape.
std::optional<char> PercentByte(std::string_view text) {
  unsigned value = 0;
  if (text.size() < 3 || text[0] != '%') return std::nullopt;
  const auto [stop, error] = std::from_chars(text.data() + 1, text.data() + 3, value, 16);
  if (error != std::errc() || stop != text.data() + 3) return std::nullopt;
  return static_cast<char>(value);
}

/// A part of a $ref as it stands in the document: %xx, then ~1 and ~0.
std::string DecodePointerPart(std::string_view part) {
  std::string plain;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const std::optional<char> byte = PercentByte(part.substr(i));
    plain += byte.value_or(part[i]);
    if (byte) i += 2;
  }
  std::string out;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const bool escape =
        plain[i] == '~' && i + 1 < plain.size() && (plain[i + 1] == '0' || plain[i + 1] == '1');
    out += escape ? (plain[++i] == '0' ? '~' : '/') : plain[i];
  }
  return out;
}

/// Makes nodes of schemas, one after the other: what a schema refers to waits in a list, so nothing
/// here recurses.
class Builder {
 public:
  explicit Builder(SchemaGraph& graph) : graph_(graph) {
    const JsonTree* draft = graph.document.Find("$schema");
    old_draft_ = draft != nullptr && std::ranges::any_of(kOldDrafts, [&](std::string_view name) {
                   return draft->text.find(name) != std::string::npos;
                 });
  }

  Status Run() {
    graph_.root = Node(graph_.document);
    for (std::size_t done = 0; done < waiting_.size(); ++done) {
      SchemaNode node;
      RETURN_IF_ERROR(Read(*waiting_[done], node));
      graph_.nodes[done] = std::move(node);
    }
    return {};
  }

 private:
  SchemaId Node(const JsonTree& schema) {
    const auto [known, fresh] = ids_.try_emplace(&schema, static_cast<SchemaId>(waiting_.size()));
    if (fresh) {
      waiting_.push_back(&schema);
      graph_.nodes.emplace_back();
    }
    return known->second;
  }

  static std::unexpected<Error> Bad(std::string_view keyword) {
    return Fail(Code::kInvalid, fmt::format("the schema's \"{}\" has a wrong value", keyword));
  }

  Status Read(const JsonTree& schema, SchemaNode& node) {
    if (schema.is(Kind::kBool)) {
      node.never = !schema.boolean;
      return {};
    }
    if (!schema.is(Kind::kObject)) {
      return Fail(Code::kInvalid, "a schema is an object, true or false");
    }
    if (const JsonTree* ref = schema.Find("$ref")) {
      RETURN_IF_ERROR(Reference(*ref, node));
      if (old_draft_) return {};  // There it stands alone.
    }
    RETURN_IF_ERROR(Values(schema, node));
    RETURN_IF_ERROR(Combined(schema, node));
    RETURN_IF_ERROR(Numbers(schema, node));
    RETURN_IF_ERROR(Properties(schema, node));
    return Items(schema, node);
  }

  Status Reference(const JsonTree& ref, SchemaNode& node) {
    const std::string_view text = ref.text;
    if (!ref.is(Kind::kString) || (text != "#" && !text.starts_with("#/"))) {
      return Fail(Code::kUnsupported,
                  fmt::format("the schema refers to {}; only places in itself are known", text));
    }
    const JsonTree* at = &graph_.document;
    for (std::size_t start = 2; start <= text.size() && text.size() > 1;) {
      const std::size_t end = std::min(text.find('/', start), text.size());
      at = Step(*at, DecodePointerPart(text.substr(start, end - start)));
      if (at == nullptr) {
        return Fail(Code::kInvalid, fmt::format("the schema has nothing at {}", text));
      }
      start = end + 1;
    }
    node.ref = Node(*at);
    return {};
  }

  static const JsonTree* Step(const JsonTree& from, const std::string& part) {
    if (!from.is(Kind::kArray)) return from.Find(part);
    if (part.empty() || part.size() > 6 ||
        part.find_first_not_of("0123456789") != std::string::npos) {
      return nullptr;
    }
    const std::size_t index = std::stoul(part);
    return index < from.items.size() ? &from.items[index] : nullptr;
  }

  Status Values(const JsonTree& schema, SchemaNode& node) const {
    node.constant = schema.Find("const");
    if (const JsonTree* choices = schema.Find("enum")) {
      if (!choices->is(Kind::kArray)) return Bad("enum");
      node.choices = &choices->items;
    }
    if (const JsonTree* type = schema.Find("type")) {
      const std::span<const JsonTree> names =
          type->is(Kind::kArray) ? std::span(type->items) : std::span(type, 1);
      for (const JsonTree& name : names) {
        const auto* known = std::ranges::find(kTypes, name.text, &TypeName::name);
        if (!name.is(Kind::kString) || known == kTypes.end()) return Bad("type");
        node.types |= known->bits;
      }
    }
    if (const JsonTree* pattern = schema.Find("pattern")) {
      if (!pattern->is(Kind::kString)) return Bad("pattern");
      ASSIGN_OR_RETURN(node.pattern, CompilePattern(pattern->text));
    }
    return {};
  }

  Status SchemaList(const JsonTree& schema, std::string_view keyword, std::vector<SchemaId>& out) {
    const JsonTree* list = schema.Find(keyword);
    if (list == nullptr) return {};
    if (!list->is(Kind::kArray)) return Bad(keyword);
    for (const JsonTree& one : list->items) out.push_back(Node(one));
    return {};
  }

  void OneSchema(const JsonTree& schema, std::string_view keyword, SchemaId& out) {
    if (const JsonTree* found = schema.Find(keyword)) out = Node(*found);
  }

  Status Combined(const JsonTree& schema, SchemaNode& node) {
    RETURN_IF_ERROR(SchemaList(schema, "anyOf", node.any_of));
    RETURN_IF_ERROR(SchemaList(schema, "oneOf", node.one_of));
    RETURN_IF_ERROR(SchemaList(schema, "allOf", node.all_of));
    OneSchema(schema, "not", node.negated);
    OneSchema(schema, "if", node.if_schema);
    OneSchema(schema, "then", node.then_schema);
    OneSchema(schema, "else", node.else_schema);
    return {};
  }

  static Status Number(const JsonTree& schema, std::string_view keyword,
                       std::optional<double>& out) {
    const JsonTree* number = schema.Find(keyword);
    if (number == nullptr) return {};
    if (!number->is(Kind::kNumber)) return Bad(keyword);
    out = number->number;
    return {};
  }

  static Status Numbers(const JsonTree& schema, SchemaNode& node) {
    RETURN_IF_ERROR(Number(schema, "minimum", node.minimum));
    RETURN_IF_ERROR(Number(schema, "maximum", node.maximum));
    RETURN_IF_ERROR(Number(schema, "exclusiveMinimum", node.exclusive_minimum));
    RETURN_IF_ERROR(Number(schema, "exclusiveMaximum", node.exclusive_maximum));
    RETURN_IF_ERROR(Number(schema, "multipleOf", node.multiple_of));
    if (node.multiple_of && !(*node.multiple_of > 0)) return Bad("multipleOf");
    RETURN_IF_ERROR(Number(schema, "minLength", node.min_length));
    RETURN_IF_ERROR(Number(schema, "maxLength", node.max_length));
    RETURN_IF_ERROR(Number(schema, "minItems", node.min_items));
    RETURN_IF_ERROR(Number(schema, "maxItems", node.max_items));
    RETURN_IF_ERROR(Number(schema, "minProperties", node.min_properties));
    return Number(schema, "maxProperties", node.max_properties);
  }

  static Status Names(const JsonTree& list, std::string_view keyword,
                      std::vector<std::string_view>& out) {
    if (!list.is(Kind::kArray)) return Bad(keyword);
    for (const JsonTree& name : list.items) {
      if (!name.is(Kind::kString)) return Bad(keyword);
      out.push_back(name.text);
    }
    return {};
  }

  Status Properties(const JsonTree& schema, SchemaNode& node) {
    if (const JsonTree* properties = schema.Find("properties")) {
      if (!properties->is(Kind::kObject)) return Bad("properties");
      for (const JsonMember& one : properties->members) node.properties[one.name] = Node(one.value);
    }
    if (const JsonTree* patterns = schema.Find("patternProperties")) {
      if (!patterns->is(Kind::kObject)) return Bad("patternProperties");
      for (const JsonMember& one : patterns->members) {
        ASSIGN_OR_RETURN(SchemaPattern pattern, CompilePattern(one.name));
        node.pattern_properties.emplace_back(std::move(pattern), Node(one.value));
      }
    }
    OneSchema(schema, "additionalProperties", node.additional_properties);
    OneSchema(schema, "propertyNames", node.property_names);
    if (const JsonTree* required = schema.Find("required")) {
      RETURN_IF_ERROR(Names(*required, "required", node.required));
    }
    if (const JsonTree* dependent = schema.Find("dependentRequired")) {
      if (!dependent->is(Kind::kObject)) return Bad("dependentRequired");
      for (const JsonMember& one : dependent->members) {
        auto& entry =
            node.dependent_required.emplace_back(one.name, std::vector<std::string_view>());
        RETURN_IF_ERROR(Names(one.value, "dependentRequired", entry.second));
      }
    }
    return {};
  }

  Status Items(const JsonTree& schema, SchemaNode& node) {
    RETURN_IF_ERROR(SchemaList(schema, "prefixItems", node.prefix_items));
    if (const JsonTree* items = schema.Find("items")) {
      if (items->is(Kind::kArray)) {
        RETURN_IF_ERROR(SchemaList(schema, "items", node.prefix_items));
        OneSchema(schema, "additionalItems", node.items);
      } else {
        node.items = Node(*items);
      }
    }
    if (const JsonTree* unique = schema.Find("uniqueItems")) {
      if (!unique->is(Kind::kBool)) return Bad("uniqueItems");
      node.unique_items = unique->boolean;
    }
    return {};
  }

  SchemaGraph& graph_;
  bool old_draft_ = false;
  std::unordered_map<const JsonTree*, SchemaId> ids_;
  std::vector<const JsonTree*> waiting_;  // By their ids.
};

}  // namespace

Result<std::shared_ptr<const SchemaGraph>> BuildSchemaGraph(std::string_view text) {
  if (text.size() > JsonSchema::kMaxSchemaBytes) {
    return Fail(Code::kInvalid, "the schema is larger than 8 MB");
  }
  auto graph = std::make_shared<SchemaGraph>();
  ASSIGN_OR_RETURN(graph->document, ParseTree(text, {.depth = JsonSchema::kMaxDepth}));
  RETURN_IF_ERROR(Builder(*graph).Run());
  return graph;
}

std::uint8_t TypeBitsOf(const JsonTree& value) {
  switch (value.kind) {
    case Kind::kObject: return kTypeObject;
    case Kind::kArray: return kTypeArray;
    case Kind::kString: return kTypeString;
    case Kind::kBool: return kTypeBool;
    case Kind::kNumber:
      return std::trunc(value.number) == value.number ? kTypeNumber | kTypeInteger : kTypeNumber;
    default: return kTypeNull;
  }
}

std::string TypeNames(std::uint8_t types) {
  std::string names;
  for (const TypeName& type : kTypes) {
    if ((types & type.bits) == 0) continue;
    if (!names.empty()) names += " or ";
    names += type.with_article;
  }
  return names;
}

}  // namespace stet
