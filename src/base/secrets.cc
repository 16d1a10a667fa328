#include "base/secrets.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.h"

namespace stet {
namespace {

constexpr std::string_view kMask = "[masked]";

bool IsAlnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
bool IsWord(char c) { return IsAlnum(c) || c == '_' || c == '-'; }
bool IsToken(char c) { return IsWord(c) || c == '.' || c == '=' || c == '/' || c == '+'; }
/// Anything but what ends a value in text, JSON or a shell.
bool IsValue(char c) {
  return static_cast<unsigned char>(c) > ' ' && c != '"' && c != '\'' && c != '\\' && c != ',' &&
         c != ';' && c != '`' && c != '<' && c != '>' && c != ')' && c != '}';
}

/// A token that begins in a way that nothing else does.
struct Kind {
  std::string_view prefix;
  std::size_t least;  // Characters behind the prefix.
  bool (*is_part)(char c);
};

constexpr std::array kKinds = {
    Kind{"AKIA", 16, IsAlnum},        // AWS access key
    Kind{"ASIA", 16, IsAlnum},        // AWS temporary key
    Kind{"ghp_", 30, IsWord},         // GitHub: person
    Kind{"gho_", 30, IsWord},         // GitHub: OAuth
    Kind{"ghu_", 30, IsWord},         // GitHub: user to server
    Kind{"ghs_", 30, IsWord},         // GitHub: server to server
    Kind{"ghr_", 30, IsWord},         // GitHub: refresh
    Kind{"github_pat_", 22, IsWord},  // GitHub: fine-grained
    Kind{"glpat-", 20, IsWord},       // GitLab
    Kind{"gldt-", 20, IsWord},        // GitLab: deploy
    Kind{"sk-ant-", 20, IsWord},      // Anthropic
    Kind{"sk-proj-", 20, IsWord},     // OpenAI: project
    Kind{"sk-or-", 20, IsWord},       // OpenRouter
    Kind{"sk-", 32, IsWord},          // OpenAI and those like it
    Kind{"AIza", 35, IsWord},         // Google API
    Kind{"ya29.", 20, IsToken},       // Google OAuth
    Kind{"GOCSPX-", 20, IsWord},      // Google client secret
    Kind{"xoxb-", 20, IsWord},        // Slack: bot
    Kind{"xoxp-", 20, IsWord},        // Slack: person
    Kind{"xoxa-", 20, IsWord},        // Slack: app
    Kind{"xapp-", 20, IsWord},        // Slack: app level
    Kind{"https://hooks.slack.com/services/", 20, IsToken},
    Kind{"sk_live_", 16, IsWord},         // Stripe
    Kind{"sk_test_", 16, IsWord},         // Stripe
    Kind{"rk_live_", 16, IsWord},         // Stripe: restricted
    Kind{"whsec_", 16, IsWord},           // Stripe: webhook
    Kind{"npm_", 30, IsAlnum},            // npm
    Kind{"pypi-", 40, IsWord},            // PyPI
    Kind{"hf_", 30, IsAlnum},             // Hugging Face
    Kind{"SG.", 40, IsToken},             // SendGrid
    Kind{"key-", 32, IsAlnum},            // Mailgun
    Kind{"dop_v1_", 40, IsAlnum},         // DigitalOcean
    Kind{"shpat_", 30, IsAlnum},          // Shopify
    Kind{"sq0atp-", 20, IsWord},          // Square
    Kind{"EAACEdEose0cBA", 10, IsAlnum},  // Facebook
    Kind{"hvs.", 20, IsWord},             // HashiCorp Vault
    Kind{"dckr_pat_", 20, IsWord},        // Docker
    Kind{"lin_api_", 30, IsAlnum},        // Linear
    Kind{"xai-", 40, IsWord},             // xAI
    Kind{"gsk_", 40, IsAlnum},            // Groq
    Kind{"eyJ", 60, IsToken},             // JSON Web Token
    Kind{"AGE-SECRET-KEY-", 50, IsAlnum},
};

// Behind one of these and a colon or an equals sign stands a secret.
constexpr std::array<std::string_view, 17> kNames = {
    "password",     "passwd",        "passphrase",  "secret",        "secret_key",
    "secretkey",    "client_secret", "api_key",     "apikey",        "api-key",
    "access_token", "auth_token",    "private_key", "refresh_token", "secret_access_key",
    "accountkey",   "session_token"};
constexpr std::size_t kLeastValue = 6;

constexpr std::array<std::string_view, 2> kSchemes = {"bearer ", "basic "};
constexpr std::size_t kLeastScheme = 12;

bool StartsWithAnyCase(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         std::ranges::equal(text.substr(0, lower.size()), lower, {}, LowerChar);
}

/// The part to mask, from where we look: what stays before it, and how long it is.
struct Found {
  std::size_t keep = 0;
  std::size_t length = 0;  // 0: nothing.
};

std::size_t RunOf(std::string_view text, bool (*is_part)(char)) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_part) - text.begin());
}

