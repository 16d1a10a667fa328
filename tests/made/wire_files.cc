#include "tests/made/wire_files.h"

#include <fmt/format.h>

#include "protocol/event.h"
#include "protocol/methods.h"
#include "protocol/transient.h"
#include "tests/made/schemas.h"

namespace stet::test {

std::string Indented(std::string_view json) {
  std::string out;
  std::size_t depth = 0;
  bool quoted = false;
  const auto line = [&] { out.append("\n").append(depth, ' '); };
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (quoted) {
      out += c;
      if (c == '\\') out += json[++i];
      quoted = c != '"';
    } else if ((c == '{' || c == '[') && (json[i + 1] == '}' || json[i + 1] == ']')) {
      (out += c) += json[++i];
    } else if (c == '{' || c == '[') {
      out += c;
      ++depth;
      line();
    } else if (c == '}' || c == ']') {
      --depth;
      line();
      out += c;
    } else {
      out += c;
      quoted = c == '"';
      if (c == ',') line();
      if (c == ':') out += ' ';
    }
  }
  return out + "\n";
}

namespace {

using protocol::MethodInfo;
namespace method = protocol::method;

constexpr std::string_view kMade = "Made by scripts/make_wire_files from src/protocol; not edited.";

template <class Use>
void ForEachCode(protocol::Errors errors, Use use) {
  for (int i = 0; i <= static_cast<int>(Code::kCancelled); ++i)
    if (errors.Has(static_cast<Code>(i))) use(CodeName(static_cast<Code>(i)));
}

void WriteDefinitions(JsonWriter& writer, std::string_view key, const Schemas& schemas) {
  CHECK(schemas.conflict().empty(), "every type has one definition");
  writer.Key(key).BeginObject();
  for (const auto& [name, schema] : schemas.definitions()) writer.Key(name).Text(schema);
  writer.EndObject();
}

// schema.json

void WriteErrors(JsonWriter& writer, protocol::Errors errors) {
  writer.Key("errors").BeginArray();
  ForEachCode(errors, [&](std::string_view code) { writer.String(code); });
  writer.EndArray();
}

/// A method and who writes its params; the other side writes the reply.
template <class M>
void WriteMethod(JsonWriter& writer, Schemas& schemas, By asks) {
  writer.Key(M::kInfo.name).BeginObject().Member("help", M::kInfo.help);
  writer.Member(asks == By::kClient ? "right" : "offer", M::kInfo.right);
  writer.Key("params").Text(schemas.Root<typename M::Params>(asks));
  writer.Key("reply").Text(
      schemas.Root<typename M::Reply>(asks == By::kClient ? By::kHost : By::kClient));
  if (asks == By::kClient) WriteErrors(writer, M::kInfo.errors);
  writer.EndObject();
}

/// An event: where it stands, its stamp, and the members of its kind.
template <class T>
std::string EventSchema(Schemas& schemas) {
  std::string properties = R"("seq":{"type":"integer","minimum":0},"id":{"type":"string"},)"
                           R"("parentId":{"type":["string","null"]},"type":{"const":")" +
                           std::string(T::kType) + R"("})";
  std::string required = R"("seq","id","parentId","type")";
  if constexpr (requires { T::kRole; }) {
    properties += R"(,"role":{"const":")" + std::string(T::kRole) + R"("})";
    required += R"(,"role")";
  }
  const std::string stamp = R"({"$ref":"#/$defs/Stamp"})";
  (void)schemas.Root<protocol::Stamp>(By::kHost);
  return R"({"type":"object","allOf":[)" + stamp + "]," +
         schemas.Members<T>(By::kHost, false, properties, required) + "}";
}

void WriteEvents(JsonWriter& writer, Schemas& schemas) {
  writer.Key("events").BeginArray();
  const auto write = [&]<class T>() {
    if constexpr (requires { T::kType; })
      writer.Text(schemas.Put(NameOf<T>(), EventSchema<T>(schemas)));
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (write.template operator()<std::variant_alternative_t<I, protocol::PayloadVariant>>(), ...);
  }(std::make_index_sequence<std::variant_size_v<protocol::PayloadVariant>>());
  writer.EndArray();
}

