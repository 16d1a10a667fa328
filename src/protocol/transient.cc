#include "protocol/transient.h"

namespace stet::protocol {

std::string EncodeTransient(const Transient& transient) { return Encode(transient); }

Result<Transient> DecodeTransient(std::string_view text) { return Decode<Transient>(text); }

}  // namespace stet::protocol
