#include "rpc/certificate.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "base/fs.h"
#include "base/hash.h"

namespace stet::rpc {
namespace {

constexpr int kDays = 3650;

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Bio = std::unique_ptr<BIO, Freed<BIO_free>>;
using Name = std::unique_ptr<GENERAL_NAME, Freed<GENERAL_NAME_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Freed<GENERAL_NAMES_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>>;

std::unexpected<Error> FailMaking() {
  return Fail(Code::kUnsupported, "the TLS library cannot make a certificate");
}

std::string BytesOf(BIO* bio) {
  char* bytes = nullptr;
  const auto size = BIO_get_mem_data(bio, &bytes);
  return size > 0 ? std::string(bytes, static_cast<std::size_t>(size)) : "";
}

Result<std::string> Fingerprint(X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (!bio || i2d_X509_bio(bio.get(), certificate) != 1) return FailMaking();
  return Sha256Hex(BytesOf(bio.get()));
}

Result<Name> NameOf(const std::string& text) {
  const auto is_of_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-';
  };
  const bool address = text.contains(':') || std::ranges::none_of(text, [](char c) {
                         return c != '.' && (c < '0' || c > '9');
                       });
  if (text.empty() || (!address && !std::ranges::all_of(text, is_of_name)))
    return Fail(Code::kInvalid, text + " is neither a host name nor an address");
  Name name(
      a2i_GENERAL_NAME(nullptr, nullptr, nullptr, address ? GEN_IPADD : GEN_DNS, text.c_str(), 0));
  if (!name) return Fail(Code::kInvalid, text + " is neither a host name nor an address");
  return name;
}

Status AddNames(X509* certificate, const std::vector<std::string>& given) {
  std::vector<std::string> all = {"localhost", "127.0.0.1", "::1"};
  all.insert(all.end(), given.begin(), given.end());
  const Names names(GENERAL_NAMES_new());
  if (!names) return FailMaking();
  for (const std::string& text : all) {
    ASSIGN_OR_RETURN(Name name, NameOf(text));
    if (sk_GENERAL_NAME_push(names.get(), name.get()) <= 0) return FailMaking();
    (void)name.release();  // The list's now.
  }
  if (X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, X509V3_ADD_DEFAULT) != 1)
    return FailMaking();
  return {};
}

Status AddExtension(X509* certificate, int kind, const char* value) {
  const Extension extension(X509V3_EXT_conf_nid(nullptr, nullptr, kind, value));
  if (!extension || X509_add_ext(certificate, extension.get(), -1) != 1) return FailMaking();
  return {};
}

Status Fill(X509* certificate, EVP_PKEY* key, Millis now_ms) {
  unsigned char serial[8];
  if (RAND_bytes(serial, sizeof(serial)) != 1) return FailMaking();
  serial[0] = (serial[0] & 0x7f) | 0x40;  // Positive, and without a zero in front.
  auto now = static_cast<time_t>(now_ms / 1000);
  X509_NAME* subject = X509_get_subject_name(certificate);
  const auto* name = reinterpret_cast<const unsigned char*>("stet host");
  const bool filled =
      X509_set_version(certificate, X509_VERSION_3) == 1 &&
      ASN1_STRING_set(X509_get_serialNumber(certificate), serial, sizeof(serial)) == 1 &&
      // A day back: the clocks of two machines differ.
      X509_time_adj_ex(X509_getm_notBefore(certificate), -1, 0, &now) != nullptr &&
      X509_time_adj_ex(X509_getm_notAfter(certificate), kDays, 0, &now) != nullptr &&
      X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, name, -1, -1, 0) == 1 &&
      X509_set_issuer_name(certificate, subject) == 1 && X509_set_pubkey(certificate, key) == 1;
  if (!filled) return FailMaking();
  RETURN_IF_ERROR(AddExtension(certificate, NID_basic_constraints, "critical,CA:FALSE"));
  RETURN_IF_ERROR(AddExtension(certificate, NID_key_usage, "critical,digitalSignature"));
  return AddExtension(certificate, NID_ext_key_usage, "serverAuth");
}

/// A file that is there would keep its mode.
Status WritePrivate(const std::string& path, BIO* bio) {
  if (const Status removed = Remove(path); !removed && removed.error().code != Code::kNotFound)
    return removed;
  return ReplaceFile(path, BytesOf(bio), Durable::kYes, 0600);
}

}  // namespace

Result<std::string> GenerateCertificate(const TlsFiles& files,
                                        const std::vector<std::string>& names, Millis now_ms) {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate(X509_new());
  if (!key || !certificate) return FailMaking();
  RETURN_IF_ERROR(Fill(certificate.get(), key.get(), now_ms));
  RETURN_IF_ERROR(AddNames(certificate.get(), names));
  if (X509_sign(certificate.get(), key.get(), EVP_sha256()) == 0) return FailMaking();

  const Bio key_text(BIO_new(BIO_s_mem()));
  const Bio text(BIO_new(BIO_s_mem()));
  if (!key_text || !text || PEM_write_bio_X509(text.get(), certificate.get()) != 1 ||
      PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) !=
          1)
    return FailMaking();
  RETURN_IF_ERROR(WritePrivate(files.key, key_text.get()));
  RETURN_IF_ERROR(WritePrivate(files.certificate, text.get()));
  return Fingerprint(certificate.get());
}

Result<std::string> CertificateFingerprint(const std::string& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, std::size_t{1} << 20));
  const Bio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  const Certificate certificate(bio ? PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)
                                    : nullptr);
  if (!certificate) return Fail(Code::kInvalid, file + " holds no certificate in PEM form");
  return Fingerprint(certificate.get());
}

}  // namespace stet::rpc
