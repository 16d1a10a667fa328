#include "emulator/script.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "base/utf8.h"
#include "json/json.h"

namespace stet::emulator {
namespace {

using Kind = JsonReader::Kind;

constexpr std::array<std::string_view, kDialects> kDialectNames = {
    "anthropic-messages", "openai-completions", "openai-responses", "google-generative-ai"};

// In the order of Fault::Kind.
constexpr std::array<std::string_view, 13> kFaultNames = {
    "status",    "overload", "reset",       "close",  "half_open",    "stall",         "drip",
    "malformed", "giant",    "error_event", "no_end", "content_type", "json_error_200"};

constexpr std::array<std::string_view, 14> kQuirks = {
    "crlf",          "comments",       "no_space",  "no_done",          "args_object",
    "whole_calls",   "no_index",       "no_id",     "repeat_name",      "null_content",
    "usage_in_last", "stop_for_calls", "reasoning", "reasoning_details"};

constexpr std::int64_t kMaxMs = 600'000;
constexpr std::int64_t kMaxBytes = std::int64_t{64} << 20;
constexpr std::int64_t kMaxTokens = 1'000'000'000'000;

bool IsHeaderText(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c >= ' ' && c != 0x7f; });
}

/// Reads a script member by member and remembers where it is, for the one error it may report.
class Parser {
 public:
  explicit Parser(std::string_view text) : reader_(text) {}

  Result<Script> Run() {
    Script script;
    const bool good = Object([&](std::string_view key) {
      if (key == "replies") return Replies(script.replies);
      if (key == "strict") return Flag(script.strict);
      if (key == "window") return Number(script.window.emplace(), 1, kMaxTokens);
      if (key == "cache") return OneCache(script.cache.emplace());
      return Unknown();
    });
    if (good && reader_.AtEnd()) return script;
    if (problem_.empty()) Syntax();
    return Fail(Code::kInvalid, problem_);
  }

 private:
  bool Refuse(std::string_view what) {
    if (!problem_.empty()) return false;
    problem_ = "the script";
    if (reply_ > 0) problem_ += fmt::format(", reply {}", reply_);
    for (std::size_t i = 0; i < path_.size(); ++i) (problem_ += i == 0 ? ": " : ".") += path_[i];
    (problem_ += ": ") += what;
    return false;
  }
  bool Unknown() { return Refuse("there is no such member"); }
  bool Syntax() {
    return Refuse(reader_.ok() ? "something follows its end" : reader_.error().message);
  }

  bool Expect(Kind kind, std::string_view name) {
    const Kind found = reader_.Peek();
    if (found == kind) return true;
    if (found == Kind::kBad || found == Kind::kEnd) {
      (void)reader_.Skip();
      return Syntax();
    }
    return Refuse(fmt::format("must be {}", name));
  }

  /// Calls `take(key)` at each member; it reads the value.
  template <class Take>
  bool Object(Take take) {
    if (!Expect(Kind::kObject, "an object") || !reader_.EnterObject()) return Syntax();
    std::string_view key;
    while (reader_.NextMember(&key)) {
      path_.emplace_back(key);
      if (!take(std::string_view(path_.back()))) return Syntax();
      path_.pop_back();
    }
    return reader_.ok() || Syntax();
  }

  template <class Take>
  bool Array(Take take) {
    if (!Expect(Kind::kArray, "an array") || !reader_.EnterArray()) return Syntax();
    while (reader_.NextElement()) {
      if (!take()) return Syntax();
    }
    return reader_.ok() || Syntax();
  }

  bool Text(std::string& out) { return Expect(Kind::kString, "a string") && reader_.String(&out); }
  bool Flag(bool& out) { return Expect(Kind::kBool, "true or false") && reader_.Bool(&out); }

  template <class Integer>
  bool Number(Integer& out, std::int64_t least, std::int64_t most) {
    const std::string range = fmt::format("an integer from {} to {}", least, most);
    std::int64_t value = 0;
    if (!Expect(Kind::kNumber, range)) return false;
    JsonReader look = reader_;
    if (!look.Int(&value) || value < least || value > most) return Refuse("must be " + range);
    out = static_cast<Integer>(value);
    return reader_.Int(&value);
  }

