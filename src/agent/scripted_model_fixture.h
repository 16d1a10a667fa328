// ScriptedModel: a model that gives one reply after the other, whatever it is asked.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
  Async<provider::CallResult> Stream(const provider::Request& request, const provider::WireRequest&,
                                     provider::Sink&, CancelToken) override {
    ++asked;
    requests.push_back(request);
    if (when_asked) when_asked();
    provider::CallResult result;
    result.model = facts;
    if (fails) {
      result.reply.failure.emplace().kind = *fails;
    } else if (!replies.empty()) {
      result.reply.content = replies.front();
      replies.pop_front();
    }
    co_return result;
  }
  Async<Result<std::int64_t>> CountTokens(const provider::Request&, CancelToken) override {
    co_return Fail(Code::kUnsupported, "it does not count");
  }

  /// The next reply.
  void Says(const std::string& text, std::string stop = "end") {
    protocol::AssistantContent& reply = replies.emplace_back();
    reply.blocks.push_back(protocol::TextBlock{.text = text});
    reply.stop_reason = std::move(stop);
  }

  provider::Model facts;
  std::deque<protocol::AssistantContent> replies;
  std::optional<provider::FailureKind> fails;  // As long as there is one it replies nothing.
  std::function<void()> when_asked;
  int asked = 0;
  std::vector<provider::Request> requests;
};

}  // namespace stet::agent
