#include "emulator/reply_wire/reply_wire.h"

#include <algorithm>

#include <fmt/format.h>

namespace stet::emulator {
namespace {

/// The name of an event that a client may pass over, and its data up to the text that fills it.
struct Filler {
  std::string_view name;
  std::string_view data;
};

Filler FillerOf(Dialect dialect) {
  switch (dialect) {
    case Dialect::kAnthropicMessages: return {"ping", R"({"type":"ping","filler":")"};
    case Dialect::kOpenAiCompletions:
      return {
          "",
          R"({"id":"filler","object":"chat.completion.chunk","created":0,"model":"","choices":[],"filler":")"};
    case Dialect::kOpenAiResponses:
      return {"response.filler", R"({"type":"response.filler","filler":")"};
    case Dialect::kGoogleGenerativeAi: return {"", R"({"candidates":[],"filler":")"};
  }
  return {};
}

std::string Framed(std::string_view name, std::string_view data) {
  EventWriter writer({});
  writer.Add(name, data);
  return writer.TakeEvents().bytes;
}

}  // namespace

Events RenderReply(const Exchange& exchange, const Reply& reply) {
  switch (exchange.dialect) {
    case Dialect::kAnthropicMessages: return AnthropicReply(exchange, reply);
    case Dialect::kOpenAiCompletions: return CompletionsReply(exchange, reply);
    case Dialect::kOpenAiResponses: return ResponsesReply(exchange, reply);
    case Dialect::kGoogleGenerativeAi: return GoogleReply(exchange, reply);
  }
  return {};
}

std::string RenderError(const Exchange& exchange, const WireError& error) {
  switch (exchange.dialect) {
    case Dialect::kAnthropicMessages: return AnthropicError(exchange, error);
    case Dialect::kOpenAiCompletions:
    case Dialect::kOpenAiResponses: return OpenAiError(error);
    case Dialect::kGoogleGenerativeAi: return GoogleError(error);
  }
  return {};
}

std::string RenderErrorEvent(const Exchange& exchange, const WireError& error, std::size_t sequence,
                             bool failed) {
  switch (exchange.dialect) {
    case Dialect::kAnthropicMessages: return Framed("error", AnthropicError(exchange, error));
    case Dialect::kOpenAiCompletions: return Framed("", OpenAiError(error));
    case Dialect::kOpenAiResponses:
      return Framed(failed ? "response.failed" : "error",
                    ResponsesErrorEvent(exchange, error, sequence, failed));
    case Dialect::kGoogleGenerativeAi: return Framed("", GoogleError(error));
  }
  return {};
}

std::string BrokenEvent(const Exchange& exchange) {
  const Filler filler = FillerOf(exchange.dialect);
  return Framed(filler.name, filler.data);
}

std::string GiantEvent(const Exchange& exchange, std::size_t bytes) {
  const Filler filler = FillerOf(exchange.dialect);
  std::string data(filler.data);
  const std::size_t rest = Framed(filler.name, filler.data).size() + 2;
  data.append(bytes > rest ? bytes - rest : 0, 'x') += "\"}";
  return Framed(filler.name, data);
}

std::string StopOf(const Reply& reply) {
  if (!reply.stop.empty()) return reply.stop;
  std::string stop = "end";
  for (const Block& block : reply.blocks) {
    if (std::holds_alternative<CallBlock>(block)) return "tool_use";
    if (std::holds_alternative<RefusalBlock>(block)) stop = "refused";
  }
  return stop;
}

std::string MakeId(std::string_view prefix, std::int64_t number) {
  return fmt::format("{}{:06}", prefix, number);
}

std::string MakeId(std::string_view prefix, std::int64_t number, std::size_t part) {
  return fmt::format("{}{:06}_{:03}", prefix, number, part);
}

Framing FramingOf(const Reply& reply) {
  return {.crlf = reply.HasQuirk("crlf"),
          .space = !reply.HasQuirk("no_space"),
          .comments = reply.HasQuirk("comments")};
}

}  // namespace stet::emulator
