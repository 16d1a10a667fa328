// What clients ask about models, and what they are told: plain data, the same in `--json` output
// and on the wire.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/content.h"

namespace stet::protocol {

/// Micro-units of money per million tokens.
struct PriceRow {
  STET_FIELDS(PriceRow,
              (std::int64_t, input),
              (std::int64_t, output),
              (std::int64_t, cache_read),
              (std::int64_t, cache_write))
};
using OptionalPrices = std::optional<PriceRow>;

struct ProviderRow {
  STET_FIELDS(ProviderRow,
              (Text, name),
              (Text, dialect),
              (Text, base_url),
              (Text, key_variable),
              (bool, key_present),
              (bool, local))  // On this machine; takes any model id.
};

struct ModelRow {
  STET_FIELDS(ModelRow,
              (Text, name),  // PROVIDER/ID, or the configuration's own name for it.
              (Text, provider),
              (Text, id),
              (Text, title),
              (Text, dialect),
              (std::int64_t, context_window),
              (std::int64_t, max_output),
              (OptionalPrices, prices),  // Absent: unknown.
              (bool, thinking),
              (Texts, efforts),
              (bool, images),
              (bool, configured))  // From the configuration.
};

using ProviderRows = std::vector<ProviderRow>;
using ModelRows = std::vector<ModelRow>;

struct ModelList {
  STET_FIELDS(ModelList,
              (Text, selected),  // What is used when nothing is asked for.
              (OptionalText, problem),  // Why it cannot be used.
              (ProviderRows, providers),
              (ModelRows, models))
};

struct LimitRow {
  STET_FIELDS(LimitRow, (Text, what), (Text, limit), (Text, remaining), (Text, reset))
};
using LimitRows = std::vector<LimitRow>;

/// What came of one short question.
struct ModelCheck {
  STET_FIELDS(ModelCheck,
              (Text, model),
              (bool, ok),
              (OptionalText, failure),  // Its kind: auth, overloaded, ...
              (OptionalText, message),
              (Text, reply),
              (std::int64_t, attempts),
              (std::int64_t, first_event_ms),
              (std::int64_t, total_ms),
              (OptionalUsage, usage),
              (OptionalInt, price),  // Micro-units.
              (LimitRows, limits))
};

}  // namespace stet::protocol
