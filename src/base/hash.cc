#include "base/hash.h"

#include <cstring>
#include <new>
#include <vector>

#include <fcntl.h>

// XXH3 is compiled into this file alone. GCC 12 makes 7 GB/s of its SSE2 form and 40 GB/s of the
// AVX2 one, which is as fast as memory, so long inputs go to the latter where the machine has it.
#define XXH_INLINE_ALL
#if defined(__x86_64__)
#include <immintrin.h>
#define XXH_X86DISPATCH  // Aligns the accumulators for every instruction set.
#define XXH_DISPATCH_AVX2 1
#define XXH_TARGET_AVX2 __attribute__((target("avx2")))
#endif
#include <sodium/crypto_hash_sha256.h>
#include <xxhash.h>

#include "base/fs.h"

namespace stet {

namespace {

// The pieces put together here are internal to xxHash and were renamed after 0.8.1.
#if defined(__x86_64__) && XXH_VERSION_NUMBER == 801
constexpr std::size_t kLongInput = XXH3_MIDSIZE_MAX;

XXH_TARGET_AVX2 std::uint64_t HashLongAvx2(std::string_view bytes) {
  return XXH3_hashLong_64b_internal(bytes.data(), bytes.size(), XXH3_kSecret, sizeof XXH3_kSecret,
                                    XXH3_accumulate_512_avx2, XXH3_scrambleAcc_avx2);
}

bool CanUseAvx2(std::size_t size) { return size > kLongInput && __builtin_cpu_supports("avx2"); }
#else
std::uint64_t HashLongAvx2(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

bool CanUseAvx2(std::size_t) { return false; }
#endif

using Sha256State = crypto_hash_sha256_state;

Sha256State* StateIn(void* storage) { return std::launder(static_cast<Sha256State*>(storage)); }

}  // namespace

std::uint64_t FastHash(std::string_view bytes) {
  if (CanUseAvx2(bytes.size())) return HashLongAvx2(bytes);
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::string FastHashHex(std::string_view bytes) {
  std::string hex;
  AppendHex64(hex, FastHash(bytes));
  return hex;
}

void AppendHex64(std::string& out, std::uint64_t value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  char digits[16];
  for (int i = 15; i >= 0; --i, value >>= 4) digits[i] = kDigits[value & 15];
  out.append(digits, sizeof digits);
}

Sha256::Sha256() {
  static_assert(sizeof(Sha256State) <= sizeof state_ && alignof(Sha256State) <= 8);
  ::crypto_hash_sha256_init(new (state_.data()) Sha256State);
}

void Sha256::Update(std::string_view bytes) {
  ::crypto_hash_sha256_update(StateIn(state_.data()),
                              reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

std::string Sha256::FinishHex() {
  unsigned char digest[crypto_hash_sha256_BYTES];
  ::crypto_hash_sha256_final(StateIn(state_.data()), digest);
  std::string hex;
  hex.reserve(2 * sizeof digest);
  for (std::size_t i = 0; i < sizeof digest; i += 8) {
    std::uint64_t word = 0;
    for (std::size_t j = 0; j < 8; ++j) word = word << 8 | digest[i + j];
    AppendHex64(hex, word);
  }
  return hex;
}

std::string Sha256Hex(std::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.FinishHex();
}

Result<std::string> Sha256File(const std::string& path) {
  constexpr std::size_t kPiece = std::size_t{128} << 10;
  ASSIGN_OR_RETURN(const Fd fd, OpenFile(path, O_RDONLY));
  std::vector<char> piece(kPiece);
  Sha256 hash;
  std::uint64_t offset = 0;
  for (;;) {
    auto got = Pread(fd.get(), piece, offset);
    if (!got) return std::unexpected(std::move(got).error().While("hashing " + path));
    hash.Update({piece.data(), *got});
    if (*got < piece.size()) return hash.FinishHex();
    offset += *got;
  }
}

}  // namespace stet
