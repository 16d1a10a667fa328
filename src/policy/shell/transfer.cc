// Programs that move bytes about: tar, curl, wget, rsync, dd; and databases.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "policy/shell/judge.h"
#include "policy/shell/option.h"
#include "policy/shell/word.h"

namespace stet::policy {
namespace {

void JudgeTar(ShellCommand& command) {
  std::vector<ShellWord> words(command.words.begin() + 1, command.words.end());
  // `tar xzf a` is an old way to write -xzf.
  if (!words.empty() && words[0].known() && !words[0].text.starts_with('-'))
    words[0] = Known("-" + words[0].text);
  const ParsedWords parsed = ParseOptions(
      words,
      "--to-command:x --checkpoint-action:x --use-compress-program:x -I:x --rsh-command:x "
      "--rmt-command:x --info-script:x --new-volume-script:x -F:x --remove-files:d --delete:d "
      "--overwrite:l --unlink-first:l -U:l --recursive-unlink:d -C:c --directory:c -f:v --file:v "
      "--exclude:v -X:r --exclude-from:r -T:r --files-from:r --strip-components:v --transform:v "
      "--xform:v --owner:v --group:v --mode:v -x --extract --get -c --create -t --list -r -u -A -d "
      "--checkpoint:f -z -j -J -v -p -h -k -O --zstd --wildcards --absolute-names:u -P:u -b:v -g:u "
      "--listed-incremental:u -V:v --to-stdout");
  bool lists = false;
  bool makes = false;
  ShellWord archive = Known("-");
  for (const Option& option : parsed.options) {
    lists = lists || HasWord("t --list", option.name);
    makes = makes || HasWord("c --create r u A", option.name);
    if (HasWord("f --file", option.name)) archive = option.value;
    if (option.meaning == Meaning::kRuns) {
      command.odd = true;
      Raise(command, ShellEffect::kUnknown, "tar runs a program");
    }
    if (option.meaning == Meaning::kDestroys || option.meaning == Meaning::kReplaces) {
      command.loses.push_back({"", ShellPath::Reach::kAnywhere});
      Raise(command, ShellEffect::kDestroys, "tar deletes files");
    }
    if (option.meaning == Meaning::kFolder)
      AddPaths(command.writes, option.value, command, ShellPath::Reach::kTree);
    if (option.meaning == Meaning::kUnclear || option.meaning == Meaning::kUnlisted)
      Raise(command, ShellEffect::kUnknown, "an option of tar is not known");
  }
  if (parsed.maybe_option) Raise(command, ShellEffect::kUnknown, "a word of it may be an option");
  const bool file = !(archive.known() && archive.text == "-");
  if (file && archive.text.contains(':'))
    Raise(command, ShellEffect::kNetwork, "its archive is elsewhere");
  if (file && makes) {
    AddPaths(command.loses, archive, command);
    Raise(command, ShellEffect::kDestroys, "tar overwrites its archive");
  } else if (file) {
    AddPaths(command.reads, archive, command);
  }
  if (makes) {
    for (const ShellWord& word : parsed.operands)
      AddPaths(command.reads, word, command, ShellPath::Reach::kTree);
  } else if (!lists) {
    if (command.writes.empty())
      AddPaths(command.writes, Known("."), command, ShellPath::Reach::kTree);
    Raise(command, ShellEffect::kWrites, "tar unpacks files");
  }
}

/// Servers of this machine: what is sent there stays.
bool IsLoopback(const ShellWord& word) {
  std::string_view url = std::string_view(word.text).substr(0, word.fixed);
  const bool schemed = url.contains("://");
  if (schemed && !url.starts_with("http://") && !url.starts_with("https://") &&
      !url.starts_with("ws"))
    return false;
  if (schemed) url.remove_prefix(url.find("://") + 3);
  for (const std::string_view host : {"localhost", "127.0.0.1", "0.0.0.0", "[::1]"}) {
    if (!url.starts_with(host)) continue;
    url.remove_prefix(host.size());
    const std::size_t end = url.find_first_of("/?#");
    // A name or a password may stand before the real host.
    if (url.substr(0, end).contains('@') || url.contains('{')) return false;
    const bool complete = word.known() || end != std::string_view::npos;
    return url.empty()
               ? word.known()
               : url[0] == '/' || url[0] == '?' || (url[0] == ':' && (complete || url == ":"));
  }
  return false;
}

void JudgeCurl(ShellCommand& command) {
  const ParsedWords parsed = ParseOptions(
      std::span(command.words).subspan(1),
      "-o:w --output:w -O:i --remote-name:i --remote-name-all:i -J:i --output-dir:c -D:w "
      "--dump-header:w -c:w --cookie-jar:w --trace:w --trace-ascii:w --stderr:w --etag-save:w "
      "--hsts:w --alt-svc:w --libcurl:w -K:u --config:u -q -d:N --data:N --data-raw:N "
      "--data-binary:N --data-urlencode:N --data-ascii:N --json:N -F:N --form:N --form-string:N "
      "-T:N --upload-file:N -Q:N --quote:N --mail-from:N -X:v --request:v -H:v --header:v -A:v "
      "--user-agent:v -e:v --referer:v -b:v --cookie:v -u:v --user:v -x:u --proxy:u --url:v -m:v "
      "--max-time:v --connect-timeout:v --retry:v --retry-delay:v -w:v --write-out:v -r:v "
      "--range:v "
      "--cacert:r -E:r --cert:r --key:r --resolve:u --connect-to:u --unix-socket:u -s --silent -S "
      "--show-error -f --fail -L --location -i --include -I --head -v --verbose -k --insecure "
      "--compressed -G --get -N --no-buffer -g --globoff -4 -6 --http1.1 --http2 --fail-with-body "
      "-Z --parallel -z:v -C:v --limit-rate:v -y:v -Y:v --tlsv1.2 --no-progress-meter -# "
      "--progress-bar -V --version --help -n:u --netrc:u --netrc-file:u --engine:x --doh-url:u");
  bool sends = false;
  bool loopback = !parsed.operands.empty();
  std::vector<ShellWord> urls = parsed.operands;
  for (const Option& option : parsed.options) {
    if (option.name == "--url") urls.push_back(option.value);
    if (option.meaning == Meaning::kOverwrites && option.value.text != "-" &&
        !option.value.text.starts_with("/dev/")) {
      AddPaths(command.loses, option.value, command);
      Raise(command, ShellEffect::kDestroys, "curl overwrites a file");
    }
    if (option.meaning == Meaning::kInPlace) {
      AddPaths(command.writes, Known("."), command);
      Raise(command, ShellEffect::kWrites, "curl writes a file");
    }
    if (option.meaning == Meaning::kFolder) AddPaths(command.writes, option.value, command);
    const bool method =
        HasWord("X --request", option.name) && !HasWord("GET HEAD OPTIONS", option.value.text);
    // A value from somewhere else is as good as data.
    sends = sends || option.meaning == Meaning::kSendsValue || method || !option.value.known();
    if (option.meaning == Meaning::kUnclear || option.meaning == Meaning::kUnlisted ||
        option.meaning == Meaning::kRuns)
      Raise(command, ShellEffect::kUnknown, fmt::format("curl with {} is not known", option.name));
  }
  for (const ShellWord& url : urls) {
    loopback = loopback && IsLoopback(url);
    sends = sends || !url.known();
    if (url.text.starts_with("file:")) Raise(command, ShellEffect::kUnknown, "curl reads a file");
  }
  const bool away = (sends || parsed.maybe_option) && !loopback;
  Raise(command, away ? ShellEffect::kNetwork : ShellEffect::kFetches,
        away ? "curl may send something" : "curl fetches something");
}

void JudgeWget(ShellCommand& command) {
  const ParsedWords parsed = ParseOptions(
      std::span(command.words).subspan(1),
      "-O:w --output-document:w -o:w --output-file:w -P:c --directory-prefix:c --post-data:N "
      "--post-file:N --body-data:N --body-file:N --method:N --use-askpass:x -e:u --execute:u "
      "--config:u -q --quiet -c --continue -N -nc -nv -S --spider -r -np --no-check-certificate "
      "--header:v -U:v --user-agent:v -t:v -T:v --timeout:v --tries:v -i:r");
  bool to_stdout = false;
  for (const Option& option : parsed.options) {
    if (option.meaning == Meaning::kOverwrites) {
      to_stdout = to_stdout || option.value.text == "-";
      if (option.value.text == "-" || option.value.text == "/dev/null") continue;
      AddPaths(command.loses, option.value, command);
      Raise(command, ShellEffect::kDestroys, "wget overwrites a file");
    }
    if (option.meaning == Meaning::kSendsValue)
      Raise(command, ShellEffect::kNetwork, "wget sends data");
    if (option.meaning == Meaning::kRuns || option.meaning == Meaning::kUnclear)
      Raise(command, ShellEffect::kUnknown, "an option of wget is not known");
  }
  const bool known = std::ranges::all_of(command.words, &ShellWord::known);
  if (!to_stdout && command.loses.empty()) AddPaths(command.writes, Known("."), command);
  Raise(command, known ? ShellEffect::kFetches : ShellEffect::kNetwork, "wget fetches something");
}

void JudgeRsync(ShellCommand& command) {
  const ParsedWords parsed = ParseOptions(
      std::span(command.words).subspan(1),
      "-e:x --rsh:x --rsync-path:x --delete:d --delete-before:d --delete-after:d "
      "--delete-excluded:d --remove-source-files:d --exclude:v --include:v --files-from:r");
  for (std::size_t i = 0; i < parsed.operands.size(); ++i) {
    const ShellWord& word = parsed.operands[i];
    if (word.text.contains(':') || !word.known())
      Raise(command, ShellEffect::kNetwork, "rsync copies to elsewhere");
    const bool last = i + 1 == parsed.operands.size();
    AddPaths(last ? command.loses : command.reads, word, command, ShellPath::Reach::kTree);
  }
  Raise(command, ShellEffect::kDestroys, "rsync overwrites files");
  for (const Option& option : parsed.options) {
    if (option.meaning == Meaning::kRuns) command.odd = true;
    if (option.meaning == Meaning::kDestroys)
      command.loses.push_back({"", ShellPath::Reach::kAnywhere});
  }
}

void JudgeDd(ShellCommand& command) {
  for (std::size_t i = 1; i < command.words.size(); ++i) {
    const ShellWord& word = command.words[i];
    if (word.text.starts_with("if=") && word.known()) {
      AddPaths(command.reads, Known(word.text.substr(3)), command);
    } else if (word.text.starts_with("of=") || !word.known()) {
      const std::string target = word.known() ? word.text.substr(3) : "";
      if (target == "/dev/null") continue;
      if (word.known())
        AddPaths(command.loses, Known(target), command);
      else
        command.loses.push_back({"", ShellPath::Reach::kAnywhere});
      Raise(command, ShellEffect::kDestroys, "dd overwrites its target");
    }
  }
}

}  // namespace

bool JudgeTransfer(ShellCommand& command) {
  struct Row {
    std::string_view name;
    void (*judge)(ShellCommand&);
  };
  constexpr std::array kPrograms = {
      Row{"tar", JudgeTar},   Row{"gtar", JudgeTar},  Row{"bsdtar", JudgeTar},
      Row{"curl", JudgeCurl}, Row{"wget", JudgeWget}, Row{"rsync", JudgeRsync},
      Row{"dd", JudgeDd},
  };
  const std::string program = ProgramName(command);
  const auto* found = std::ranges::find(kPrograms, program, &Row::name);
  if (found == kPrograms.end()) return false;
  found->judge(command);
  return true;
}

bool JudgeDatabase(ShellCommand& command) {
  const std::string program = ProgramName(command);
  if (!HasWord("sqlite3 psql mysql mariadb mongosh redis-cli duckdb", program)) return false;
  Raise(command, ShellEffect::kUnknown, fmt::format("what {} does is not known", program));
  command.foreign = true;  // Most of them have a way to start a shell.
  std::string text;
  for (const ShellWord& word : command.words) text += word.text + " ";
  for (const ShellRedirect& redirect : command.redirects) text += redirect.target.text + " ";
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  for (const std::string_view verb :
       {"drop", "delete", "truncate", "update ", "flush", "remove", ".restore"}) {
    if (!text.contains(verb)) continue;
    command.loses.push_back({"", ShellPath::Reach::kAnywhere});
    Raise(command, ShellEffect::kDestroys, fmt::format("{} deletes data", program));
  }
  return true;
}

}  // namespace stet::policy
