// Random model calls through retries, broken replies, a fallback and cancels, by a program that is
// killed again and again. What the ledger says afterwards is, to the token, what the server
// reported; what it did not report is unknown and not zero; no call that returned is lost.
#include "run/ledger.h"

#include <map>
#include <set>
#include <span>
#include <sstream>

#include <poll.h>

#include "base/random.h"
#include "base/subprocess/subprocess.h"
#include "base/temp_dir.h"
#include "emulator/emulator.h"
#include "json/writer.h"
#include "tests/fault/caller.h"
#include "tests/fault/faults.h"
#include "tests/scale.h"

namespace stet::fault {
namespace {

using emulator::RequestRecord;
using protocol::Attempt;
using protocol::CostSum;

constexpr int kCallsPerLife = 12;

/// What the server was told to say, by the number of the reply.
using Replies = std::map<std::int64_t, emulator::Usage>;

/// A script for the calls from `first` on: some replies that fail, then one that is good.
class ScriptWriter {
 public:
  explicit ScriptWriter(Random& random) : random_(random) {}

  std::string Write(int first, int count, std::map<int, Replies>& replies) {
    std::string script;
    JsonWriter json(script);
    json.BeginObject().Key("replies").BeginArray();
    std::int64_t number = 0;
    for (int call = first; call < first + count; ++call) {
      replies[call].clear();
      for (std::uint64_t bad = random_.Below(4); bad > 0; --bad)
        replies[call][++number] = WriteReply(json, call, true);
      replies[call][++number] = WriteReply(json, call, false);
    }
    json.EndArray().EndObject();
    return script;
  }

