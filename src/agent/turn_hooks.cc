// What hooks have to do with a turn as a whole: it may be refused, and kept from ending.
#include <fmt/format.h>

#include "agent/hooks.h"
#include "agent/turn.h"

namespace stet::agent {

Result<TurnOutcome> Turn::Refuse(std::string why) {
  TurnOutcome end;
  end.reason = ended::kStopped;
  end.error = std::move(why);
  RETURN_IF_ERROR(Begin());
  RETURN_IF_ERROR(Finish(end));
  return end;
}

/// A Stop hook may send the model on instead of letting the turn end. After too many times in a row
/// without progress it is no longer heeded.
Async<Status> Turn::AskStopHooks(TurnOutcome& end, bool& rests) {
  constexpr int kMaxStopBlocks = 3;
  if (!HooksWant(bench_, hook::Event::kStop)) co_return Status();
  hook::Occasion occasion = hook::OnStop(stop_blocked_, end.text);
  const Result<hook::Verdict> verdict =
      co_await FireHooks(bench_, stamp_, std::move(occasion), cancel_.token());
  if (!verdict) co_return std::unexpected(verdict.error());
  if (!verdict->blocks || verdict->stops || cancel_.cancelled()) co_return Status();
  if (stop_blocks_ >= kMaxStopBlocks) {
    PublishNotice(bench_.log, verdict->block.by,
                  fmt::format("it did not let the turn end {} times in a row, and nothing came of "
                              "it: it is no longer heeded",
                              stop_blocks_));
    co_return Status();
  }
  ++stop_blocks_;
  stop_blocked_ = true;
  hook::Said reason = verdict->block;
  reason.text = "You are not done yet: " +
                (reason.text.empty() ? std::string("go on with the work.") : reason.text);
  CO_RETURN_IF_ERROR(Owe(bench_, OwedByHook(reason), stamp_));
  rests = false;
  end.reason.clear();
  co_return Status();
}

}  // namespace stet::agent
