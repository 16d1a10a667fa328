// Curl: libcurl, loaded at its first use. Linked, it would bring thirty libraries and most of a
// short run's time; loaded, only runs that speak to a server pay. The one place that knows its
// header.
#pragma once

#define CURL_DISABLE_TYPECHECK  // Its macros would hide the functions below.
#include <curl/curl.h>

#include "base/result.h"

namespace stet::net {

/// The functions of libcurl that we call.
struct Curl {
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
  decltype(&::curl_multi_init) multi_init;
  decltype(&::curl_multi_cleanup) multi_cleanup;
  decltype(&::curl_multi_setopt) multi_setopt;
  decltype(&::curl_multi_add_handle) multi_add_handle;
  decltype(&::curl_multi_remove_handle) multi_remove_handle;
  decltype(&::curl_multi_socket_action) multi_socket_action;
  decltype(&::curl_multi_info_read) multi_info_read;
  decltype(&::curl_global_init) global_init;
};

/// Loads the library the first time, from whatever thread; it stays for the life of the process.
/// kUnsupported, with what to install, when it is not there.
Result<const Curl*> LoadCurl();

}  // namespace stet::net
