// What clients ask about sessions as a whole, and what they are told: plain data, the same in
// `--json` output and on the wire.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/header.h"

namespace stet::protocol {

/// What a list of sessions shows; kept as summary.json beside the log.
struct SessionSummary {
  STET_FIELDS(SessionSummary,
              (Text, session_id),
              (Text, title),  // Given, or the first prompt's first line.
              (Text, first_prompt),  // The beginning of it.
              (Text, last_prompt),
              (Text, project_id),
              (Text, cwd),
              (Text, model),
              (Text, kind),
              (Text, device_id),
              (std::int64_t, created_at),
              (std::int64_t, updated_at),
              (std::int64_t, user_messages),
              (std::int64_t, assistant_messages),
              (std::int64_t, tool_results),
              (OptionalText, parent_session_id),
              (OptionalText, root_session_id),  // A child's: the session in whose folder it lies.
              (OptionalText, agent_id),
              (OptionalOrigin, cloned_from),
              (std::uint64_t, log_bytes))  // Of the log that this was made from.
};

/// Where the leaf was, and where it is.
struct Moved {
  STET_FIELDS(Moved, (OptionalText, old_leaf), (OptionalText, new_leaf))
};

/// The state of a run as a compaction would carry it.
struct CapsuleReport {
  STET_FIELDS(CapsuleReport,
              (Raw, capsule),  // As doc/format/capsule.md has it.
              (Text, text))  // As a model is told of it, with the pins.
};

/// One event of the tree, for drawing it.
struct TreeNode {
  STET_FIELDS(TreeNode,
              (Text, id),
              (OptionalText, parent_id),
              (std::uint64_t, seq),
              (std::int64_t, ts),
              (Text, type),
              (OptionalText, role),
              (Text, text),  // The beginning of what it says, on one line.
              (bool, on_path),
              (bool, rest_point))
};
using TreeNodes = std::vector<TreeNode>;

struct SessionTree {
  STET_FIELDS(SessionTree,
              (Text, session_id),
              (OptionalText, leaf_id),
              (TreeNodes, nodes))  // In file order.
};

struct FaultReport {
  STET_FIELDS(FaultReport,
              (Text, name),  // "damaged_line"
              (Text, title),  // "damaged line"
              (std::uint64_t, line),  // 0: about no line.
              (std::uint64_t, offset),
              (std::uint64_t, length),
              (Text, id),
              (Text, detail),
              (bool, recorded),  // The log itself says so already.
              (OptionalText, session_id))  // The child that it is about; absent: the session itself.
};
using FaultReports = std::vector<FaultReport>;

struct VerifyReport {
  STET_FIELDS(VerifyReport,
              (Text, session_id),
              (bool, sound),
              (std::uint64_t, children),  // The numbers below count them in.
              (std::uint64_t, events),
              (std::uint64_t, lines),
              (std::uint64_t, bytes),
              (std::uint64_t, blobs),
              (FaultReports, faults),
              (Texts, plan))  // What a repair of the session itself would do, one sentence each.
};

struct DiskUseRow {
  STET_FIELDS(DiskUseRow,
              (Text, session_id),
              (Text, title),
              (std::uint64_t, children),  // The numbers below count them in.
              (std::uint64_t, log_bytes),
              (std::uint64_t, blob_bytes),
              (std::uint64_t, other_bytes),
              (std::uint64_t, total_bytes))
};

struct DiskUseReport {
  STET_FIELDS(DiskUseReport,
              (std::vector<DiskUseRow>, sessions),
              (std::uint64_t, trash_bytes),
              (std::uint64_t, total_bytes))
};

struct TrashRow {
  STET_FIELDS(TrashRow,
              (Text, session_id),
              (Text, title),
              (std::int64_t, removed_at),
              (std::uint64_t, bytes),
              (OptionalText, root_session_id))  // A child that was removed alone: where it lay.
};

/// Something that may be deleted for good.
struct GarbageItem {
  STET_FIELDS(GarbageItem,
              // blob (no event names it), temporary (a crash left it), trash, copy (kept of a
              // file, and no session needs it), unborn (a folder in
              // which no session came to be); or held: a process
              // writes that session, so its tree is passed over.
              (Text, kind),
              (Text, session_id),
              (Text, path),
              (std::uint64_t, bytes),
              (OptionalInt, held_by))  // That process.
};

/// What a number of model calls came to. Tokens are those that servers reported, each counted once.
struct CostSum {
  STET_FIELDS(CostSum,
              (Text, name),  // A purpose, a turn's id, a model; empty for the whole session.
              (std::int64_t, calls),
              (std::int64_t, attempts),
              (std::int64_t, input),
              (std::int64_t, output),
              (std::int64_t, cache_read),
              (std::int64_t, cache_write),
              (std::int64_t, reasoning),  // Part of output.
              (std::int64_t, price),  // Micro-units; of what has a price.
              (std::int64_t, unknown_calls),  // More was used than is known: a lower bound.
              (std::int64_t, unpriced_calls))  // Their model has no known price.
};
using CostSums = std::vector<CostSum>;

struct CostReport {
  STET_FIELDS(CostReport,
              (Text, session_id),
              (CostSum, total),
              (CostSums, purposes),
              (CostSums, models),
              (CostSums, turns))  // In the order they first came.
};

}  // namespace stet::protocol
