// fault_caller DIR URL SEED FIRST COUNT: opens the session DIR, or creates it, and asks models at
// URL COUNT times, one call after the other, numbered from FIRST. Some calls are cancelled, at an
// event of the stream or after a while, and in some the program kills itself. It says on standard
// output, one write(2) each:
//   asked N    before anything of the call is in the log
//   ended N    the call has returned: it must never be lost
// It ends with 0, with 3 when a call or the closing failed, with 5 when the session could not be
// opened.
#include "tests/fault/caller.h"

#include <cstdlib>
#include <memory>

#include <signal.h>
#include <unistd.h>

#include "agent/model_call.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/loop.h"
#include "net/http.h"
#include "provider/http_provider.h"

namespace stet::fault {
namespace {

using std::chrono::milliseconds;

/// Not through stdio: what was said must be with the parent before the next call can kill.
void Say(std::string_view text) {
  if (::write(STDOUT_FILENO, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    std::exit(4);
}

int Complain(const Error& error, int exit_code) {
  Say(fmt::format("error {}\n", error.Text()));
  return exit_code;
}

Result<std::unique_ptr<log::Log>> OpenOrCreate(const std::string& dir) {
  log::Options options{.mode = log::Mode::kWrite, .device_id = "dev_fault"};
  if (Exists(dir + "/events.jsonl")) return log::Log::Open(dir, std::move(options));
  protocol::Header header;
  header.session_id = log::Paths{dir}.session_id();
  header.kind = "chat";
  header.meta.cwd = "/project";
  return log::Log::Create(dir, std::move(header), std::move(options));
}

provider::Access AccessOf(int call, bool spare, const std::string& url) {
  provider::Model model;
  model.provider = "test";
  model.id = spare ? "spare" : "main";
  model.dialect = DialectOf(call, spare);
  model.base_url = url;
  if (model.dialect == provider::Dialect::kGoogleGenerativeAi)
    model.base_url += "/v1beta";
  else if (model.dialect != provider::Dialect::kAnthropicMessages)
    model.base_url += "/v1";
  model.max_output = 4096;
  model.context_window = 100'000;
  model.prices = spare ? kSparePrices : kPrices;
  model.clocks.first_byte = milliseconds(400);
  model.clocks.idle_warn = milliseconds(100);
  model.clocks.idle_fail = milliseconds(400);
  return {.model = std::move(model), .key = "sk-fault"};
}

provider::Request Asking(int call) {
  provider::Request request;
  provider::UserInput input;
  input.blocks.emplace_back(protocol::TextBlock{.text = MarkOf(call)});
  request.entries.emplace_back(std::move(input));
  return request;
}

/// Dies or cancels when the stream has come to a certain event; 0: never.
class FatefulSink final : public provider::Sink {
 public:
  FatefulSink(Loop& loop, std::uint64_t die_at, std::uint64_t cancel_at)
      : loop_(loop), die_at_(die_at), cancel_at_(cancel_at) {}

  void On(const provider::StreamEvent& /*event*/) override {
    ++events_;
    if (events_ == die_at_) ::kill(::getpid(), SIGKILL);
    if (events_ == cancel_at_) loop_.Post([cancel = cancel_] { cancel->Cancel(); });
  }

  /// Cancels after a time as well.
  void CancelAfter(milliseconds span) {
    timer_.Start(span, [cancel = cancel_] { cancel->Cancel(); });
  }
  [[nodiscard]] CancelToken token() const { return cancel_->token(); }

 private:
  Loop& loop_;
  std::uint64_t die_at_;
  std::uint64_t cancel_at_;
  std::uint64_t events_ = 0;
  std::shared_ptr<CancelSource> cancel_ = std::make_shared<CancelSource>();
  Timer timer_{loop_};
};

class Caller {
 public:
  Caller(log::Log& log, std::string url, std::uint64_t seed)
      : log_(log), url_(std::move(url)), random_(seed) {}

  Status Call(int number) {
    provider::HttpProvider model(loop_, {.http = http_, .clock = SystemClock(), .random = random_},
                                 AccessOf(number, false, url_), AccessOf(number, true, url_),
                                 {.max_tries = 4,
                                  .first_wait = milliseconds(1),
                                  .longest_wait = milliseconds(2),
                                  .longest_asked_wait = milliseconds(2),
                                  .overloads_before_fallback = 2});
    FatefulSink sink(loop_, OneIn(15) ? 1 + random_.Below(12) : 0,
                     OneIn(10) ? 1 + random_.Below(12) : 0);
    if (OneIn(10)) sink.CancelAfter(milliseconds(random_.Below(4)));
    const provider::Request request = Asking(number);
    agent::CallPurpose purpose{.purpose = "turn", .stamp = {}};
    purpose.stamp.turn_id = TurnOf(number);
    RETURN_IF_ERROR(
        loop_.RunUntilDone(agent::AskModel(log_, model, request, purpose, sink, sink.token())));
    return {};
  }

 private:
  bool OneIn(std::uint64_t n) { return random_.Below(n) == 0; }

  log::Log& log_;
  std::string url_;
  Random random_;
  Loop loop_;
  net::HttpClient http_{loop_};
};

int Run(int argc, char** argv) {
  if (argc != 6) return 2;
  const Result<std::unique_ptr<log::Log>> log = OpenOrCreate(argv[1]);
  if (!log) return Complain(log.error(), 5);
  Caller caller(**log, argv[2], std::strtoull(argv[3], nullptr, 10));
  const int first = std::atoi(argv[4]);
  const int count = std::atoi(argv[5]);
  for (int number = first; number < first + count; ++number) {
    Say(fmt::format("asked {}\n", number));
    if (const Status called = caller.Call(number); !called) return Complain(called.error(), 3);
    Say(fmt::format("ended {}\n", number));
  }
  const Status closed = (*log)->Close();
  return closed ? 0 : Complain(closed.error(), 3);
}

}  // namespace
}  // namespace stet::fault

int main(int argc, char** argv) { return stet::fault::Run(argc, argv); }
