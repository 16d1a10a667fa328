#include "protocol/wire.h"

#include <array>

namespace stet::protocol {
namespace {

/// Read by its type; Raw when it is none that we know.
template <class OneOf>
OneOf Read(std::string_view message) {
  if (Result<OneOf> read = Decode<OneOf>(message)) return *std::move(read);
  return Raw{""};
}

constexpr std::array kCodes = {Code::kInvalid, Code::kNotFound, Code::kConflict, Code::kBusy,
                               Code::kDenied,  Code::kAuth,     Code::kTooNew,   Code::kUnsupported,
                               Code::kCorrupt, Code::kFull,     Code::kIo,       Code::kUnavailable,
                               Code::kTimeout, Code::kCancelled};

}  // namespace

FromClient ReadFromClient(std::string_view message) { return Read<FromClient>(message); }

FromHost ReadFromHost(std::string_view message) { return Read<FromHost>(message); }

WireError ToWire(const Error& error) {
  WireError wire;
  wire.code = CodeName(error.code);
  wire.message = error.Text();
  return wire;
}

Error FromWire(const WireError& error) {
  for (const Code code : kCodes) {
    if (CodeName(code) == error.code) return {code, error.message};
  }
  return {Code::kUnsupported, error.message};
}

std::string ForSession(std::string_view session_id, std::string_view object) {
  std::string out = "{\"sessionId\":";
  AppendJsonString(out, session_id);
  const bool empty = object.size() <= 2;
  if (!empty) out += ',';
  out += empty ? "}" : object.substr(1);
  return out;
}

}  // namespace stet::protocol
