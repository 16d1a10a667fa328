// Where an event stands and how durable it must be before it is published: the two properties of
// doc/format/log.md's table that the log acts on.
#pragma once

namespace stet::protocol {

enum class Place {
  kTree,     // Hangs on the current leaf and becomes it.
  kControl,  // Carries the leaf as its anchor; applies on the paths through it.
  kSession,  // Always applies.
};

enum class Flush {
  kLazy,    // Written now, flushed with the next event that needs it.
  kSync,    // Flushed before it is published; at most 1 s later when durability is relaxed.
  kAlways,  // Flushed before it is published, also when durability is relaxed.
};

}  // namespace stet::protocol