 private:
  emulator::Usage WriteReply(JsonWriter& json, int call, bool bad) {
    json.BeginObject().Key("when").BeginObject().Member("lastUser", MarkOf(call)).EndObject();
    json.Member("times", bad ? 1 : 0).Key("blocks").BeginArray();
    if (random_.Below(2) == 0) WriteBlock(json, "thinking");
    WriteBlock(json, "text");
    json.EndArray();
    if (random_.Below(3) == 0)
      json.Member("pauseMs", 1);
    else
      json.Member("write", 65'536);
    if (bad) WriteFault(json);
    const emulator::Usage usage = RandomUsage();
    json.Member("usage", Raw{Encode(usage)}).EndObject();
    return usage;
  }

  void WriteBlock(JsonWriter& json, std::string_view kind) {
    json.BeginObject().Member(kind, std::string(1 + random_.Below(150), 'x')).EndObject();
  }

  void WriteFault(JsonWriter& json) {
    constexpr std::string_view kKinds[] = {"status",      "overload",  "overload", "reset", "close",
                                           "error_event", "malformed", "no_end",   "stall"};
    std::uint64_t kind = random_.Below(std::size(kKinds));
    // A stall costs the time of a clock.
    if (kKinds[kind] == "stall" && random_.Below(4) > 0) kind = 0;
    json.Key("fault").BeginObject().Member("kind", kKinds[kind]);
    json.Member("afterEvents", static_cast<std::int64_t>(random_.Below(6)));
    if (kKinds[kind] == "status") json.Member("status", random_.Below(2) == 0 ? 500 : 429);
    json.EndObject();
  }

  emulator::Usage RandomUsage() {
    const auto tokens = [&](std::uint64_t n) {
      return static_cast<std::int64_t>(random_.Below(n));
    };
    emulator::Usage usage;
    usage.input = tokens(100'000);
    usage.output = 1 + tokens(10'000);
    usage.cache_read = random_.Below(2) == 0 ? tokens(100'000) : 0;
    usage.cache_write = random_.Below(3) == 0 ? tokens(10'000) : 0;
    usage.reasoning = random_.Below(2) == 0 ? tokens(static_cast<std::uint64_t>(usage.output)) : 0;
    return usage;
  }

  Random& random_;
};

/// As the client counts what the server said.
protocol::Usage Heard(const emulator::Usage& said, const std::string& dialect) {
  protocol::Usage heard;
  heard.input = said.input;
  heard.output = said.output;
  heard.cache_read = said.cache_read;
  heard.cache_write = said.cache_write;
  heard.reasoning = said.reasoning;
  if (dialect == "google-generative-ai") {  // It does not tell what was written to the cache.
    heard.input += said.cache_write;
    heard.cache_write = 0;
  }
  return heard;
}

/// Absent counts as 0, so that two can be compared.
protocol::Usage Whole(const protocol::Usage& usage) {
  protocol::Usage whole = usage;
  whole.cache_read = usage.cache_read.value_or(0);
  whole.cache_write = usage.cache_write.value_or(0);
  whole.reasoning = usage.reasoning.value_or(0);
  return whole;
}

bool NoMoreThan(const protocol::Usage& some, const protocol::Usage& all) {
  return some.input <= all.input && some.output <= all.output &&
         some.cache_read <= all.cache_read && some.cache_write <= all.cache_write &&
         some.reasoning <= all.reasoning;
}

/// Whole micro-units, halves up; counted here once more.
std::int64_t PriceOf(const protocol::Usage& usage, const provider::Prices& prices) {
  const __int128 sum = static_cast<__int128>(usage.input) * prices.input +
                       static_cast<__int128>(usage.output) * prices.output +
                       static_cast<__int128>(usage.cache_read.value_or(0)) * prices.cache_read +
                       static_cast<__int128>(usage.cache_write.value_or(0)) * prices.cache_write;
  return static_cast<std::int64_t>((sum + 500'000) / 1'000'000);
}

void AddTo(CostSum& sum, const protocol::Usage& usage, const provider::Prices& prices) {
  sum.input += usage.input;
  sum.output += usage.output;
  sum.cache_read += usage.cache_read.value_or(0);
  sum.cache_write += usage.cache_write.value_or(0);
  sum.reasoning += usage.reasoning.value_or(0);
  sum.price += PriceOf(usage, prices);
}

/// A call as the log has it.
struct Logged {
  std::string call_id;
  bool ended = false;
  std::vector<Attempt> attempts;
};

class LedgerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto started = emulator::Emulator::Start("{\"replies\":[]}", {.record = temp_.Sub("record")});
    ASSERT_TRUE(started) << started.error().Text();
    emulator_ = *std::move(started);
  }

  /// One life of the caller: it ends by itself, by its own hand or by ours.
  void Live() {
    const int first = last_asked_ + 1;
    const Status set = emulator_->SetScript(script_.Write(first, kCallsPerLife, replies_));
    ASSERT_TRUE(set) << set.error().Text();
    SpawnOptions command;
    command.argv = {STET_FAULT_CALLER,     dir_,
                    emulator_->base_url(), std::to_string(random_.Next() >> 1),
                    std::to_string(first), std::to_string(kCallsPerLife)};
    Result<Subprocess> caller = Subprocess::Start(std::move(command));
    ASSERT_TRUE(caller) << caller.error().Text();
    std::string out;
    if (random_.Below(4) > 0) KillSomewhere(*caller, out);
    pollfd end{.fd = caller->pidfd(), .events = POLLIN, .revents = 0};
    ASSERT_GT(::poll(&end, 1, 60'000), 0) << "the caller hangs: " << out;
    ASSERT_TRUE(caller->Reap());
    caller->ReadOutput();
    const Finished finished = caller->TakeFinished();
    out += finished.out;
    ASSERT_EQ(finished.err, "");
    ASSERT_TRUE(finished.signal == SIGKILL || finished.exit_code == 0) << out;
    if (finished.signal != 0) ++kills_;
    Note(out, finished.signal != 0);
  }

  /// Behind a random number of calls, and there at a random instant of the next.
  void KillSomewhere(Subprocess& caller, std::string& out) {
    const std::size_t enough = random_.Below(kCallsPerLife * std::size_t{18});
    while (out.size() < enough) {
      pollfd wait{.fd = caller.stdout_fd(), .events = POLLIN, .revents = 0};
      ASSERT_GT(::poll(&wait, 1, 60'000), 0) << "the caller says nothing: " << out;
      char bytes[4096];
      const ssize_t got = ::read(caller.stdout_fd(), bytes, sizeof bytes);
      if (got <= 0) return;  // It is gone already.
      out.append(bytes, static_cast<std::size_t>(got));
    }
    for (std::uint64_t spin = random_.Below(10'000'000); spin > 0; --spin) asm volatile("");
    caller.Kill(SIGKILL);
  }

  void Note(const std::string& out, bool killed) {
    std::istringstream lines(out);
    std::string word;
    int call = 0;
    while (lines >> word >> call) {
      if (word == "asked") last_asked_ = call;
      if (word == "ended") returned_.insert(call);
    }
    if (killed && last_asked_ > 0 && !returned_.contains(last_asked_))
      in_flight_.insert(last_asked_);
  }

  /// The calls of the log by their number, and the ledger's own sums.
  void ReadLog() {
    const std::unique_ptr<log::Log> log = OpenToRead(dir_);
    ASSERT_TRUE(log);
    run::Ledger ledger;
    const Status read = log->Read(0, [&](const log::Entry&, std::string_view line) {
      const Result<protocol::Event> event = protocol::DecodeEvent(line);
      EXPECT_TRUE(event) << event.error().Text();
      if (!event) return false;
      ledger.Fold(*event);
      if (const auto* call = std::get_if<protocol::ModelCall>(&event->payload))
        TakeCall(*call, event->stamp.turn_id.value_or(""));
      return true;
    });
    ASSERT_TRUE(read) << read.error().Text();
    report_ = ledger.Report("ses");
  }

  void TakeCall(const protocol::ModelCall& call, const std::string& turn) {
    const bool is_new = !logged_.contains(turn);
    Logged& logged = logged_[turn];
    if (call.phase == "start") {
      EXPECT_TRUE(is_new) << turn << " started twice";
      logged.call_id = call.call_id;
      return;
    }
    EXPECT_EQ(logged.call_id, call.call_id);
    EXPECT_FALSE(logged.ended) << turn << " ended twice";
    logged.ended = true;
    logged.attempts = call.attempts.value_or(std::vector<Attempt>());
  }

  /// What the server recorded, by call, in the order the requests came.
  void ReadRecord() {
    emulator_.reset();  // Ends what clients left behind: it is recorded too.
    const Result<std::string> text = ReadFile(temp_.Sub("record"));
    ASSERT_TRUE(text) << text.error().Text();
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);) {
      Result<RequestRecord> record = Decode<RequestRecord>(line);
      ASSERT_TRUE(record) << record.error().Text();
      const std::size_t mark = record->body.text.find("[call ");
      ASSERT_NE(mark, std::string::npos);
      const int call = std::atoi(record->body.text.c_str() + mark + 6);
      requests_[call].push_back(*std::move(record));
    }
    for (auto& [call, requests] : requests_)
      std::ranges::sort(requests, {}, [](const RequestRecord& record) {
        return std::pair(record.received_ms, record.n);  // Numbers start anew with every script.
      });
  }

  /// Whether the server's side of an attempt explains what the client kept of it.
  bool Fits(const Attempt& attempt, const RequestRecord& request, int call) {
    // Read when the script was the next life's: the client had given up on it.
    if (!request.reply) return !attempt.usage && attempt.outcome == "cancelled";
    const protocol::Usage said = Heard(replies_[call][*request.reply], request.dialect);
    if (request.usage && Encode(Heard(*request.usage, request.dialect)) != Encode(said))
      return false;
    const bool partial = attempt.partial.value_or(false);
    // A reply that was cut off behind its last word is done too, with its usage or without.
    if (attempt.outcome == "done" && request.usage && (!attempt.usage || partial)) return false;
    if (!attempt.usage) return !partial;
    const protocol::Usage heard = Whole(*attempt.usage);
    return partial ? NoMoreThan(heard, said) : Encode(heard) == Encode(said);
  }

  /// Whether every attempt has its request, in order. A request that broke off on a connection that
  /// was used before is sent once more by libcurl itself; a cancel may come before the request.
  bool Match(std::span<const Attempt> attempts, std::span<const RequestRecord> requests, int call) {
    if (attempts.empty() && requests.empty()) return true;
    if (!requests.empty()) {
      const RequestRecord& request = requests.front();
      if (!attempts.empty() && Fits(attempts.front(), request, call) &&
          Match(attempts.subspan(1), requests.subspan(1), call))
        return true;
      const bool repeated = request.outcome == "reset" || request.outcome == "closed";
      return repeated && Match(attempts, requests.subspan(1), call);
    }
    return attempts.size() == 1 && attempts[0].outcome == "cancelled" && !attempts[0].usage;
  }

  /// What the ledger must say of a call.
  CostSum CheckCall(int call, const Logged& logged) {
    CostSum sum;
    sum.name = TurnOf(call);
    sum.calls = 1;
    if (!logged.ended) {
      EXPECT_TRUE(in_flight_.contains(call)) << "the end of a call is missing that was not killed";
      sum.unknown_calls = 1;
      ++killed_;
      return sum;
    }
    EXPECT_FALSE(logged.attempts.empty());
    EXPECT_TRUE(Match(logged.attempts, requests_[call], call))
        << Encode(logged.attempts) << " is not what the server has: " << Encode(requests_[call]);
    for (const Attempt& attempt : logged.attempts) {
      ++sum.attempts;
      const bool partial = attempt.partial.value_or(false);
      if (!attempt.usage || partial) sum.unknown_calls = 1;
      if (attempt.usage) AddTo(sum, *attempt.usage, attempt.model ? kSparePrices : kPrices);
      ++(!attempt.usage ? unreported_ : partial ? partial_ : whole_);
      if (attempt.model) ++spare_;
    }
    return sum;
  }

  static void Add(CostSum& to, const CostSum& from) {
    to.calls += from.calls;
    to.attempts += from.attempts;
    to.input += from.input;
    to.output += from.output;
    to.cache_read += from.cache_read;
    to.cache_write += from.cache_write;
    to.reasoning += from.reasoning;
    to.price += from.price;
    to.unknown_calls += from.unknown_calls;
  }

  TempDir temp_;
  std::string dir_ = temp_.Sub("ses_called");
  Random random_{7};
  ScriptWriter script_{random_};
  std::unique_ptr<emulator::Emulator> emulator_;
  std::map<int, Replies> replies_;  // By call, as last scripted.
  int last_asked_ = 0;
  std::set<int> returned_;
  std::set<int> in_flight_;  // Asked, and killed before they returned.
  int kills_ = 0;

  protocol::CostReport report_;
  std::map<std::string, Logged> logged_;  // By turn.
  std::map<int, std::vector<RequestRecord>> requests_;
  int whole_ = 0;
  int partial_ = 0;
  int unreported_ = 0;
  int spare_ = 0;
  int killed_ = 0;
};

TEST_F(LedgerTest, SumsAreWhatTheServerReportedThroughEveryCrash) {
  while (last_asked_ < TestScale().ledger_calls) {
    Live();
    if (HasFatalFailure()) return;
  }
  ReadLog();
  ReadRecord();
  if (HasFatalFailure()) return;
  std::map<std::string, CostSum> turns;
  for (const CostSum& turn : report_.turns) turns[turn.name] = turn;
  EXPECT_EQ(turns.size(), logged_.size());
  CostSum total;
  for (int call = 1; call <= last_asked_; ++call) {
    SCOPED_TRACE(TurnOf(call));
    const auto logged = logged_.find(TurnOf(call));
    if (returned_.contains(call)) {
      ASSERT_TRUE(logged != logged_.end() && logged->second.ended)
          << "a call that returned is lost";
    }
    if (logged == logged_.end()) continue;
    const CostSum sum = CheckCall(call, logged->second);
    EXPECT_EQ(Encode(turns[sum.name]), Encode(sum));
    Add(total, sum);
    if (HasFailure()) return;
  }
  EXPECT_EQ(Encode(report_.total), Encode(total));
  std::printf(
      "[ calls    ] %d, %d kills; attempts: %d whole, %d partial, %d unreported, %d on the "
      "spare model; %d calls killed in flight\n",
      last_asked_, kills_, whole_, partial_, unreported_, spare_, killed_);
  for (const int count : {kills_, whole_, partial_, unreported_, spare_, killed_})
    EXPECT_GT(count, 0) << "nothing of that kind was tried";
}

}  // namespace
}  // namespace stet::fault
