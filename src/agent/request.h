// How a request is made of a session: the one place, so that the same log gives the same bytes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "context/conversation.h"
#include "log/log.h"
#include "provider/request.h"

namespace stet::agent {

/// What a request has beside the conversation.
struct RequestParts {
  std::vector<std::string> system;  // The rendered snapshot.
  protocol::ToolSpecs tools;        // Those of the toolset, in its order.
  std::optional<std::string> effort;
  std::optional<std::int64_t> max_tokens;
  std::string cache_key;
};

/// The session's own, but for max_tokens.
struct Workbench;
RequestParts PartsOf(const Workbench& bench);
std::int64_t BytesOf(const RequestParts& parts);

/// The log must outlive the request. The conversation's entries are lent to it.
provider::Request MakeRequest(const RequestParts& parts, context::Conversation& conversation,
                              log::Log& log);

/// The same for a session and its clones, which share their prefix.
std::string CacheKeyOf(const protocol::InstructionSnapshot& snapshot);

/// What a model_call keeps of a request's own settings, and back into `parts`.
Raw ParamsJson(const provider::Request& request);
void TakeParams(const Raw& params, RequestParts& parts);

}  // namespace stet::agent
