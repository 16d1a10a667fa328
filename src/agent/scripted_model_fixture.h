// ScriptedModel: a model that gives one reply after the other, whatever it is asked.
#pragma once

#include <deque>
#include <functional>

#include "provider/provider.h"

namespace stet::agent {

/// Gives one reply after the other, whatever it is asked.
class ScriptedModel final : public provider::Provider {
 public:
  ScriptedModel() {
    facts.provider = "p";
    facts.id = "m";
    facts.dialect = provider::Dialect::kOpenAiCompletions;
    facts.context_window = 200'000;
  }

  [[nodiscard]] const provider::Model& model() const override { return facts; }
  [[nodiscard]] Result<provider::WireRequest> Encode(const provider::Request&) const override {
    return provider::WireRequest{.url = "", .headers = {}, .body = "{}"};
  }
  Async<provider::CallResult> Stream(const provider::Request&, const provider::WireRequest&,
                                     provider::Sink&, CancelToken) override {
    ++asked;
    if (when_asked) when_asked();
    provider::CallResult result;
    result.model = facts;
    if (!replies.empty()) {
      result.reply.content = replies.front();
      replies.pop_front();
    }
    co_return result;
  }
  Async<Result<std::int64_t>> CountTokens(const provider::Request&, CancelToken) override {
    co_return Fail(Code::kUnsupported, "it does not count");
  }

  provider::Model facts;
  std::deque<protocol::AssistantContent> replies;
  std::function<void()> when_asked;
  int asked = 0;
};

}  // namespace stet::agent
