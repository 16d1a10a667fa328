#include "rpc/serving.h"

#include <utility>

#include "rpc/http_text.h"

namespace stet::rpc {
namespace {

class Reply final : public HttpReply {
 public:
  explicit Reply(std::shared_ptr<Answering> answering) : answering_(std::move(answering)) {}
  Reply(const Reply&) = delete;
  Reply& operator=(const Reply&) = delete;
  ~Reply() override {
    Send(500, {{"Content-Type", "application/json"}},
         RefusalBody(500, "the request was left without an answer"));
  }

  void Send(int status, Headers headers, std::string body) override {
    if (const auto answering = std::exchange(answering_, nullptr))
      answering->Answer(status, headers, std::move(body));
  }

  std::unique_ptr<Channel> Stream(int status, Headers headers) override {
    const auto answering = std::exchange(answering_, nullptr);
    CHECK(answering, "a request is answered once");
    return answering->AnswerStream(status, headers);
  }

 private:
  std::shared_ptr<Answering> answering_;  // Null once it is answered.
};

}  // namespace

std::unique_ptr<HttpReply> MakeReply(std::shared_ptr<Answering> answering) {
  return std::make_unique<Reply>(std::move(answering));
}

Slot::Slot(std::shared_ptr<Serving> serving, bool local)
    : serving_(std::move(serving)), local_(local), proven_(local) {
  ++(local_ ? serving_->near_slots : serving_->far_slots);
  if (!proven_) ++serving_->unproven_slots;
}

Slot::~Slot() {
  Prove();
  --(local_ ? serving_->near_slots : serving_->far_slots);
}

void Slot::Prove() {
  if (!std::exchange(proven_, true)) --serving_->unproven_slots;
}

}  // namespace stet::rpc