std::string SchemaFile() {
  Schemas schemas("#/$defs/");
  std::string out;
  JsonWriter writer(out);
  writer.BeginObject().Member("$schema", "https://json-schema.org/draft/2020-12/schema");
  writer.Member("title", "stet's wire").Member("description", kMade);
  writer.Member("version", protocol::kWireVersion);
  writer.Key("anyErrors").BeginArray();
  ForEachCode(protocol::kAnyErrors, [&](std::string_view code) { writer.String(code); });
  writer.EndArray().Key("methods").BeginObject();
  protocol::ForEachHostMethod([&]<class M>() { WriteMethod<M>(writer, schemas, By::kClient); });
  writer.EndObject().Key("clientMethods").BeginObject();
  protocol::ClientMethods::ForEach([&]<class M>() { WriteMethod<M>(writer, schemas, By::kHost); });
  writer.EndObject();
  writer.Key("fromClient").Text(schemas.OneOf<protocol::FromClient>());
  writer.Key("fromHost").Text(schemas.OneOf<protocol::FromHost>());
  WriteEvents(writer, schemas);
  writer.Key("transients").Text(schemas.Of<protocol::Transient>());
  WriteDefinitions(writer, "$defs", schemas);
  writer.EndObject();
  return Indented(out);
}

// openapi.json

struct Parameter {
  std::string_view name;
  std::string_view in;
  bool required = false;
  std::string_view what = {};
};

void WriteParameter(JsonWriter& writer, const Parameter& parameter, std::string_view schema) {
  writer.BeginObject().Member("name", parameter.name).Member("in", parameter.in);
  writer.Member("required", parameter.required).Key("schema").Text(schema);
  if (!parameter.what.empty()) writer.Member("description", parameter.what);
  writer.EndObject();
}

void WriteContent(JsonWriter& writer, std::string_view type, std::string_view schema) {
  writer.Key("content").BeginObject().Key(type).BeginObject().Key("schema").Text(schema);
  writer.EndObject().EndObject();
}

void WriteRefusal(JsonWriter& writer, Schemas& schemas, protocol::Errors errors) {
  std::string codes;
  ForEachCode(errors | protocol::kAnyErrors | protocol::Errors{Code::kAuth},
              [&](std::string_view code) { (codes += codes.empty() ? "" : ", ") += code; });
  writer.Key("default").BeginObject().Member("description", "why it was refused: " + codes);
  WriteContent(writer, "application/json", schemas.Root<protocol::WireError>(By::kHost));
  writer.EndObject();
}

template <class T>
struct Unwrapped {
  using Type = T;
};
template <class T>
struct Unwrapped<std::optional<T>> {
  using Type = T;
};

template <class M>
void WriteParameters(JsonWriter& writer, Schemas& schemas) {
  constexpr protocol::HttpName kHttp = M::kInfo.http;
  writer.Key("parameters").BeginArray();
  if (kHttp.path.contains("{id}")) {
    WriteParameter(writer, {"id", "path", true, "the session's whole id"}, R"({"type":"string"})");
  } else if (kHttp.verb == "GET") {
    const auto write = [&]<class S, class T, std::size_t N>(const Field<S, T, N>& field) {
      // A query has no null.
      using Bare = typename Unwrapped<T>::Type;
      WriteParameter(writer, {field.name.bare(), "query", !kIsOptional<T>},
                     schemas.Asked<Bare>(Schemas::LimitOf<S>(field.name.bare())));
    };
    std::apply([&](const auto&... field) { (write(field), ...); }, M::Params::Fields());
  }
  if constexpr (std::same_as<M, method::SessionSubscribe>)
    WriteParameter(writer,
                   {"Last-Event-ID", "header", false, "the id of the last event that was seen"},
                   R"({"type":"string"})");
  writer.EndArray();
}

template <class M>
void WriteOperation(JsonWriter& writer, Schemas& schemas) {
  constexpr MethodInfo kInfo = M::kInfo;
  writer.BeginObject().Member("summary", kInfo.help).Member("operationId", kInfo.name);
  writer.Member("x-right", kInfo.right);
  WriteParameters<M>(writer, schemas);
  if (kInfo.http.verb == "POST" && !std::same_as<typename M::Params, protocol::SessionRef>) {
    writer.Key("requestBody").BeginObject().Member("required", true);
    WriteContent(writer, "application/json",
                 kInfo.http.path.contains("{id}") ? schemas.Body<typename M::Params>()
                                                  : schemas.Root<typename M::Params>(By::kClient));
    writer.EndObject();
  }
  writer.Key("responses").BeginObject();
  writer.Key(std::to_string(kInfo.http.status)).BeginObject().Member("description", "done");
  if constexpr (std::same_as<M, method::SessionSubscribe>) {
    writer.Key("headers").Text(
        R"({"stet-resync":{"schema":{"type":"string"},"description":"the mode of the resync"}})");
    WriteContent(writer, "text/event-stream", R"({"type":"string"})");
  } else {
    WriteContent(writer, "application/json", schemas.Root<typename M::Reply>(By::kHost));
  }
  writer.EndObject();
  WriteRefusal(writer, schemas, kInfo.errors);
  writer.EndObject().EndObject();
}

