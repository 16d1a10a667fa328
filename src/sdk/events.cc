#include "sdk/events.h"

#include <fmt/format.h>

namespace stet::sdk {

void StreamEvents::WriteSome(std::optional<std::string> line) {
  if (line) write_(*std::move(line));
}

/// `seq` is that of the news they were made from.
void StreamEvents::WriteParts(const std::vector<std::string>& parts, std::uint64_t seq) {
  if (!options_.partial_messages) return;
  std::size_t number = 0;
  for (const std::string& part : parts)
    write_(lines_.StreamEvent(part, fmt::format("{}/part/{}", seq, number++)));
}

void StreamEvents::Begin(const protocol::LiveState& state) {
  lines_ = StreamLines(state.session_id);
  write_(lines_.Init(state));
  AskOpen(state);
}

void StreamEvents::AskOpen(const protocol::LiveState& state) {
  for (const protocol::Ask& ask : protocol::OpenAsks(state)) WriteSome(asks_.Ask(ask));
}

void StreamEvents::Hear(const protocol::Event& event) {
  const protocol::PayloadVariant& payload = event.payload;
  if (const auto* message = std::get_if<protocol::AssistantMessage>(&payload)) {
    WriteParts(partial_.Take(event, *message), event.seq);
    for (std::string& line : lines_.Assistant(event, *message)) write_(std::move(line));
  } else if (const auto* result = std::get_if<protocol::ToolResult>(&payload)) {
    write_(lines_.ToolResult(event, *result));
  } else if (const auto* user = std::get_if<protocol::UserMessage>(&payload)) {
    if (options_.replay_user_messages) write_(lines_.Replay(event, *user));
  } else if (const std::optional<protocol::AskNews> news = protocol::AskNewsIn(event)) {
    // What another client answered, or no client shall answer, is taken back.
    WriteSome(news->asked ? asks_.Ask(*news->asked) : asks_.Withdraw(news->id));
  }
}

void StreamEvents::Hear(const protocol::Transient& transient) {
  WriteParts(partial_.Take(transient), transient.seq);
  const auto* wait = std::get_if<protocol::Wait>(&transient.transient);
  if (wait != nullptr && wait->attempt) write_(lines_.Retry(transient, *wait));
  const auto* notice = std::get_if<protocol::Notice>(&transient.transient);
  if (notice != nullptr) write_(lines_.Notice(transient, *notice));
}

void StreamEvents::End(const protocol::TurnReport& report, const face::ResultMore& more) {
  for (const protocol::DenialRow& denial : report.denials) {
    // The client that said no knows.
    if (denial.rule != "user") write_(lines_.Denied(denial));
  }
  face::AddTo(spent_, report);
  write_(face::ResultJson(report, spent_, more));
}

}  // namespace stet::sdk
