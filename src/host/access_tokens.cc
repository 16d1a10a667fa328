#include "host/access_tokens.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/lock.h"
#include "base/random.h"
#include "protocol/ids.h"
#include "protocol/method.h"

namespace stet::host {

struct KeptToken {
  STET_FIELDS(KeptToken,
              (protocol::Text, name),
              (protocol::Text, sha256),
              (protocol::Texts, rights),
              (std::int64_t, created_at))
};
using KeptTokens = std::vector<KeptToken>;

struct TokenBook {
  STET_FIELDS(TokenBook, (KeptTokens, tokens))
};

namespace {

Result<TokenBook> ReadTokens(const config::Roots& roots) {
  const Result<std::string> text = ReadFile(roots.tokens());
  if (!text && text.error().code == Code::kNotFound) return TokenBook();
  if (!text) return std::unexpected(text.error());
  Result<TokenBook> book = Decode<TokenBook>(*text);
  if (!book)
    return Fail(Code::kCorrupt,
                fmt::format("{} is damaged: remove it, and make new tokens", roots.tokens()));
  return book;
}

Status WriteBook(const config::Roots& roots, const TokenBook& book) {
  return ReplaceFile(roots.tokens(), Encode(book) + "\n", Durable::kYes, 0600);
}

protocol::TokenRow RowOf(const KeptToken& token) {
  protocol::TokenRow row;
  row.name = token.name;
  row.rights = token.rights;
  row.created_at = token.created_at;
  return row;
}

}  // namespace

bool SameSecret(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |=
        static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(i < b.size() ? b[i] : 0);
  return difference == 0;
}

std::string NewToken() {
  std::string token = "stet_";
  for (int part = 0; part < 4; ++part) AppendHex64(token, SystemSeed());
  return token;
}

Result<std::string> Tokens::Add(const std::string& name, const std::vector<std::string>& rights) {
  using namespace protocol::right;
  constexpr std::string_view kAll[] = {kView, kSend, kApprove, kAdmin};
  for (const std::string& right : rights) {
    if (std::ranges::find(kAll, right) == std::end(kAll))
      return Fail(Code::kInvalid, fmt::format("there is no right {}: write view, send, approve or "
                                              "admin",
                                              right));
  }
  if (!protocol::IsClientName(name))
    return Fail(Code::kInvalid,
                fmt::format("\"{}\" cannot name a token: write 1 to 64 letters, digits, - _ and ., "
                            "and no name that stet uses for itself",
                            name));
  if (rights.empty()) return Fail(Code::kInvalid, "a token has at least one right");
  RETURN_IF_ERROR(MakeDirs(roots_.data));
  ASSIGN_OR_RETURN(const FileLock lock, FileLock::Acquire(roots_.tokens() + ".lock"));
  ASSIGN_OR_RETURN(TokenBook book, ReadTokens(roots_));
  if (std::ranges::find(book.tokens, name, &KeptToken::name) != book.tokens.end())
    return Fail(Code::kConflict, fmt::format("there is a token {} already", name));
  std::string token = NewToken();
  KeptToken& kept = book.tokens.emplace_back();
  kept.name = name;
  kept.sha256 = Sha256Hex(token);
  kept.rights = rights;
  kept.created_at = SystemClock().Now();
  RETURN_IF_ERROR(WriteBook(roots_, book));
  return token;
}

Status Tokens::Revoke(const std::string& name) {
  ASSIGN_OR_RETURN(const FileLock lock, FileLock::Acquire(roots_.tokens() + ".lock"));
  ASSIGN_OR_RETURN(TokenBook book, ReadTokens(roots_));
  const auto gone =
      std::erase_if(book.tokens, [&](const KeptToken& token) { return token.name == name; });
  if (gone == 0)
    return Fail(Code::kNotFound,
                fmt::format("no token is called {}: `stet host token ls` lists them", name));
  return WriteBook(roots_, book);
}

Result<protocol::TokenRows> Tokens::List() const {
  ASSIGN_OR_RETURN(const TokenBook book, ReadTokens(roots_));
  protocol::TokenRows rows;
  for (const KeptToken& token : book.tokens) rows.push_back(RowOf(token));
  return rows;
}

Result<protocol::TokenRow> Tokens::Check(std::string_view token) const {
  ASSIGN_OR_RETURN(const TokenBook book, ReadTokens(roots_));
  const std::string hash = Sha256Hex(token);
  for (const KeptToken& kept : book.tokens) {
    if (SameSecret(kept.sha256, hash)) return RowOf(kept);
  }
  return Fail(Code::kAuth, "the token is not known here");
}

}  // namespace stet::host