void WriteMetrics(JsonWriter& writer, Schemas& schemas) {
  writer.Key("/metrics").BeginObject().Key("get").BeginObject();
  writer.Member("summary", "Numbers for Prometheus; on the unix socket only.");
  writer.Member("operationId", "metrics").Key("responses").BeginObject();
  writer.Key("200").BeginObject().Member("description", "done");
  WriteContent(writer, "text/plain", R"({"type":"string"})");
  writer.EndObject();
  WriteRefusal(writer, schemas, {});
  writer.EndObject().EndObject().EndObject();
}

std::string OpenApiFile() {
  Schemas schemas("#/components/schemas/");
  std::map<std::string_view, std::map<std::string, std::string>> paths;
  protocol::ForEachHostMethod([&]<class M>() {
    if constexpr (!M::kInfo.http.path.empty()) {
      std::string operation;
      JsonWriter writer(operation);
      WriteOperation<M>(writer, schemas);
      paths[M::kInfo.http.path][M::kInfo.http.verb == "GET" ? "get" : "post"] = operation;
    }
  });
  std::string out;
  JsonWriter writer(out);
  writer.BeginObject().Member("openapi", "3.1.0").Key("info").BeginObject();
  writer.Member("title", "stet host").Member("version", std::to_string(protocol::kWireVersion));
  writer.Member("description",
                fmt::format("What scripts ask a host. Each is a request of the wire (wire.md) by "
                            "another name: operationId says which. {}",
                            kMade));
  writer.EndObject().Key("servers").Text(
      R"([{"url":"http://127.0.0.1:7777","description":"or the unix socket, without a token"}])");
  writer.Key("security").Text(R"([{"token":[]}])").Key("paths").BeginObject();
  for (const auto& [path, operations] : paths) {
    writer.Key(path).BeginObject();
    for (const auto& [verb, operation] : operations) writer.Key(verb).Text(operation);
    writer.EndObject();
  }
  WriteMetrics(writer, schemas);
  writer.EndObject().Key("components").BeginObject();
  writer.Key("securitySchemes").Text(R"({"token":{"type":"http","scheme":"bearer"}})");
  WriteDefinitions(writer, "schemas", schemas);
  writer.EndObject().EndObject();
  return Indented(out);
}

// methods.md

/// A struct's members, `?` behind those that may be absent; its name when there are too many.
template <Described T>
std::string MembersText() {
  constexpr std::size_t kMost = 6;
  std::string out;
  std::size_t count = 0;
  const auto add = [&]<class S, class M, std::size_t N>(const Field<S, M, N>& field) {
    if (field.name.bare() == "sessionId" && std::same_as<M, std::string>) {
      out = "`sessionId`" + std::string(out.empty() ? "" : ", ") + out;
      return;
    }
    out += fmt::format("{}`{}{}`", out.empty() ? "" : ", ", field.name.bare(),
                       kIsOptional<M> ? "?" : "");
    ++count;
  };
  std::apply([&](const auto&... field) { (add(field), ...); }, T::Fields());
  return count > kMost ? fmt::format("[{}](schema.json)", NameOf<T>()) : out;
}

template <class M>
std::string MethodRow() {
  constexpr MethodInfo kInfo = M::kInfo;
  return fmt::format("| `{}` | {} | {} | {} | {} |\n", kInfo.name, kInfo.right,
                     MembersText<typename M::Params>(), MembersText<typename M::Reply>(),
                     kInfo.help);
}

std::string MethodsFile() {
  std::string rows;
  protocol::ForEachHostMethod([&]<class M>() { rows += MethodRow<M>(); });
  std::string asked;
  protocol::ClientMethods::ForEach([&]<class M>() { asked += MethodRow<M>(); });
  std::string always;
  ForEachCode(protocol::kAnyErrors, [&](std::string_view code) {
    always += fmt::format("{}`{}`", always.empty() ? "" : ", ", code);
  });
  return fmt::format(
      "# The methods of the wire\n\n{}\n[wire.md](wire.md) says how they are carried, "
      "[schema.json](schema.json) has every shape and each method's errors; any may fail with "
      "{}.\n\n"
      "## What a client asks a host\n\n"
      "| method | right | params | result | what |\n|---|---|---|---|---|\n{}\n"
      "## What a host asks a client\n\n"
      "| method | offer | params | result | what |\n|---|---|---|---|---|\n{}",
      kMade, always, rows, asked);
}

}  // namespace

std::vector<MadeFile> WireFiles() {
  return {{"doc/format/methods.md", MethodsFile()},
          {"doc/format/openapi.json", OpenApiFile()},
          {"doc/format/schema.json", SchemaFile()}};
}

}  // namespace stet::test
