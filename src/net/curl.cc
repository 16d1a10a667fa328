#include "net/curl.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace stet::net {
namespace {

constexpr const char* kLibrary = "libcurl.so.4";

Result<Curl> Load() {
  // Never closed: it has threads and exit handlers of its own.
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Fail(Code::kUnsupported,
                fmt::format("cannot load {}: {}; install the package libcurl4", kLibrary,
                            ::dlerror()));  // NOLINT(concurrency-mt-unsafe)
  }
  Curl curl{};
  const char* missing = nullptr;
  const auto find = [&](auto& function, const char* name) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    if (function == nullptr) missing = name;
  };
  find(curl.easy_init, "curl_easy_init");
  find(curl.easy_cleanup, "curl_easy_cleanup");
  find(curl.easy_setopt, "curl_easy_setopt");
  find(curl.easy_getinfo, "curl_easy_getinfo");
  find(curl.easy_strerror, "curl_easy_strerror");
  find(curl.slist_append, "curl_slist_append");
  find(curl.slist_free_all, "curl_slist_free_all");
  find(curl.multi_init, "curl_multi_init");
  find(curl.multi_cleanup, "curl_multi_cleanup");
  find(curl.multi_setopt, "curl_multi_setopt");
  find(curl.multi_add_handle, "curl_multi_add_handle");
  find(curl.multi_remove_handle, "curl_multi_remove_handle");
  find(curl.multi_socket_action, "curl_multi_socket_action");
  find(curl.multi_info_read, "curl_multi_info_read");
  find(curl.global_init, "curl_global_init");
  if (missing != nullptr)
    return Fail(Code::kUnsupported, fmt::format("{} has no {}: it is too old", kLibrary, missing));
  if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    return Fail(Code::kUnsupported, fmt::format("{} does not start", kLibrary));
  return curl;
}

}  // namespace

Result<const Curl*> LoadCurl() {
  static const Result<Curl> curl = Load();
  if (!curl) return std::unexpected(curl.error());
  return &*curl;
}

}  // namespace stet::net
