// Guarded places: files whose change or sight would give a model more than its task: our own
// configuration and logs, git's hooks and configuration, what shells run at their start, keys, the
// folders of other agents. Pure: by path alone, whatever the case of its letters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/rule.h"

namespace stet::policy {

/// What kind of place it is, for people: "git runs it"; empty when it is an ordinary file.
std::string_view GuardedFromChange(std::string_view path, const Places& places);

/// Why its content is not to be seen unasked: "it holds keys"; empty when it is an ordinary file.
std::string_view GuardedFromSight(std::string_view path, const Places& places);

/// Below the user's home: what shells, editors and other programs run or obey.
std::vector<std::string> StartUpPlaces();
/// Below the user's home: keys, logins, what browsers keep and what was typed.
std::vector<std::string> KeyPlaces();
/// Names of files and folders that agents and editors obey, wherever they are.
std::vector<std::string> AgentNames();
/// These, and a repository of git's.
std::vector<std::string> GuardedNames();

/// Patterns of names of files that look as if they held secrets.
std::vector<std::string> SecretNames();

/// Whether the path goes through what the kernel makes up about processes: by it every file has
/// more names than rules can know.
bool IsMagic(std::string_view path);

/// Whether a file of that name looks as if it held secrets.
bool LooksSecret(std::string_view name);

}  // namespace stet::policy
