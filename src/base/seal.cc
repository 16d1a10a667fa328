#include "base/seal.h"

#include <array>
#include <cstdlib>

#include <sodium.h>

namespace stet {
namespace {

static_assert(kSealKeyBytes == crypto_secretbox_KEYBYTES);

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string NewSealKey() {
  std::string key(kSealKeyBytes, '\0');
  if (sodium_init() < 0) std::abort();  // Without randomness there are no secrets.
  randombytes_buf(key.data(), key.size());
  return key;
}

std::string Seal(std::string_view text, std::string_view key) {
  std::string out(crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES + text.size(), '\0');
  auto* nonce = reinterpret_cast<unsigned char*>(out.data());
  randombytes_buf(nonce, crypto_secretbox_NONCEBYTES);
  crypto_secretbox_easy(nonce + crypto_secretbox_NONCEBYTES, Bytes(text), text.size(), nonce,
                        Bytes(key));
  return out;
}

Result<std::string> Unseal(std::string_view sealed, std::string_view key) {
  constexpr std::size_t kLeast = crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES;
  if (sealed.size() < kLeast || key.size() != kSealKeyBytes)
    return Fail(Code::kCorrupt, "this is nothing that was sealed with this key");
  std::string out(sealed.size() - kLeast, '\0');
  const std::string_view body = sealed.substr(crypto_secretbox_NONCEBYTES);
  if (crypto_secretbox_open_easy(reinterpret_cast<unsigned char*>(out.data()), Bytes(body),
                                 body.size(), Bytes(sealed), Bytes(key)) != 0)
    return Fail(Code::kCorrupt, "it was changed, or sealed with another key");
  return out;
}

std::string MacHex(std::string_view text, std::string_view key) {
  std::array<unsigned char, crypto_generichash_BYTES> mac;
  crypto_generichash(mac.data(), mac.size(), Bytes(text), text.size(), Bytes(key), key.size());
  std::array<char, mac.size() * 2 + 1> hex;
  sodium_bin2hex(hex.data(), hex.size(), mac.data(), mac.size());
  return hex.data();
}

bool SameBytes(std::string_view one, std::string_view other) {
  return one.size() == other.size() && sodium_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace stet
