#include "policy/check_command.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace stet::policy {
namespace {

using Words = std::vector<std::string>;

constexpr CheckKind kTest = CheckKind::kTest;
constexpr CheckKind kBuild = CheckKind::kBuild;

struct Row {
  std::string_view program;
  std::string_view word;  // One of the words behind it that are no options; empty: any or none.
  CheckKind kind;
};

/// The first that fits counts.
constexpr std::array kRows = {
    Row{"./test", "", kTest},
    Row{"ant", "test", kTest},
    Row{"ant", "", kBuild},
    Row{"ava", "", kTest},
    Row{"bazel", "test", kTest},
    Row{"bazel", "build", kBuild},
    Row{"bazelisk", "test", kTest},
    Row{"bazelisk", "build", kBuild},
    Row{"buck2", "test", kTest},
    Row{"buck2", "build", kBuild},
    Row{"bun", "test", kTest},
    Row{"bun", "build", kBuild},
    Row{"cabal", "test", kTest},
    Row{"cabal", "build", kBuild},
    Row{"cargo", "test", kTest},
    Row{"cargo", "nextest", kTest},
    Row{"cargo", "build", kBuild},
    Row{"cargo", "check", kBuild},
    Row{"ctest", "", kTest},
    Row{"dart", "test", kTest},
    Row{"deno", "test", kTest},
    Row{"dotnet", "test", kTest},
    Row{"dotnet", "build", kBuild},
    Row{"flutter", "test", kTest},
    Row{"flutter", "build", kBuild},
    Row{"go", "test", kTest},
    Row{"go", "build", kBuild},
    Row{"go", "vet", kBuild},
    Row{"gradle", "test", kTest},
    Row{"gradle", "check", kTest},
    Row{"gradle", "build", kBuild},
    Row{"gradle", "assemble", kBuild},
    Row{"gradlew", "test", kTest},
    Row{"gradlew", "check", kTest},
    Row{"gradlew", "build", kBuild},
    Row{"gradlew", "assemble", kBuild},
    Row{"jest", "", kTest},
    Row{"just", "test", kTest},
    Row{"just", "build", kBuild},
    Row{"make", "test", kTest},
    Row{"make", "check", kTest},
    Row{"make", "", kBuild},
    Row{"meson", "test", kTest},
    Row{"meson", "compile", kBuild},
    Row{"mix", "test", kTest},
    Row{"mix", "compile", kBuild},
    Row{"mocha", "", kTest},
    Row{"mvn", "test", kTest},
    Row{"mvn", "verify", kTest},
    Row{"mvn", "compile", kBuild},
    Row{"mvn", "package", kBuild},
    Row{"mvnw", "test", kTest},
    Row{"mvnw", "verify", kTest},
    Row{"mvnw", "compile", kBuild},
    Row{"mvnw", "package", kBuild},
    Row{"ninja", "test", kTest},
    Row{"ninja", "check", kTest},
    Row{"ninja", "", kBuild},
    Row{"nox", "", kTest},
    Row{"npm", "test", kTest},
    Row{"npm", "build", kBuild},
    Row{"phpunit", "", kTest},
    Row{"playwright", "test", kTest},
    Row{"pnpm", "test", kTest},
    Row{"pnpm", "build", kBuild},
    Row{"py.test", "", kTest},
    Row{"pytest", "", kTest},
    Row{"rake", "test", kTest},
    Row{"rake", "spec", kTest},
    Row{"rspec", "", kTest},
    Row{"sbt", "test", kTest},
    Row{"sbt", "compile", kBuild},
    Row{"scons", "", kBuild},
    Row{"stack", "test", kTest},
    Row{"stack", "build", kBuild},
    Row{"swift", "test", kTest},
    Row{"swift", "build", kBuild},
    Row{"tox", "", kTest},
    Row{"tsc", "", kBuild},
    Row{"unittest", "", kTest},
    Row{"vitest", "", kTest},
    Row{"yarn", "test", kTest},
    Row{"yarn", "build", kBuild},
    Row{"zig", "test", kTest},
    Row{"zig", "build", kBuild},
};

/// With one of these nothing, or not the check, is run.
constexpr std::array<std::string_view, 17> kIdle = {
    "--help",  "--version",      "--dry-run", "--show-only", "--collect-only", "--co",
    "--list",  "--just-print",   "--no-run",  "--listTests", "--question",     "clean",
    "install", "--print-labels", "distclean", "help",        "--dry_run"};

/// Programs that only start another.
constexpr std::array<std::string_view, 9> kWrappers = {"time", "env",  "npx",    "bunx",   "nice",
                                                       "exec", "sudo", "ionice", "command"};

/// The words of the last command, quotes taken off; absent when the exit code would not be its own.
class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  std::optional<Words> LastCommand() {
    while (at_ < text_.size()) {
      if (!Step()) return std::nullopt;
    }
    EndWord();
    return quote_ == 0 ? std::optional(words_) : std::nullopt;
  }

