#include "device/vault.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/fs.h"
#include "base/lock.h"
#include "base/seal.h"
#include "device/keyring.h"
#include "json/writer.h"

namespace stet::device {
namespace {

constexpr std::size_t kMaxVault = std::size_t{4} << 20;
constexpr std::size_t kMaxName = 128;
constexpr std::string_view kHead = "stet vault 1\n";

bool IsName(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kMaxName && std::ranges::all_of(name, plain);
}

Result<std::string> Decoded(std::string_view text) {
  const std::optional<std::string> bytes = DecodeBase64(text);
  if (!bytes || bytes->size() != kSealKeyBytes)
    return Fail(Code::kCorrupt,
                "the key of the vault is damaged: without it what the vault keeps cannot be "
                "read. Remove the vault's files and set its values again");
  return std::string(bytes->data(), kSealKeyBytes);
}

Result<std::map<std::string, std::string>> Parse(const std::string& json) {
  std::map<std::string, std::string> values;
  JsonReader reader(json);
  std::string_view key;
  if (!reader.EnterObject()) return std::unexpected(reader.error());
  while (reader.NextMember(&key)) {
    const std::string name(key);
    if (!reader.String(&values[name])) return std::unexpected(reader.error());
  }
  return values;
}

}  // namespace

bool Vault::exists() const { return Exists(path_); }

Result<std::string> Vault::KeyPlace() const {
  if (Exists(key_path_)) return key_path_;
  if (HasKeyring()) return "the keyring";
  return key_path_;
}

/// A key file that is there is the key: a keyring that appears later changes nothing.
Result<std::string> Vault::Key(bool make) const {
  const Result<std::string> file = ReadFile(key_path_, kMaxName);
  if (file) return Decoded(*file);
  if (file.error().code != Code::kNotFound) return std::unexpected(file.error());
  // There may be a bus and no keyring on it, or a locked one that no person is here to unlock.
  bool answers = false;
  if (HasKeyring()) {
    const Result<std::optional<std::string>> kept = ReadKeyring(path_);
    if (kept && *kept) return Decoded(**kept);
    if (!kept && !make) return std::unexpected(kept.error());
    answers = kept.has_value();
  }
  if (!make)
    return Fail(
        Code::kNotFound,
        fmt::format("the key of the vault is gone: neither the keyring nor {} has it. Remove "
                    "{} and set the secrets again",
                    key_path_, path_));
  std::string key = NewSealKey();
  std::string text;
  AppendBase64(text, key);
  if (!answers || !WriteKeyring(path_, text))
    RETURN_IF_ERROR(ReplaceFile(key_path_, text, Durable::kYes));
  return key;
}

Result<std::map<std::string, std::string>> Vault::Read() const {
  const Result<std::string> file = ReadFile(path_, kMaxVault);
  if (!file && file.error().code == Code::kNotFound) return std::map<std::string, std::string>();
  if (!file) return std::unexpected(file.error());
  if (!file->starts_with(kHead))
    return Fail(Code::kCorrupt, fmt::format("{} is no vault, or a newer version's", path_));
  ASSIGN_OR_RETURN(const std::string key, Key(false));
  Result<std::string> json = Unseal(std::string_view(*file).substr(kHead.size()), key);
  if (!json) return Fail(Code::kCorrupt, fmt::format("{}: {}", path_, json.error().message));
  return Parse(*json);
}

Result<std::vector<std::string>> Vault::Names() const {
  ASSIGN_OR_RETURN(const auto values, Read());
  std::vector<std::string> names;
  for (const auto& [name, value] : values) names.push_back(name);
  return names;
}

Result<std::string> Vault::Get(const std::string& name) const {
  ASSIGN_OR_RETURN(const auto values, Read());
  const auto found = values.find(name);
  if (found == values.end())
    return Fail(Code::kNotFound,
                fmt::format("the vault has no {}: `stet vault set {}` puts it there", name, name));
  return found->second;
}

Status Vault::Write(const std::map<std::string, std::string>& values) const {
  std::string json;
  JsonWriter writer(json);
  writer.BeginObject();
  for (const auto& [name, value] : values) writer.Member(name, value);
  writer.EndObject();
  if (json.size() > kMaxVault / 2) return Fail(Code::kFull, "the vault is full");
  ASSIGN_OR_RETURN(const std::string key, Key(!exists()));
  return ReplaceFile(path_, std::string(kHead) + Seal(json, key), Durable::kYes);
}

Status Vault::Set(const std::string& name, const std::string& value) {
  if (!IsName(name))
    return Fail(Code::kInvalid, fmt::format("{} cannot name a secret: use letters, digits, ., _ "
                                            "and -",
                                            name));
  if (value.empty()) return Fail(Code::kInvalid, "an empty value is no secret");
  RETURN_IF_ERROR(MakeDirs(ParentDir(path_)));
  ASSIGN_OR_RETURN(const FileLock lock, FileLock::Acquire(path_ + ".lock"));
  ASSIGN_OR_RETURN(auto values, Read());
  values[name] = value;
  return Write(values);
}

Status Vault::Remove(const std::string& name) {
  ASSIGN_OR_RETURN(const FileLock lock, FileLock::Acquire(path_ + ".lock"));
  ASSIGN_OR_RETURN(auto values, Read());
  if (values.erase(name) == 0)
    return Fail(Code::kNotFound, fmt::format("the vault has no {}", name));
  return Write(values);
}

}  // namespace stet::device