  bool HeaderMap(Headers& out) {
    return Object([&](std::string_view key) {
      std::string value;
      if (!Text(value)) return false;
      if (key.empty() || !IsHeaderText(key) || key.find_first_of(" :") != std::string_view::npos ||
          !IsHeaderText(value)) {
        return Refuse("is no HTTP header");
      }
      out.emplace_back(key, std::move(value));
      return true;
    });
  }

  bool Replies(std::vector<Reply>& out) {
    if (!Expect(Kind::kArray, "an array")) return false;
    path_.pop_back();  // The reply's number says it.
    const bool good = Array([&] {
      ++reply_;
      return OneReply(out.emplace_back());
    });
    reply_ = 0;
    path_.emplace_back("replies");
    return good;
  }

  bool OneCache(CacheScript& cache) {
    return Object([&](std::string_view key) {
      if (key == "minimum") return Number(cache.minimum, 1, kMaxTokens);
      if (key == "ttlMs") return Number(cache.ttl_ms, 1, kMaxTokens);
      if (key == "whole") return Flag(cache.whole);
      return Unknown();
    });
  }

  bool OneReply(Reply& reply) {
    return Object([&](std::string_view key) {
      if (key == "when") return Conditions(reply.when);
      if (key == "times") return Number(reply.times, 0, std::numeric_limits<int>::max());
      if (key == "blocks") return Array([&] { return OneBlock(reply.blocks.emplace_back()); });
      if (key == "stop") return Text(reply.stop);
      if (key == "usage") return OneUsage(reply.usage.emplace());
      if (key == "model") return Text(reply.model);
      if (key == "delta") return Number(reply.delta, 1, kMaxBytes);
      if (key == "write") return Number(reply.write, 1, kMaxBytes);
      if (key == "pauseMs") return Number(reply.pause_ms, 0, kMaxMs);
      if (key == "firstByteMs") return Number(reply.first_byte_ms, 0, kMaxMs);
      if (key == "headers") return HeaderMap(reply.headers);
      if (key == "fault") return OneFault(reply.fault.emplace());
      if (key == "quirks") return Array([&] { return Quirk(reply.quirks.emplace_back()); });
      return Unknown();
    });
  }

  bool Conditions(When& when) {
    return Object([&](std::string_view key) {
      if (key == "dialect") return OneDialect(when.dialect);
      if (key == "model") return Text(when.model.emplace());
      if (key == "call") return Number(when.call.emplace(), 1, std::numeric_limits<int>::max());
      if (key == "contains") return Text(when.contains.emplace());
      if (key == "hasToolResult") return Flag(when.has_tool_result.emplace());
      if (key == "lastUser") return Text(when.last_user.emplace());
      return Unknown();
    });
  }

  bool OneDialect(std::optional<Dialect>& out) {
    std::string name;
    if (!Text(name)) return false;
    out = DialectFrom(name);
    return out || Refuse(fmt::format("must be one of {}", fmt::join(kDialectNames, ", ")));
  }

  bool OneUsage(Usage& usage) {
    const bool good = Object([&](std::string_view key) {
      if (key == "input") return Number(usage.input, 0, kMaxTokens);
      if (key == "output") return Number(usage.output, 0, kMaxTokens);
      if (key == "cacheRead") return Number(usage.cache_read, 0, kMaxTokens);
      if (key == "cacheWrite") return Number(usage.cache_write, 0, kMaxTokens);
      if (key == "reasoning") return Number(usage.reasoning, 0, kMaxTokens);
      return Unknown();
    });
    return good && (usage.reasoning <= usage.output || Refuse("reasoning is a part of output"));
  }

