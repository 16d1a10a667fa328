#include "rpc/json/lines.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace stet::rpc {
namespace {

constexpr std::string_view kBlanks = " \t\r";

}  // namespace

bool JsonLines::ended() {
  const std::lock_guard lock(mutex_);
  return end_.has_value();
}

void JsonLines::Feed(std::string_view bytes) {
  cutter_.Feed(bytes, [this](std::optional<std::string_view> line) { TakeLine(line); });
  // It may never come to its end.
  if (cutter_.too_long()) TakeLine(std::nullopt);
  told_long_ = cutter_.too_long();
}

void JsonLines::Finish() {
  cutter_.Finish([this](std::optional<std::string_view> line) { TakeLine(line); });
}

void JsonLines::TakeLine(std::optional<std::string_view> line) {
  if (ended()) return;
  if (!line) {
    const Fault fault{
        .id = RequestIdIn(cutter_.head()),
        .code = kParseError,
        .message = fmt::format("parse error: a line has more than {} MB", options_.max_line >> 20)};
    if (!std::exchange(told_long_, false)) handlers_.fault(fault, true);
    return;
  }
  if (line->find_first_not_of(kBlanks) == std::string_view::npos) return;
  Message message = ReadMessage(*line, options_.reading);
  if (auto* request = std::get_if<Request>(&message))
    handlers_.asked(std::move(*request));
  else if (auto* notification = std::get_if<Notification>(&message))
    handlers_.told(std::move(*notification));
  else if (const auto* response = std::get_if<Response>(&message))
    TakeResponse(*response);
  else
    handlers_.fault(std::get<Fault>(message), false);
}

void JsonLines::TakeResponse(const Response& response) {
  std::string_view text = response.id;
  if (!text.starts_with(options_.id_prefix)) return;
  text.remove_prefix(options_.id_prefix.size());
  std::int64_t id = 0;
  const auto [stopped, problem] = std::from_chars(text.begin(), text.end(), id);
  if (problem != std::errc() || stopped != text.end()) return;
  Done done;
  {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(id);
    if (found == waiting_.end()) return;  // Too late.
    done = std::move(found->second);
    waiting_.erase(found);
  }
  if (response.error)
    done(Fail(Code::kInvalid, *response.error));
  else
    done(response.result);
}

std::int64_t JsonLines::Ask(std::string_view method, const Raw& params, Done done) {
  std::int64_t id = 0;
  Error refused(Code::kBusy, "too much was asked and not answered");
  {
    const std::lock_guard lock(mutex_);
    if (end_) refused = *end_;
    if (!end_ && waiting_.size() < options_.max_waiting) {
      id = ++last_;
      waiting_.emplace(id, std::move(done));
    }
  }
  if (id == 0)
    done(std::unexpected(std::move(refused)));  // NOLINT(bugprone-use-after-move): it has no id.
  else
    write_(RequestLine(IdOf(id), method, params.text));
  return id;
}

Async<Result<Raw>> JsonLines::Await(Loop& loop, std::string method, Raw params,
                                    std::chrono::milliseconds timeout, CancelToken cancel) {
  const Pending<Result<Raw>> pending(loop);
  const std::int64_t id =
      Ask(method, params, [pending](Result<Raw> answer) { pending.Set(std::move(answer)); });
  Timer clock(loop);
  clock.Start(timeout,
              [pending] { pending.Set(Fail(Code::kTimeout, "it did not answer in time")); });
  const CancelRegistration registration =
      cancel.OnCancel([pending] { pending.Set(Fail(Code::kCancelled, "it was cancelled")); });
  Result<Raw> answer = co_await pending;
  Drop(id);
  co_return answer;
}

bool JsonLines::Drop(std::int64_t number) {
  const std::lock_guard lock(mutex_);
  return waiting_.erase(number) != 0;
}

Raw JsonLines::IdOf(std::int64_t number) const {
  if (options_.id_prefix.empty()) return Raw{fmt::format("{}", number)};
  return Raw{fmt::format("\"{}{}\"", options_.id_prefix, number)};
}

void JsonLines::Tell(std::string_view method, const Raw& params) {
  write_(NotificationLine(method, params.text));
}

void JsonLines::Reply(const Raw& id, std::string_view result) { write_(ResultLine(id, result)); }

void JsonLines::Refuse(const Raw& id, std::int64_t code, std::string_view message,
                       std::string_view data) {
  write_(ErrorLine(id, code, message, data));
}

void JsonLines::End(const Error& why) {
  std::map<std::int64_t, Done> left;
  {
    const std::lock_guard lock(mutex_);
    if (!end_) end_ = why;
    left = std::exchange(waiting_, {});
  }
  for (const auto& [id, done] : left) done(std::unexpected(why));
}

}  // namespace stet::rpc