 private:
  [[nodiscard]] char Peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  bool Step() {
    const char c = Peek();
    if (c == '$' && Peek(1) == '(' && quote_ != '\'') return SkipSubstitution();
    if (c == '`' && quote_ != '\'') return false;
    if (quote_ != 0) {
      if (c == '\\' && quote_ == '"') {
        word_ += Peek(1);
        at_ += 2;
        return true;
      }
      if (c == quote_)
        quote_ = 0;
      else
        word_ += c;
      ++at_;
      return true;
    }
    return StepUnquoted(c);
  }

  bool StepUnquoted(char c) {
    switch (c) {
      case '\'':
      case '"':
        quote_ = c;
        in_word_ = true;
        ++at_;
        return true;
      case ' ':
      case '\t':
        EndWord();
        ++at_;
        return true;
      case '&': return StepAmpersand();
      case '#':
        if (!in_word_) return false;
        break;
      case ';':
      case '|':
      case '\n':
      case '\r':
      case '(':
      case ')':
      case '{':
      case '}':
      case '\\': return false;
      default: break;
    }
    word_ += c;
    in_word_ = true;
    ++at_;
    return true;
  }

  /// `&&` begins another command, `>&` and `&>` are redirections, `&` alone hides the exit code.
  bool StepAmpersand() {
    if (Peek(1) == '&') {
      EndWord();
      words_.clear();
      at_ += 2;
      return true;
    }
    const bool redirects = Peek(1) == '>' || word_.ends_with('>');
    word_ += '&';
    in_word_ = true;
    ++at_;
    return redirects;
  }

  /// What stands in it does not change whose exit code it is.
  bool SkipSubstitution() {
    int depth = 0;
    do {
      if (Peek() == '(') ++depth;
      if (Peek() == ')') --depth;
      word_ += Peek();
      ++at_;
    } while (at_ < text_.size() && (depth > 0 || text_[at_ - 1] == '$'));
    in_word_ = true;
    return depth == 0;
  }

  void EndWord() {
    if (in_word_) words_.push_back(word_);
    word_.clear();
    in_word_ = false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  char quote_ = 0;
  bool in_word_ = false;
  std::string word_;
  Words words_;
};

bool IsAssignment(const std::string& word) {
  const std::size_t equals = word.find('=');
  return equals != std::string::npos && equals > 0 && word[0] != '-' &&
         word.find_first_of("/.") > equals;
}

bool IsNumber(const std::string& word) {
  return !word.empty() && word.find_first_not_of("0123456789.smh") == std::string::npos;
}

/// Takes off what only starts the program: settings, wrappers with their options, `uv run`.
void Unwrap(Words& words) {
  const auto drop = [&](std::size_t count) {
    words.erase(words.begin(),
                words.begin() + static_cast<std::ptrdiff_t>(std::min(count, words.size())));
  };
  bool wrapped = false;
  while (!words.empty()) {
    const std::string& first = words[0];
    const std::string second = words.size() > 1 ? words[1] : "";
    const bool runner = (first == "uv" || first == "poetry" || first == "pdm") && second == "run";
    const bool bundle = first == "bundle" && second == "exec";
    const bool python = first.starts_with("python") && second == "-m";
    if (runner || bundle || python) {
      drop(2);
    } else if (first == "timeout" || std::ranges::find(kWrappers, first) != kWrappers.end()) {
      wrapped = true;
      drop(1);
    } else if (IsAssignment(first) || (wrapped && (first[0] == '-' || IsNumber(first)))) {
      drop(1);
    } else {
      return;
    }
  }
}

std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// `npm run test:unit` says test as well.
bool Says(const std::string& word, std::string_view wanted) {
  return word == wanted || word.starts_with(std::string(wanted) + ":");
}

bool Fits(const Row& row, const Words& words) {
  if (words[0] != row.program && BaseName(words[0]) != row.program) return false;
  return row.word.empty() || std::any_of(words.begin() + 1, words.end(),
                                         [&](const auto& word) { return Says(word, row.word); });
}

/// `-n` means many things; to make and ninja, that nothing is run.
bool IsIdle(const Words& words) {
  const std::string_view program = BaseName(words[0]);
  const bool makes = program == "make" || program == "ninja";
  return std::any_of(words.begin() + 1, words.end(), [&](const std::string& word) {
    return std::ranges::find(kIdle, word) != kIdle.end() ||
           (makes && (word == "-n" || word == "-t" || word == "-q")) ||
           (program == "ctest" && word == "-N");
  });
}

}  // namespace

std::string_view CheckKindName(CheckKind kind) {
  return kind == CheckKind::kTest ? "test" : "build";
}

std::optional<CheckKind> CheckKindOf(std::string_view command) {
  std::optional<Words> words = Splitter(command).LastCommand();
  if (!words) return std::nullopt;
  Unwrap(*words);
  if (words->empty() || IsIdle(*words)) return std::nullopt;
  if ((*words)[0] == "cmake") {
    if (std::ranges::find(*words, "--build") == words->end()) return std::nullopt;
    const bool tests = std::ranges::find(*words, "test") != words->end();
    return tests ? CheckKind::kTest : CheckKind::kBuild;
  }
  const auto* row = std::ranges::find_if(kRows, [&](const Row& one) { return Fits(one, *words); });
  if (row == kRows.end()) return std::nullopt;
  return row->kind;
}

}  // namespace stet::policy
