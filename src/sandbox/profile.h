// Profile: what a command may do, as plain data. Decided elsewhere; here it is only enforced.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json/describe.h"

namespace stet::sandbox {

using Text = std::string;
using Texts = std::vector<std::string>;

/// What Profile::network may say.
namespace network {
inline constexpr std::string_view kOff = "off";            // No socket of any network.
inline constexpr std::string_view kLoopback = "loopback";  // A loopback of the command's own.
inline constexpr std::string_view kHosts = "hosts";        // That, and `hosts` through a proxy.
inline constexpr std::string_view kOpen = "open";          // As it is outside.
}  // namespace network

/// True for one of the four.
bool IsNetwork(std::string_view name);

/// 0: none.
struct Limits {
  STET_FIELDS(Limits,
              (std::int64_t, cpu_seconds),
              (std::int64_t, memory_bytes),  // Of addresses, each process.
              (std::int64_t, data_bytes),  // Of what a process fills itself, each.
              (std::int64_t, processes),  // Of the user. Not held against root.
              (std::int64_t, open_files),
              (std::int64_t, file_bytes))
};

/// Paths are absolute. Of two that contain one another the deeper one counts; of equal ones hidden
/// before read-only before writable. What is not named is readable, unless `readable` names what
/// is.
struct Profile {
  STET_FIELDS(Profile,
              (Texts, readable),  // With these nothing else is; a path that does not exist is left out.
              (Texts, writable),  // A path that does not exist is left out.
              (Texts, read_only),  // Inside of writable ones. A missing one cannot be made.
              (Texts, hidden),  // Look empty. A path that does not exist is left out.
              (Text, temp),  // A folder that commands have as /tmp; empty: one for each.
              (Text, network),
              (bool, only_hides),  // See takes_nothing_else(). The rest but limits counts for nothing.
              (Texts, hosts),  // "example.com", "*.example.com", each with or without ":443".
              (Limits, limits),
              (Texts, kept_variables),  // Only these are left of the environment; empty: all.
              (Texts, dropped_variables))  // Names; a star at either end stands for anything.

  /// Whether it is for a command that only reads, and names what it may.
  [[nodiscard]] bool only_reads() const { return !readable.empty(); }

  /// Whether it takes nothing away but what is hidden or read-only: for what a person allowed.
  /// All of that is there when the profile is made; what is gone by the time the command starts
  /// fails it, for it may have been moved. Root keeps no right by which it could look past that
  /// (to mount, to trace, to read devices, to tell the kernel what to run).
  [[nodiscard]] bool takes_nothing_else() const { return only_hides; }
};

/// Whether `path` is `folder` or below it.
bool Inside(std::string_view path, std::string_view folder);

/// Those of `variables` ("K=V") that the profile keeps and does not drop.
Texts KeptVariables(Texts variables, const Profile& profile);

}  // namespace stet::sandbox
