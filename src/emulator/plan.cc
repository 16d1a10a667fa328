#include "emulator/plan.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace stet::emulator {
namespace {

constexpr std::string_view kEventStream = "text/event-stream; charset=utf-8";
constexpr std::string_view kLastChunk = "0\r\n\r\n";
constexpr std::string_view kPage =
    "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Sign in to go "
    "on.</body></html>\n";

std::string_view ReasonPhrase(int status) {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 413: return "Payload Too Large";
    case 429: return "Too Many Requests";
    case 500: return "Internal Server Error";
    case 503: return "Service Unavailable";
    default: return "Emulated";
  }
}

void AppendHead(std::string& out, int status, std::string_view content_type) {
  fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} {}\r\ncontent-type: {}\r\n", status,
                 ReasonPhrase(status), content_type);
}

void AppendHeaders(std::string& out, const Headers& headers) {
  for (const auto& [name, value] : headers) (((out += name) += ": ") += value) += "\r\n";
}

/// The header by which the dialect's servers name a request.
std::pair<std::string, std::string> RequestIdHeader(const Exchange& exchange) {
  const bool anthropic = exchange.dialect == Dialect::kAnthropicMessages;
  return {anthropic ? "request-id" : "x-request-id", MakeId("req_", exchange.number)};
}

/// Cuts the bytes into writes of `size`.
std::vector<std::size_t> CutEvery(std::size_t size, std::size_t total) {
  std::vector<std::size_t> ends;
  ends.reserve(total / size + 1);
  for (std::size_t end = std::min(size, total); end < total; end += size) ends.push_back(end);
  ends.push_back(total);
  return ends;
}

/// Builds a stream's plan, event by event.
class StreamPlan {
 public:
  StreamPlan(const Exchange& exchange, const Reply& reply)
      : exchange_(exchange), reply_(reply), events_(RenderReply(exchange, reply)) {
    list_.reserve(events_.count() + 1);
    for (std::size_t i = 0; i < events_.count(); ++i) list_.push_back(events_.at(i));
  }

  Plan Run() {
    plan_.complete = true;
    plan_.first_byte_ms = reply_.first_byte_ms;
    plan_.pause_ms = reply_.pause_ms;
    std::size_t write = reply_.write;
    if (reply_.fault) {
      ApplyFault(*reply_.fault);
      if (reply_.fault->kind == Fault::Kind::kDrip) {
        write = 1;
        plan_.pause_ms = reply_.fault->ms;
      }
    }
    AddHead();
    for (const std::string_view event : list_) {
      if (!AddChunk(event)) break;
    }
    if (!cut_) {
      plan_.bytes += kLastChunk;
      plan_.ends.back() = plan_.bytes.size();
    }
    if (write > 0) plan_.ends = CutEvery(write, plan_.bytes.size());
    return std::move(plan_);
  }

 private:
  void ApplyFault(const Fault& fault) {
    switch (fault.kind) {
      case Fault::Kind::kReset: return CutShort(fault, Plan::After::kReset, "reset");
      case Fault::Kind::kClose: return CutShort(fault, Plan::After::kClose, "closed");
      case Fault::Kind::kStall: return CutShort(fault, Plan::After::kHold, "stalled");
      case Fault::Kind::kMalformed: return Insert(fault, BrokenEvent(exchange_));
      case Fault::Kind::kGiant: return Insert(fault, GiantEvent(exchange_, fault.bytes));
      case Fault::Kind::kErrorEvent: return BreakOff(fault);
      case Fault::Kind::kNoEnd:
        list_.resize(events_.content);
        plan_.after = Plan::After::kClose;
        plan_.complete = false;
        return;
      default: return;  // Not a matter of the stream's content.
    }
  }

  void CutShort(const Fault& fault, Plan::After after, std::string_view outcome) {
    plan_.after = after;
    plan_.outcome = outcome;
    plan_.complete = false;
    std::size_t bytes = fault.after_bytes.value_or(0);
    if (!fault.after_bytes) {
      for (std::size_t i = 0; i < std::min(fault.after_events, list_.size()); ++i) {
        bytes += list_[i].size();
      }
    }
    cut_ = bytes;
  }

  void Insert(const Fault& fault, std::string event) {
    extra_ = std::move(event);
    const std::size_t at = std::min(fault.after_events, list_.size());
    list_.insert(list_.begin() + static_cast<std::ptrdiff_t>(at), extra_);
  }

  void BreakOff(const Fault& fault) {
    list_.resize(std::min(fault.after_events, list_.size()));
    const WireError error{.status = 500,
                          .type = fault.type,
                          .code = fault.code,
                          .message = fault.message.empty() ? "Emulated failure" : fault.message};
    Insert(fault, RenderErrorEvent(exchange_, error, list_.size(), fault.failed));
    plan_.complete = false;
  }