Found FindToken(std::string_view text) {
  for (const Kind& kind : kKinds) {
    if (!text.starts_with(kind.prefix)) continue;
    const std::size_t run = RunOf(text.substr(kind.prefix.size()), kind.is_part);
    if (run >= kind.least) return {kind.prefix.size(), run};
  }
  return {};
}

/// "-----BEGIN ... PRIVATE KEY-----", up to its end or that of the text that holds it.
Found FindPrivateKey(std::string_view text) {
  if (!text.starts_with("-----BEGIN ")) return {};
  constexpr std::string_view kMark = "PRIVATE KEY";
  constexpr std::size_t kMaxHead = 64;
  const std::size_t mark = text.substr(0, kMaxHead).find(kMark);
  const std::size_t body = mark == std::string_view::npos ? mark : text.find("-----", mark);
  if (body == std::string_view::npos) return {};
  const std::size_t keep = body + 5;
  const std::string_view rest = text.substr(keep);
  std::size_t length = std::min({rest.find("-----END"), rest.find('"'), rest.size()});
  // The quote that ends it may be an escaped one.
  const bool quoted = length < rest.size() && rest[length] == '"';
  while (quoted && length > 0 && rest[length - 1] == '\\') --length;
  return {keep, length};
}

/// "scheme://user:password@".
Found FindInAddress(std::string_view text) {
  if (!text.starts_with("://")) return {};
  const std::string_view rest = text.substr(3);
  constexpr std::string_view kEnds = " \t\r\n\"'\\/?#<>";
  const std::string_view place = rest.substr(0, rest.find_first_of(kEnds));
  const std::size_t at = place.rfind('@');
  const std::size_t colon = place.find(':');
  if (at == std::string_view::npos || colon >= at || at - colon < 2) return {};
  return {3 + colon + 1, at - colon - 1};
}

/// "password = x", "\"apiKey\": \"x\"", "--secret=x".
Found FindAssigned(std::string_view text) {
  for (const std::string_view name : kNames) {
    if (!StartsWithAnyCase(text, name)) continue;
    std::size_t at = name.size();
    // A backslash only before a quote: else an escape begins, and half of one is no JSON.
    const auto skip = [&] {
      while (at < text.size() &&
             (text[at] == '"' || text[at] == '\'' || text[at] == ' ' ||
              (text[at] == '\\' && at + 1 < text.size() && text[at + 1] == '"')))
        ++at;
    };
    skip();
    if (at >= text.size() || (text[at] != '=' && text[at] != ':')) continue;
    ++at;
    skip();
    const std::size_t run = RunOf(text.substr(at), IsValue);
    const bool variable = at < text.size() && (text[at] == '$' || text[at] == '[');
    if (run >= kLeastValue && !variable) return {at, run};
  }
  return {};
}

Found FindScheme(std::string_view text) {
  for (const std::string_view scheme : kSchemes) {
    if (!StartsWithAnyCase(text, scheme)) continue;
    const std::size_t run = RunOf(text.substr(scheme.size()), IsToken);
    if (run >= kLeastScheme) return {scheme.size(), run};
  }
  return {};
}

/// What any of them may begin with, so that most of a text is passed over at once.
constexpr auto kFirst = [] {
  std::array<bool, 256> first{};
  const auto mark = [&](char c) {
    first[static_cast<unsigned char>(c)] = true;
    if (c >= 'a' && c <= 'z') first[static_cast<unsigned char>(c - 'a' + 'A')] = true;
  };
  for (const Kind& kind : kKinds) first[static_cast<unsigned char>(kind.prefix[0])] = true;
  for (const std::string_view name : kNames) mark(name[0]);
  for (const std::string_view scheme : kSchemes) mark(scheme[0]);
  first['-'] = first[':'] = true;
  return first;
}();

Found Find(std::string_view text, bool at_word) {
  if (const Found key = FindPrivateKey(text); key.length > 0) return key;
  if (const Found address = FindInAddress(text); address.length > 0) return address;
  if (const Found assigned = FindAssigned(text); assigned.length > 0) return assigned;
  if (!at_word) return {};
  if (const Found token = FindToken(text); token.length > 0) return token;
  return FindScheme(text);
}

}  // namespace

std::string MaskSecrets(std::string_view text) {
  std::string out;
  std::size_t done = 0;  // What is in `out`.
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!kFirst[static_cast<unsigned char>(text[at])]) continue;
    // Behind an escape, such as the \n of JSON, a word begins as well.
    const bool at_word = at == 0 || (!IsAlnum(text[at - 1]) && text[at - 1] != '_') ||
                         (at > 1 && text[at - 2] == '\\');
    const Found found = Find(text.substr(at), at_word);
    if (found.length == 0) continue;
    out += text.substr(done, at + found.keep - done);
    out += kMask;
    done = at + found.keep + found.length;
    at = done - 1;
  }
  if (done == 0) return std::string(text);
  out += text.substr(done);
  return out;
}

}  // namespace stet
