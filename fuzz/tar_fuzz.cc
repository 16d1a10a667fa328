// A tar from arbitrary bytes: reading its members never crashes, ends, and gives no more than the
// file has.
#include <array>
#include <cstddef>
#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>

#include "base/fs.h"
#include "store/tar_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int fd = ::memfd_create("tar", MFD_CLOEXEC);
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  CHECK(::ftruncate(fd, 0) == 0 && ::lseek(fd, 0, SEEK_SET) == 0, "a file in memory");
  CHECK(stet::WriteAll(fd, bytes), "a file in memory takes them");
  stet::store::TarReader tar(fd, size);
  std::size_t given = 0;
  for (;;) {
    const auto member = tar.Next();
    if (!member || !*member) break;
    CHECK((*member)->name.size() <= stet::store::TarReader::kMaxName, "names are bounded");
    std::array<char, 1000> buffer;
    for (;;) {
      const auto got = tar.Read(buffer);
      if (!got || *got == 0) break;
      given += *got;
    }
  }
  CHECK(given <= size, "a member has bytes of its own");
  return 0;
}
