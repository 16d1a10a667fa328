#include "config/hook_settings.h"

#include <algorithm>

#include <fmt/format.h>

#include "json/view.h"

namespace stet::config {
namespace {

constexpr std::size_t kMaxHooks = 256;
constexpr std::int64_t kMaxTimeout = 3600;

using Text = std::optional<std::string>;
using Int = std::optional<std::int64_t>;

struct One {
  STET_FIELDS(One, (Text, type), (Text, command), (Text, url), (Text, prompt), (Int, timeout))
};
using Ones = std::vector<One>;

struct Entry {
  STET_FIELDS(Entry,
              (Text, matcher),
              (Text, type),
              (Text, command),
              (Text, url),
              (Text, prompt),
              (Int, timeout),
              (Ones, hooks))
};

std::unexpected<Error> Wrong(const std::string& key, std::string_view what) {
  return std::unexpected(Error(Code::kInvalid, fmt::format("{} {}", key, what)).While(key));
}

Result<HookSettings> HookOf(const One& one, const std::string& key) {
  HookSettings hook;
  const std::string type = one.type.value_or("command");
  const Text* what = nullptr;
  std::string_view name;
  if (type == "command") {
    what = &one.command;
    name = "command";
  } else if (type == "http") {
    hook.kind = HookSettings::Kind::kHttp;
    what = &one.url;
    name = "url";
  } else if (type == "prompt") {
    hook.kind = HookSettings::Kind::kPrompt;
    what = &one.prompt;
    name = "prompt";
  } else {
    return Wrong(key, "has a type that is not command, http or prompt");
  }
  if (!*what || (*what)->empty())
    return Wrong(key, fmt::format("of type {} needs a {}", type, name));
  const int given = (one.command ? 1 : 0) + (one.url ? 1 : 0) + (one.prompt ? 1 : 0);
  if (given != 1) return Wrong(key, "must have one of command, url and prompt");
  hook.what = **what;
  hook.timeout = one.timeout.value_or(0);
  if (one.timeout && (hook.timeout < 1 || hook.timeout > kMaxTimeout))
    return Wrong(key, fmt::format("must have a timeout from 1 to {} seconds", kMaxTimeout));
  return hook;
}

Status AddEntry(const Entry& entry, const std::string& event, HookList& hooks) {
  const std::string key = "hooks." + event;
  Ones ones = entry.hooks;
  if (ones.empty()) {
    One& one = ones.emplace_back();
    one.type = entry.type;
    one.command = entry.command;
    one.url = entry.url;
    one.prompt = entry.prompt;
    one.timeout = entry.timeout;
  } else if (entry.type || entry.command || entry.url || entry.prompt || entry.timeout) {
    return Wrong(key, "has both a list of hooks and one of its own");
  }
  bool strange = !entry.extra.empty();
  for (const One& one : ones) {
    strange = strange || !one.extra.empty();
    ASSIGN_OR_RETURN(HookSettings hook, HookOf(one, key));
    hook.event = event;
    hook.matcher = entry.matcher.value_or("");
    if (hooks.size() == kMaxHooks)
      return Wrong(key, fmt::format("goes beyond {} hooks", kMaxHooks));
    hooks.push_back(std::move(hook));
  }
  if (strange) return Wrong(key, "has a key that is not one of a hook's");
  return {};
}

}  // namespace

std::string_view HookKindName(HookSettings::Kind kind) {
  switch (kind) {
    case HookSettings::Kind::kCommand: return "command";
    case HookSettings::Kind::kHttp: return "http";
    case HookSettings::Kind::kPrompt: return "prompt";
  }
  return "";
}

Result<HookList> ReadHooks(std::string_view json) {
  HookList hooks;
  const JsonView table(json);
  if (!table.is_object()) return Wrong("hooks", "must be a table");
  Status status;
  table.ForEachMember([&](std::string_view name, const JsonView& value) {
    if (!status) return;
    const std::string key = fmt::format("hooks.{}", name);
    if (std::ranges::find(kHookEvents, name) == kHookEvents.end()) {
      status = Wrong(key, "is no event that hooks are told of");
      return;
    }
    const Result<std::vector<Entry>> entries = Decode<std::vector<Entry>>(value.text());
    if (!entries) {
      status = Wrong(key, "must be a list of tables with texts and a whole number of seconds");
      return;
    }
    for (const Entry& entry : *entries) {
      if (status) status = AddEntry(entry, std::string(name), hooks);
    }
  });
  RETURN_IF_ERROR(status);
  return hooks;
}

}  // namespace stet::config