  void AddHead() {
    AppendHead(plan_.bytes, 200, kEventStream);
    plan_.bytes += "cache-control: no-cache\r\ntransfer-encoding: chunked\r\n";
    AppendHeaders(plan_.bytes, {RequestIdHeader(exchange_)});
    AppendHeaders(plan_.bytes, reply_.headers);
    plan_.bytes += "\r\n";
    plan_.ends.push_back(plan_.bytes.size());
  }

  /// False when the stream is cut here. The chunk that is cut announces all of its event.
  bool AddChunk(std::string_view event) {
    if (cut_ && payload_ >= *cut_) return false;
    const std::size_t taken = cut_ ? std::min(event.size(), *cut_ - payload_) : event.size();
    fmt::format_to(std::back_inserter(plan_.bytes), "{:x}\r\n", event.size());
    plan_.bytes += event.substr(0, taken);
    if (taken == event.size()) plan_.bytes += "\r\n";
    payload_ += taken;
    plan_.ends.push_back(plan_.bytes.size());
    return taken == event.size();
  }

  const Exchange& exchange_;
  const Reply& reply_;
  Events events_;
  std::string extra_;                   // An event that a fault adds.
  std::vector<std::string_view> list_;  // Into events_ and extra_.
  std::optional<std::size_t> cut_;      // How many bytes of events are sent.
  std::size_t payload_ = 0;
  Plan plan_;
};

Plan FixedPlan(const Reply& reply, std::string answer, std::string_view outcome) {
  Plan plan;
  plan.bytes = std::move(answer);
  plan.ends = reply.write > 0 ? CutEvery(reply.write, plan.bytes.size())
                              : std::vector<std::size_t>{plan.bytes.size()};
  plan.first_byte_ms = reply.first_byte_ms;
  plan.pause_ms = reply.pause_ms;
  plan.outcome = outcome;
  return plan;
}

Plan SilentPlan(Plan::After after, std::string_view outcome) {
  Plan plan;
  plan.after = after;
  plan.outcome = outcome;
  return plan;
}

WireError ErrorOf(const Exchange& exchange, const Fault& fault) {
  WireError error{.status = fault.status,
                  .type = fault.type,
                  .code = fault.code,
                  .message = fault.message,
                  .retry_after = fault.retry_after};
  if (fault.kind == Fault::Kind::kOverload) {
    error.status = exchange.dialect == Dialect::kAnthropicMessages ? 529 : 503;
    if (error.message.empty()) error.message = "Overloaded";
  }
  if (error.message.empty()) error.message = fmt::format("Emulated status {}", error.status);
  return error;
}

Plan StatusPlan(const Exchange& exchange, const Reply& reply) {
  const Fault& fault = *reply.fault;
  const WireError error = ErrorOf(exchange, fault);
  Headers headers = reply.headers;
  headers.push_back(RequestIdHeader(exchange));
  headers.insert(headers.end(), fault.headers.begin(), fault.headers.end());
  if (fault.retry_after) headers.emplace_back("retry-after", fmt::format("{}", *fault.retry_after));
  const std::string body = fault.body ? *fault.body : RenderError(exchange, error);
  return FixedPlan(reply, HttpAnswer(error.status, kJson, body, headers), "error");
}

}  // namespace

std::string HttpAnswer(int status, std::string_view content_type, std::string_view body,
                       const Headers& headers) {
  std::string out;
  AppendHead(out, status, content_type);
  fmt::format_to(std::back_inserter(out), "content-length: {}\r\n", body.size());
  AppendHeaders(out, headers);
  (out += "\r\n") += body;
  return out;
}

Plan MakePlan(const Exchange& exchange, const Reply& reply) {
  if (!reply.fault) return StreamPlan(exchange, reply).Run();
  const Fault& fault = *reply.fault;
  const bool at_once = fault.after_bytes.value_or(0) == 0 && fault.after_events == 0;
  switch (fault.kind) {
    case Fault::Kind::kStatus:
    case Fault::Kind::kOverload: return StatusPlan(exchange, reply);
    case Fault::Kind::kHalfOpen: return SilentPlan(Plan::After::kHold, "half_open");
    case Fault::Kind::kReset:
      if (at_once) return SilentPlan(Plan::After::kReset, "reset");
      break;
    case Fault::Kind::kClose:
      if (at_once) return SilentPlan(Plan::After::kClose, "closed");
      break;
    case Fault::Kind::kContentType:
      return FixedPlan(
          reply,
          HttpAnswer(200, "text/html; charset=utf-8",
                     fault.body ? std::string_view(*fault.body) : kPage, reply.headers),
          "sent");
    case Fault::Kind::kJsonError200:
      return FixedPlan(
          reply,
          HttpAnswer(200, kJson, RenderError(exchange, ErrorOf(exchange, fault)), reply.headers),
          "sent");
    default: break;
  }
  return StreamPlan(exchange, reply).Run();
}

Plan MakeErrorPlan(const Exchange& exchange, const WireError& error) {
  return FixedPlan(
      {},
      HttpAnswer(error.status, kJson, RenderError(exchange, error), {RequestIdHeader(exchange)}),
      "error");
}

}  // namespace stet::emulator
