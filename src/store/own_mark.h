// OwnMark: the mark beside a log that says from which event on it was written by this device. It is
// sealed with the device's key, and no export, import or copy brings it: what comes from elsewhere
// has none, or one that counts for nothing here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "log/paths.h"

namespace stet::store {

/// The first seq of this device's events; nothing when the log was not written here.
std::optional<std::uint64_t> OwnSince(const log::Paths& paths, const std::string& key);

Status MarkOwn(const log::Paths& paths, std::uint64_t since, const std::string& key);

/// A copy that was made here is as much this device's as its origin: wholly, or it has no mark.
Status MarkCopy(const log::Paths& origin, const log::Paths& copy, const std::string& key);

}  // namespace stet::store
