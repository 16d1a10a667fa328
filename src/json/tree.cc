#include "json/tree.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/utf8.h"
#include "json/writer.h"

namespace stet {
namespace {

using Kind = JsonReader::Kind;

double NumberOf(std::string_view text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc::result_out_of_range) return value;
  // Too large, or too small to tell from 0.
  const std::size_t exponent = text.find_first_of("eE");
  if (exponent != std::string_view::npos && text.substr(exponent + 1).starts_with('-')) return 0;
  const double infinity = std::numeric_limits<double>::infinity();
  return text.starts_with('-') ? -infinity : infinity;
}

class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, TreeLimits limits) : reader_(text), left_(limits) {}

  Result<JsonTree> Run() {
    JsonTree tree;
    if (!Value(tree) || !reader_.AtEnd()) return std::unexpected(reader_.error());
    return tree;
  }

 private:
  // As deep as the limit allows.
  bool Value(JsonTree& out) {
    if (left_.values == 0) return reader_.Refuse("too many values");
    --left_.values;
    out.kind = reader_.Peek();
    switch (out.kind) {
      case Kind::kObject:
      case Kind::kArray: return Nested(out);
      case Kind::kString: return reader_.String(&out.text);
      case Kind::kBool: return reader_.Bool(&out.boolean);
      case Kind::kNumber: {
        std::string_view raw;
        if (!reader_.Skip(&raw)) return false;
        out.text = raw;
        out.number = NumberOf(raw);
        return true;
      }
      default: return reader_.Skip();
    }
  }

  bool Nested(JsonTree& out) {
    if (left_.depth == 0) return reader_.Refuse("nested too deep");
    --left_.depth;
    const bool good = out.kind == Kind::kObject ? Members(out) : Items(out);
    ++left_.depth;
    return good;
  }

  bool Members(JsonTree& out) {
    if (!reader_.EnterObject()) return false;
    std::string_view key;
    while (reader_.NextMember(&key)) {
      out.members.push_back({std::string(key), {}});
      if (!Value(out.members.back().value)) return false;
    }
    return reader_.ok();
  }

  bool Items(JsonTree& out) {
    if (!reader_.EnterArray()) return false;
    while (reader_.NextElement()) {
      if (!Value(out.items.emplace_back())) return false;
    }
    return reader_.ok();
  }

  JsonReader reader_;
  TreeLimits left_;
};

bool SameMembers(const JsonTree& a, const JsonTree& b) {
  return std::ranges::all_of(a.members, [&](const JsonMember& member) {
    const JsonTree* other = b.Find(member.name);
    return other != nullptr && SameJson(member.value, *other);
  });
}

void Write(JsonWriter& json, const JsonTree& value) {
  switch (value.kind) {
    case Kind::kObject:
      json.BeginObject();
      for (const JsonMember& member : value.members) Write(json.Key(member.name), member.value);
      json.EndObject();
      break;
    case Kind::kArray:
      json.BeginArray();
      for (const JsonTree& item : value.items) Write(json, item);
      json.EndArray();
      break;
    case Kind::kString: json.String(value.text); break;
    case Kind::kNumber: json.Text(value.text); break;
    case Kind::kBool: json.Bool(value.boolean); break;
    default: json.Text("null");
  }
}

}  // namespace

const JsonTree* JsonTree::Find(std::string_view name) const {
  const auto found = std::find_if(members.rbegin(), members.rend(),
                                  [&](const JsonMember& member) { return member.name == name; });
  return found == members.rend() ? nullptr : &found->value;
}

Result<JsonTree> ParseTree(std::string_view text, TreeLimits limits) {
  if (!IsValidUtf8(text)) return Fail(Code::kInvalid, "this is not UTF-8");
  return TreeBuilder(text, limits).Run();
}

bool SameJson(const JsonTree& a, const JsonTree& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::kObject: return a.members.size() == b.members.size() && SameMembers(a, b);
    case Kind::kArray: return std::ranges::equal(a.items, b.items, SameJson);
    case Kind::kString: return a.text == b.text;
    case Kind::kNumber: return a.number == b.number;
    case Kind::kBool: return a.boolean == b.boolean;
    default: return true;
  }
}

void AppendJson(std::string& out, const JsonTree& value) {
  JsonWriter json(out);
  Write(json, value);
}

}  // namespace stet
