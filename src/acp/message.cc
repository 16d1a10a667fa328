#include "acp/message.h"

#include "json/writer.h"

namespace stet::acp {
namespace {

constexpr std::int64_t kCancelled = -32800;
constexpr std::int64_t kAuthRequired = -32000;
constexpr std::int64_t kNotFound = -32002;

}  // namespace

std::int64_t RpcCode(Code code) {
  switch (code) {
    case Code::kInvalid: return rpc::kInvalidParams;
    case Code::kNotFound: return kNotFound;
    case Code::kAuth: return kAuthRequired;
    case Code::kCancelled: return kCancelled;
    default: return rpc::kInternal;
  }
}

void RefuseWith(rpc::JsonLines& line, const Raw& id, const Error& error) {
  std::string data;
  JsonWriter(data).BeginObject().Member("code", CodeName(error.code)).EndObject();
  line.Refuse(id, RpcCode(error.code), error.Text(), data);
}

}  // namespace stet::acp
