// Certificates for TLS without an authority: made here, and trusted by their fingerprint.
//
// Blocks on the disk and on key generation for some milliseconds; safe from any thread.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "rpc/server.h"

namespace stet::rpc {

/// Writes a new key (EC P-256) and its self-signed certificate into two files of mode 0600, in
/// place of what is there, and gives its fingerprint. It is for ten years, for loopback and for
/// `names`: host names and addresses. kInvalid when one of them is neither.
Result<std::string> GenerateCertificate(const TlsFiles& files,
                                        const std::vector<std::string>& names, Millis now_ms);

/// SHA-256 of the first certificate in a PEM file: 64 lower-case hex digits. kInvalid when there is
/// none.
Result<std::string> CertificateFingerprint(const std::string& file);

}  // namespace stet::rpc
