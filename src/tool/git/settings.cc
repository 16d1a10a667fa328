#include "tool/git/settings.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace stet::tool {
namespace {

constexpr std::size_t kMaxSettings = 20'000;

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsNamePart(char c) { return IsLetter(c) || (c >= '0' && c <= '9') || c == '-'; }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

/// Reads as git's config.c does.
class SettingsReader {
 public:
  explicit SettingsReader(std::string_view text) : text_(text) {
    constexpr std::string_view kMark = "\xEF\xBB\xBF";
    if (text_.starts_with(kMark)) text_.remove_prefix(kMark.size());
  }

  Result<std::vector<GitSetting>> Read() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      bool good = true;
      if (c == '#' || c == ';')
        SkipLine();
      else if (c == '[')
        good = TakeSection();
      else if (IsLetter(c))
        good = TakeSetting() && settings_.size() <= kMaxSettings;
      else if (c == '\n' || IsBlank(c))
        ++at_;
      else
        good = false;
      if (!good) return Fail(Code::kInvalid, "it is no git configuration");
    }
    return std::move(settings_);
  }

 private:
  /// NUL at the end, and "\r\n" as one line end.
  [[nodiscard]] char Peek() const {
    if (at_ >= text_.size()) return '\0';
    if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') return '\n';
    return text_[at_];
  }
  void Skip() {
    at_ += at_ + 1 < text_.size() && text_[at_] == '\r' && text_[at_ + 1] == '\n' ? 2 : 1;
  }
  [[nodiscard]] bool AtLineEnd() const { return at_ >= text_.size() || Peek() == '\n'; }
  void SkipLine() { at_ = std::min(text_.find('\n', at_), text_.size()); }
  void SkipBlanks() {
    while (!AtLineEnd() && IsBlank(Peek())) Skip();
  }

  /// `[name]`, `[name.below]` or `[name "below"]`.
  bool TakeSection() {
    section_.clear();
    for (Skip(); IsNamePart(Peek()) || Peek() == '.'; Skip()) section_ += LowerChar(Peek());
    if (section_.empty()) return false;
    if (IsBlank(Peek())) {
      SkipBlanks();
      if (Peek() != '"') return false;
      section_ += '.';
      Skip();
      while (Peek() != '"') {
        if (AtLineEnd()) return false;
        if (Peek() == '\\') {
          Skip();
          if (AtLineEnd()) return false;
        }
        section_ += Peek();
        Skip();
      }
      Skip();
    }
    if (Peek() != ']') return false;
    Skip();
    return true;
  }

  bool TakeSetting() {
    if (section_.empty()) return false;
    GitSetting setting{.name = section_ + ".", .value = "true"};
    for (; IsNamePart(Peek()); Skip()) setting.name += LowerChar(Peek());
    SkipBlanks();
    if (!AtLineEnd() && Peek() != '#' && Peek() != ';') {
      if (Peek() != '=') return false;
      Skip();
      setting.value.clear();
      if (!TakeValue(setting.value)) return false;
    }
    settings_.push_back(std::move(setting));
    return true;
  }

  bool TakeValue(std::string& value) {
    bool quoted = false;
    std::size_t kept = 0;  // Blanks behind this are dropped at the end.
    SkipBlanks();
    for (; at_ < text_.size(); Skip()) {
      const char c = Peek();
      if (c == '\n') return !quoted && (value.resize(kept), true);
      if (!quoted && (c == '#' || c == ';')) {
        SkipLine();
        value.resize(kept);
        return true;
      }
      if (c == '"') {
        quoted = !quoted;
        kept = value.size();
        continue;
      }
      if (c == '\\') {
        Skip();
        if (Peek() == '\n') continue;
        constexpr std::string_view kEscapes = "ntb\"\\";
        constexpr std::string_view kMeant = "\n\t\b\"\\";
        const std::size_t which = kEscapes.find(Peek());
        if (at_ >= text_.size() || which == std::string_view::npos) return false;
        value += kMeant[which];
        kept = value.size();
        continue;
      }
      value += c;
      if (quoted || !IsBlank(c)) kept = value.size();
    }
    value.resize(kept);
    return !quoted;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string section_;
  std::vector<GitSetting> settings_;
};

struct Row {
  std::string_view section;
  bool below;             // Of its subsections, as in remote.origin.url; else of itself.
  std::string_view keys;  // Between blanks; "*" stands for all.
};

