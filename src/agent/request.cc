#include "agent/request.h"

#include "agent/session_tools.h"
#include "agent/settings.h"
#include "agent/workbench.h"
#include "base/hash.h"
#include "json/view.h"
#include "json/writer.h"

namespace stet::agent {

RequestParts PartsOf(const Workbench& bench) {
  RequestParts parts;
  parts.system = bench.system;
  parts.tools = bench.tools.toolset().specs();
  parts.effort = bench.settings->effort;
  parts.cache_key = bench.cache_key;
  return parts;
}

std::int64_t BytesOf(const RequestParts& parts) {
  std::size_t bytes = 0;
  for (const std::string& section : parts.system) bytes += section.size();
  for (const provider::ToolSpec& tool : parts.tools)
    bytes += tool.name.size() + tool.description.size() + tool.schema.text.size();
  return static_cast<std::int64_t>(bytes);
}

provider::Request MakeRequest(const RequestParts& parts, context::Conversation& conversation,
                              log::Log& log) {
  provider::Request request;
  request.system = parts.system;
  request.tools = parts.tools;
  request.entries = conversation.Lend();
  request.effort = parts.effort;
  request.max_tokens = parts.max_tokens;
  request.cache_key = parts.cache_key;
  request.read_blob = [&log](const std::string& blob) { return log.blobs().Get(blob); };
  return request;
}

std::string CacheKeyOf(const protocol::InstructionSnapshot& snapshot) {
  return "stet-" + FastHashHex(Encode(snapshot));
}

Raw ParamsJson(const provider::Request& request) {
  Raw params{""};
  JsonWriter writer(params.text);
  writer.BeginObject();
  if (request.effort) writer.Member("effort", *request.effort);
  if (request.max_tokens) writer.Member("maxTokens", *request.max_tokens);
  if (request.output) writer.Member("output", request.output->schema);
  writer.EndObject();
  return params;
}

void TakeParams(const Raw& params, RequestParts& parts) {
  const JsonView json(params.text);
  parts.effort = json["effort"].String();
  parts.max_tokens = json["maxTokens"].Int();
}

}  // namespace stet::agent