  bool OneBlock(Block& block) {
    std::string signature;
    int kinds = 0;
    const bool good = Object([&](std::string_view key) {
      if (key == "signature") return Text(signature);
      ++kinds;
      if (key == "text") return Text(block.emplace<TextBlock>().text);
      if (key == "thinking") return Text(block.emplace<ThinkingBlock>().text);
      if (key == "redacted") return Text(block.emplace<RedactedBlock>().data);
      if (key == "refusal") return Text(block.emplace<RefusalBlock>().text);
      if (key == "call") return OneCall(block.emplace<CallBlock>());
      return Unknown();
    });
    if (!good) return false;
    if (kinds != 1) return Refuse("a block is one of text, thinking, redacted, refusal, call");
    if (signature.empty()) return true;
    auto* thinking = std::get_if<ThinkingBlock>(&block);
    if (thinking == nullptr) return Refuse("only thinking has a signature");
    thinking->signature = std::move(signature);
    return true;
  }

  bool OneCall(CallBlock& call) {
    const bool good = Object([&](std::string_view key) {
      if (key == "name") return Text(call.name);
      if (key == "id") return Text(call.id);
      if (key == "argsText") return Text(call.args);
      if (key == "args") return Json(call.args);
      return Unknown();
    });
    return good && (!call.name.empty() || Refuse("a call has a name"));
  }

  /// Any value, on one line.
  bool Json(std::string& out) {
    std::string_view text;
    if (!reader_.Skip(&text)) return false;
    Result<Raw> raw = Raw::From(text);
    if (!raw) return Refuse(raw.error().message);
    out = std::move(raw->text);
    return true;
  }

  bool Quirk(std::string& out) {
    if (!Text(out)) return false;
    return std::ranges::find(kQuirks, out) != kQuirks.end() ||
           Refuse(fmt::format("must be some of {}", fmt::join(kQuirks, ", ")));
  }

  bool FaultKind(Fault::Kind& out) {
    std::string name;
    if (!Text(name)) return false;
    const auto* found = std::ranges::find(kFaultNames, name);
    if (found == kFaultNames.end()) {
      return Refuse(fmt::format("must be one of {}", fmt::join(kFaultNames, ", ")));
    }
    out = static_cast<Fault::Kind>(found - kFaultNames.begin());
    return true;
  }

  bool OneFault(Fault& fault) {
    bool has_kind = false;
    const bool good = Object([&](std::string_view key) {
      if (key == "kind") return has_kind = true, FaultKind(fault.kind);
      if (key == "afterEvents") return Number(fault.after_events, 0, kMaxBytes);
      if (key == "afterBytes") return Number(fault.after_bytes.emplace(), 0, kMaxBytes);
      if (key == "status") return Number(fault.status, 200, 599);
      if (key == "headers") return HeaderMap(fault.headers);
      if (key == "body") return Text(fault.body.emplace());
      if (key == "type") return Text(fault.type);
      if (key == "code") return Text(fault.code);
      if (key == "message") return Text(fault.message);
      if (key == "retryAfter") return Number(fault.retry_after.emplace(), 0, kMaxMs);
      if (key == "bytes") return Number(fault.bytes, 1, kMaxBytes);
      if (key == "ms") return Number(fault.ms, 0, kMaxMs);
      if (key == "failed") return Flag(fault.failed);
      return Unknown();
    });
    return good && (has_kind || Refuse("a fault has a kind"));
  }

  JsonReader reader_;
  std::size_t reply_ = 0;  // From 1; 0 outside.
  std::vector<std::string> path_;
  std::string problem_;
};

}  // namespace

std::string_view DialectName(Dialect dialect) {
  return kDialectNames[static_cast<std::size_t>(dialect)];
}

std::optional<Dialect> DialectFrom(std::string_view name) {
  const auto* found = std::ranges::find(kDialectNames, name);
  if (found == kDialectNames.end()) return std::nullopt;
  return static_cast<Dialect>(found - kDialectNames.begin());
}

bool Reply::HasQuirk(std::string_view name) const {
  return std::ranges::find(quirks, name) != quirks.end();
}

Result<Script> ParseScript(std::string_view text) {
  if (!IsValidUtf8(text)) return Fail(Code::kInvalid, "the script is not UTF-8");
  return Parser(text).Run();
}

}  // namespace stet::emulator
