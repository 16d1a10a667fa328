#include "host/run_reading.h"

#include <vector>

#include "base/fs.h"
#include "log/tree.h"

namespace stet::host {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{64} << 20;

}  // namespace

Result<run::State> ReadRun(const log::Log& log) {
  const log::Index& index = log.index();
  const std::vector<log::Entry>& entries = index.entries();
  std::vector<bool> applies(entries.size());
  for (log::Ordinal at = index.leaf(); at != log::kNone; at = entries[at].parent)
    applies[at] = true;
  for (const log::Ordinal control : log::ControlsOn(index, index.leaf())) applies[control] = true;
  run::State state;
  for (log::Ordinal at = 0; at < entries.size(); ++at) {
    const log::Entry& entry = entries[at];
    if (!run::State::Matters(entry.type)) continue;
    // What happened to the disk does not go away with a branch.
    const bool everywhere = entry.place() == protocol::Place::kSession ||
                            entry.type == protocol::kTypeNumber<protocol::ToolResult>;
    if (!everywhere && !applies[at]) continue;
    ASSIGN_OR_RETURN(const protocol::Event event, log.EventAt(at));
    state.Take(event);
  }
  return state;
}

run::Capsule CapsuleNow(const log::Log& log, const run::State& state, Millis now) {
  run::CapsuleFacts facts;
  facts.session_id = log.header().session_id;
  facts.leaf_id = log.leaf_id();
  facts.seq = log.last_seq();
  facts.generation = state.generation() + 1;
  facts.created_at = now;
  facts.reader = [](const std::string& path) { return ReadFile(path, kMaxFileBytes); };
  if (facts.leaf_id) {
    if (const Result<protocol::Event> leaf = log.EventAt(log.index().leaf()))
      facts.trace_id = leaf->stamp.turn_id.value_or("");
  }
  return run::MakeCapsule(state, facts);
}

}  // namespace stet::host
