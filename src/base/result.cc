#include "base/result.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

namespace stet {

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kInvalid: return "invalid";
    case Code::kNotFound: return "not_found";
    case Code::kConflict: return "conflict";
    case Code::kBusy: return "busy";
    case Code::kDenied: return "denied";
    case Code::kAuth: return "auth";
    case Code::kTooNew: return "too_new";
    case Code::kUnsupported: return "unsupported";
    case Code::kCorrupt: return "corrupt";
    case Code::kFull: return "full";
    case Code::kIo: return "io";
    case Code::kUnavailable: return "unavailable";
    case Code::kTimeout: return "timeout";
    case Code::kCancelled: return "cancelled";
  }
  return "unknown";
}

Error Error::While(std::string_view what) && {
  context = context.empty() ? std::string(what) : fmt::format("{}: {}", what, context);
  return std::move(*this);
}

std::string Error::Text() const {
  return context.empty() ? message : fmt::format("{}: {}", context, message);
}

static Code CodeOfErrno(int error_number) {
  switch (error_number) {
    case ENOENT: return Code::kNotFound;
    case EEXIST:
    case ENOTEMPTY: return Code::kConflict;
    case EACCES:
    case EPERM:
    case EROFS: return Code::kDenied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return Code::kFull;
    case EBUSY:
    case EAGAIN:
    case ETXTBSY: return Code::kBusy;
    case ENOSYS:
    case EOPNOTSUPP: return Code::kUnsupported;
    case ETIMEDOUT: return Code::kTimeout;
    case ECANCELED: return Code::kCancelled;
    case EINVAL:
    case EISDIR:
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP: return Code::kInvalid;
    default: return Code::kIo;
  }
}

Error SystemError(int error_number, std::string_view what) {
  return Error(CodeOfErrno(error_number), fmt::format("{}: {}", what, std::strerror(error_number)));
}

void CheckFailed(const char* file, int line, const char* sentence) {
  std::fprintf(stderr, "stet: internal error at %s:%d: it must hold that %s\n", file, line,
               sentence);
  std::abort();
}

}  // namespace stet
