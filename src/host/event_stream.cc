#include "host/event_stream.h"

#include <charconv>

#include <fmt/format.h>

#include "json/view.h"

namespace stet::host {
namespace {

/// Takes the number before the next dot off `text`.
template <class Number>
bool TakeNumber(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto length = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || length >= text.size() || text[length] != '.') return false;
  text.remove_prefix(length + 1);
  return true;
}

}  // namespace

protocol::OptionalResyncAnchor AnchorFrom(std::string_view last_event_id) {
  protocol::ResyncAnchor anchor;
  if (!TakeNumber(last_event_id, anchor.epoch) || !TakeNumber(last_event_id, anchor.seq) ||
      !TakeNumber(last_event_id, anchor.persistent_seq))
    return std::nullopt;
  anchor.persistent_id = last_event_id;
  return anchor;
}

EventStream::EventStream(std::shared_ptr<FeedSource> session, std::function<void()> ended)
    : session_(std::move(session)), ended_(std::move(ended)) {}

EventStream::~EventStream() = default;

Result<protocol::Subscribed> EventStream::Start(const protocol::Subscribe& wanted,
                                                rpc::HttpReply& reply) {
  feed_ = std::make_unique<Feed>(*session_, *this);
  ASSIGN_OR_RETURN(protocol::Subscribed begun, feed_->Begin(wanted));
  if (wanted.anchor) at_ = *wanted.anchor;
  channel_ = reply.Stream(200, {{"content-type", "text/event-stream"},
                                {"cache-control", "no-store"},
                                {"stet-resync", begun.mode}});
  channel_->Start({.frame = [](std::string_view) {},
                   .drained =
                       [this] {
                         if (feed_) feed_->Pump();
                       },
                   .closed = [this](const Error&) { ended_(); }});
  feed_->Pump();
  return begun;
}

void EventStream::EndWith(std::unique_ptr<Admission> admission) {
  admission_ = std::move(admission);
  admission_->Watch([this](const Error& why) {
    feed_.reset();
    channel_->Close(CodeName(why.code));
  });
}

void EventStream::Push(std::shared_ptr<const std::string> message) {
  const auto seq = [this](const JsonView& number) {
    return static_cast<std::uint64_t>(number.IntOr(static_cast<std::int64_t>(at_.seq)));
  };
  const JsonView json = JsonView(*message);
  const std::string type = json["type"].StringOr("");
  std::string_view data = *message;
  if (type == "event") {
    const JsonView event = json["event"];
    at_.seq = seq(event["seq"]);
    at_.persistent_seq = at_.seq;
    at_.persistent_id = event["id"].StringOr("");
    data = event.text();
  } else if (type == "transient") {
    at_.seq = seq(json["transient"]["seq"]);
    data = json["transient"].text();
  } else if (type == "live") {
    at_.seq = seq(json["seq"]);
  }
  // A client that catches up from the log has missed transients: it cannot resume by epoch and seq.
  at_.epoch = feed_->live() ? json["epoch"].IntOr(at_.epoch) : -1;
  channel_->Send(fmt::format("event: {}\nid: {}.{}.{}.{}\ndata: {}\n\n", type, at_.epoch, at_.seq,
                             at_.persistent_seq, at_.persistent_id, data));
}

}  // namespace stet::host