constexpr std::array kHarmless = {
    Row{"core", false,
        "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode "
        "symlinks autocrlf eol safecrlf quotepath hidedotfiles longpaths protecthfs protectntfs "
        "compression loosecompression bigfilethreshold packedgitlimit packedgitwindowsize "
        "deltabasecachelimit abbrev whitespace commentchar commentstring sharedrepository "
        "untrackedcache checkstat trustctime preloadindex fscache splitindex sparsecheckout "
        "sparsecheckoutcone multipackindex commitgraph usereplacerefs createobject "
        "warnambiguousrefs prefersymlinkrefs fsync fsyncmethod fsyncobjectfiles ignorestat "
        "checkroundtripencoding notesref excludesfile attributesfile maxtreedepth"},
    Row{"remote", true,
        "url pushurl fetch push mirror prune prunetags skipdefaultupdate skipfetchall tagopt "
        "promisor partialclonefilter gh-resolved followremotehead"},
    Row{"remote", false, "pushdefault"},
    Row{"branch", true, "*"},
    Row{"branch", false, "*"},
    Row{"submodule", true, "url active branch ignore path fetchrecursesubmodules shallow update"},
    Row{"submodule", false, "*"},
    Row{"diff", false,
        "algorithm colormoved colormovedws context dirstat ignoresubmodules indentheuristic "
        "interhunkcontext mnemonicprefix noprefix orderfile renamelimit renames relative "
        "statgraphwidth "
        "submodule suppressblankempty tool guitool wserrorhighlight wordregex autorefreshindex"},
    Row{"diff", true, "binary xfuncname funcname wordregex algorithm cachetextconv"},
    Row{"merge", true, "name recursive"},
    Row{"http", true, "*"},
    Row{"color", true, "*"},
    Row{"gc", false,
        "auto autodetach autopacklimit packrefs pruneexpire reflogexpire "
        "reflogexpireunreachable worktreepruneexpire writecommitgraph cruftpacks"},
    Row{"alias", false, "*"},
    Row{"url", true, "insteadof pushinsteadof"},
    Row{"credential", false, "usehttppath username"},
    Row{"credential", true, "usehttppath username"},
    Row{"gpg", false, "format mintrustlevel"},
    Row{"init", false, "defaultbranch"},
    Row{"interactive", false, "singlekey"},
    Row{"protocol", false, "version"},
    Row{"lfs", false, "repositoryformatversion"},
    Row{"lfs", true, "access locksverify"},
    Row{"uploadpack", false,
        "allowfilter allowanysha1inwant allowreachablesha1inwant allowtipsha1inwant hiderefs"},
    Row{"sendemail", false,
        "to cc from suppresscc confirm thread annotate chainreplyto validate transferencoding"},
};

/// Of these no setting runs anything.
constexpr std::array<std::string_view, 45> kHarmlessSections = {
    "add",        "advice",      "am",     "apply",  "author",   "blame",     "checkout",
    "clean",      "clone",       "color",  "column", "commit",   "committer", "extensions",
    "feature",    "fetch",       "format", "gui",    "http",     "i18n",      "index",
    "log",        "maintenance", "merge",  "notes",  "pack",     "pull",      "push",
    "rebase",     "receive",     "rerere", "reset",  "revert",   "safe",      "show",
    "showbranch", "stash",       "status", "tag",    "transfer", "user",      "versionsort",
    "worktree",   "gitflow",     "grep"};

bool HasWord(std::string_view list, std::string_view word) {
  for (std::size_t at = list.find(word); at != std::string_view::npos;
       at = list.find(word, at + 1)) {
    const bool starts = at == 0 || list[at - 1] == ' ';
    const std::size_t end = at + word.size();
    if (starts && (end == list.size() || list[end] == ' ')) return true;
  }
  return false;
}

bool IsSwitch(std::string_view value) {
  const std::string lower = Lower(value);
  return HasWord("true false yes no on off 1 0", lower) || lower.empty();
}

/// `ext::sh -c ...`: an address that is handed to a program.
bool IsHelped(std::string_view address) {
  std::size_t at = 0;
  while (at < address.size() && IsNamePart(address[at])) ++at;
  return address.substr(at).starts_with("::");
}

}  // namespace

Result<std::vector<GitSetting>> ParseGitSettings(std::string_view text) {
  return SettingsReader(text).Read();
}

bool IsHarmless(const GitSetting& setting) {
  const std::string_view name = setting.name;
  const std::string_view section = name.substr(0, name.find('.'));
  const std::size_t last = name.rfind('.');
  const bool below = last > section.size();
  const std::string_view key = name.substr(last + 1);
  if (setting.value.starts_with('!') || IsHelped(setting.value)) return false;
  if (section == "url" && below && IsHelped(name.substr(section.size() + 1))) return false;
  // A pager or a monitor is a program unless it is only switched.
  if (name == "core.fsmonitor" || (section == "pager" && !below)) return IsSwitch(setting.value);
  if (!below && std::ranges::find(kHarmlessSections, section) != kHarmlessSections.end())
    return true;
  return std::ranges::any_of(kHarmless, [&](const Row& row) {
    return row.section == section && row.below == below &&
           (row.keys == "*" || HasWord(row.keys, key));
  });
}

}  // namespace stet::tool
