#include "device/keyring.h"

#include <cstdlib>

#include <dlfcn.h>
#include <fmt/format.h>

namespace stet::device {
namespace {

// What libsecret's header says; its development package would bring all of GLib's.
struct Attribute {
  const char* name;
  int type;  // 0: a text.
};
struct Schema {
  const char* name;
  int flags;
  Attribute attributes[32];
  int reserved;
  void* more[7];
};
struct GError {
  unsigned domain;
  int code;
  char* message;
};

using Store = int (*)(const Schema*, const char* collection, const char* label, const char* text,
                      void* cancel, GError** error, ...);
using Lookup = char* (*)(const Schema*, void* cancel, GError** error, ...);
using Free = void (*)(char* text);
using FreeError = void (*)(GError* error);

constexpr Schema kSchema = {
    .name = "stet.vault", .flags = 0, .attributes = {{"name", 0}}, .reserved = 0, .more = {}};

struct Library {
  Store store = nullptr;
  Lookup lookup = nullptr;
  Free free = nullptr;
  FreeError free_error = nullptr;
};

const Library* Load() {
  static const Library library = [] {
    Library loaded;
    void* secret = ::dlopen("libsecret-1.so.0", RTLD_NOW | RTLD_LOCAL);
    void* glib = ::dlopen("libglib-2.0.so.0", RTLD_NOW | RTLD_LOCAL);
    if (secret == nullptr || glib == nullptr) return loaded;
    loaded.lookup = reinterpret_cast<Lookup>(::dlsym(secret, "secret_password_lookup_sync"));
    loaded.free = reinterpret_cast<Free>(::dlsym(secret, "secret_password_free"));
    loaded.free_error = reinterpret_cast<FreeError>(::dlsym(glib, "g_error_free"));
    loaded.store = reinterpret_cast<Store>(::dlsym(secret, "secret_password_store_sync"));
    if (loaded.lookup == nullptr || loaded.free == nullptr || loaded.free_error == nullptr)
      loaded.store = nullptr;
    return loaded;
  }();
  return library.store == nullptr ? nullptr : &library;
}

Error Unavailable(const Library& library, GError* error) {
  Error out(Code::kUnavailable, fmt::format("the keyring does not answer: {}", error->message));
  library.free_error(error);
  return out;
}

}  // namespace

bool HasKeyring() {
  const char* bus = std::getenv("DBUS_SESSION_BUS_ADDRESS");
  return bus != nullptr && *bus != '\0' && Load() != nullptr;
}

Result<std::optional<std::string>> ReadKeyring(const std::string& name) {
  const Library* library = Load();
  if (library == nullptr)
    return Fail(Code::kUnavailable, "the keyring cannot be used: libsecret is not installed");
  GError* error = nullptr;
  char* found =
      library->lookup(&kSchema, nullptr, &error, "name", name.c_str(), static_cast<char*>(nullptr));
  if (error != nullptr) return std::unexpected(Unavailable(*library, error));
  if (found == nullptr) return std::nullopt;
  std::string text = found;
  library->free(found);
  return text;
}

Status WriteKeyring(const std::string& name, const std::string& text) {
  const Library* library = Load();
  if (library == nullptr)
    return Fail(Code::kUnavailable, "the keyring cannot be used: libsecret is not installed");
  GError* error = nullptr;
  library->store(&kSchema, nullptr, "stet: the key of the vault", text.c_str(), nullptr, &error,
                 "name", name.c_str(), static_cast<char*>(nullptr));
  if (error != nullptr) return std::unexpected(Unavailable(*library, error));
  return {};
}

}  // namespace stet::device
