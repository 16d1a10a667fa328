#include "context/prefix.h"

#include <algorithm>

#include "base/hash.h"

namespace stet::context {
namespace {

using provider::PartKind;

/// Empty for an event that leaves the conversation before it as it was.
std::string_view CauseIn(std::uint8_t type) {
  using protocol::kTypeNumber;
  switch (type) {
    case kTypeNumber<protocol::Compaction>: return cause::kCompaction;
    case kTypeNumber<protocol::Snip>: return cause::kSnip;
    case kTypeNumber<protocol::ContentReplacement>: return cause::kReplacement;
    case kTypeNumber<protocol::Rewind>: return cause::kRewind;
    case kTypeNumber<protocol::Branch>: return cause::kBranch;
    case kTypeNumber<protocol::Gap>: return cause::kDamage;
    default: return "";
  }
}

/// Why the tools are others than they were.
std::string CauseOfTools(const log::Log& log, std::size_t since) {
  const std::vector<log::Entry>& entries = log.index().entries();
  for (std::size_t at = entries.size(); at > since; --at) {
    if (entries[at - 1].type != protocol::kTypeNumber<protocol::Toolset>) continue;
    const Result<protocol::Event> event = log.EventAt(static_cast<log::Ordinal>(at - 1));
    const auto* toolset = event ? std::get_if<protocol::Toolset>(&event->payload) : nullptr;
    if (toolset != nullptr) return toolset->cause;
  }
  return std::string(cause::kUnexplained);
}

}  // namespace

std::int64_t Print::bytes() const {
  std::int64_t sum = 0;
  for (const PrintPart& part : parts) sum += part.size;
  return sum;
}

Print PrintOf(const provider::Model& model, const provider::WireRequest& wire) {
  Print print{.model = model.FullName(), .dialect = model.dialect, .parts = {}};
  print.parts.reserve(wire.parts.size());
  for (const provider::WirePart& part : wire.parts) {
    const std::string_view bytes =
        std::string_view(wire.body).substr(part.begin, part.end - part.begin);
    print.parts.push_back({.hash = FastHash(bytes),
                           .size = static_cast<std::uint32_t>(bytes.size()),
                           .kind = part.kind,
                           .mark = part.mark});
  }
  return print;
}

std::size_t CommonParts(const std::vector<PrintPart>& one, const std::vector<PrintPart>& other) {
  const auto differ = std::ranges::mismatch(
      one, other, [](const PrintPart& a, const PrintPart& b) { return a.Same(b); });
  return static_cast<std::size_t>(differ.in1 - one.begin());
}

Comparison Compare(const Print& before, const Print& after) {
  Comparison result;
  result.equal_parts = CommonParts(before.parts, after.parts);
  for (std::size_t i = 0; i < result.equal_parts; ++i) result.equal_bytes += before.parts[i].size;
  result.extends = result.equal_parts == before.parts.size();
  const auto kind_at = [&](const Print& print) {
    return result.equal_parts < print.parts.size() ? print.parts[result.equal_parts].kind
                                                   : PartKind::kMessage;
  };
  result.differs = std::min(kind_at(before), kind_at(after));
  return result;
}

std::string CauseOf(const Comparison& comparison, const log::Log& log, std::size_t since) {
  switch (comparison.differs) {
    case PartKind::kEffort:
    case PartKind::kThinking: return std::string(cause::kEffort);
    case PartKind::kOutput: return std::string(cause::kOutput);
    case PartKind::kTool: return CauseOfTools(log, since);
    case PartKind::kSystem: return std::string(cause::kInstructions);
    case PartKind::kChoice: return std::string(cause::kToolChoice);
    case PartKind::kMessage: break;
  }
  const std::vector<log::Entry>& entries = log.index().entries();
  for (std::size_t at = entries.size(); at > since; --at) {
    if (const std::string_view found = CauseIn(entries[at - 1].type); !found.empty())
      return std::string(found);
  }
  return std::string(cause::kUnexplained);
}

}  // namespace stet::context
