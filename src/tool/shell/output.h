// ShellOutput: what a command has written, kept within bounds: the beginning in a file, which then
// stops growing, the last bytes in memory, and a count of what was dropped between them.
//
// A failed write (a full disk) drops like the cap does. Not thread safe; blocks on the page cache
// only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace stet::tool {

class ShellOutput {
 public:
  /// Of the beginning, in the file.
  static constexpr std::size_t kMaxKeptBytes = std::size_t{16} << 20;
  /// What is shown at once; also what is kept of the end.
  static constexpr std::size_t kMaxShownBytes = 16'000;

  using PutBlob = std::function<Result<std::string>(std::string_view)>;

  /// `path` must not exist yet.
  static Result<ShellOutput> Make(const std::string& path);

  void Add(std::string_view bytes);

  /// What is kept, and all that comes, is in `path` from now on, which must not exist yet. When it
  /// fails all stays as it is.
  Status MoveTo(const std::string& path);

  /// How much was written, whether it was kept or not.
  [[nodiscard]] std::uint64_t total() const { return total_; }

  /// What came from `from` on, as text. When that is more than kMaxShownBytes it is the head and
  /// the tail of it, and what is kept of it goes to a blob that is named between them.
  [[nodiscard]] std::string Show(std::uint64_t from, const PutBlob& put_blob) const;

  /// Everything that is kept, with a line in the place of what was dropped.
  [[nodiscard]] std::string Whole() const;

  /// The last `max_bytes`, as text, from the beginning of a line where there is one.
  [[nodiscard]] std::string Tail(std::size_t max_bytes) const;

 private:
  ShellOutput() = default;
  [[nodiscard]] std::string Kept(std::uint64_t from, std::uint64_t to) const;

  Fd file_;
  std::uint64_t kept_ = 0;
  std::uint64_t total_ = 0;
  std::string tail_;  // At least the last kMaxShownBytes; less than twice as much.
};

}  // namespace stet::tool
