#include "hook/extension/process.h"

#include <algorithm>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "json/view.h"

namespace stet::hook {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstWait{500};
constexpr milliseconds kLongestWait{60'000};
constexpr std::size_t kMaxErrorText = 500;

Fd CopyOf(int fd) { return Fd(::fcntl(fd, F_DUPFD_CLOEXEC, 3)); }

std::string CleanError(std::string_view text) {
  std::string clean = ReplaceInvalidUtf8(text);
  clean.resize(Utf8PrefixLength(clean, kMaxErrorText));
  return clean;
}

}  // namespace

ExtensionProcess::ExtensionProcess(Loop& loop, ExtensionStart start, Listener listener)
    : loop_(loop), start_(std::move(start)), listener_(std::move(listener)) {}

ExtensionProcess::~ExtensionProcess() {
  watch_in_.reset();
  watch_out_.reset();
  watch_err_.reset();
  watch_exit_.reset();
}

Status ExtensionProcess::Start() {
  if (process_) return {};
  if (closed_) return Fail(Code::kUnavailable, "it has ended");
  if (SystemClock().Steady() < not_before_)
    return Fail(Code::kUnavailable, "it failed lately and is not started again yet");
  SpawnOptions options;
  options.argv = start_.command;
  options.env = start_.environment;
  options.cwd = start_.folder;
  options.stdin_from = StdinFrom::kPipe;
  options.max_output_bytes = 2 * Subprocess::kMaxReadTurn;  // Nothing of what is read is dropped.
  options.guarded = true;
  Result<Subprocess> started = Subprocess::Start(std::move(options));
  if (!started) {
    End(started.error().message);
    return Fail(Code::kUnavailable, started.error().message);
  }
  process_.emplace(*std::move(started));
  in_ = CopyOf(process_->stdin_fd());
  out_ = CopyOf(process_->stdout_fd());
  err_ = CopyOf(process_->stderr_fd());
  if (!in_ || !out_ || !err_) {
    End("no descriptor is left");
    return Fail(Code::kUnavailable, "no descriptor is left");
  }
  watch_in_ = std::make_unique<FdWatch>(loop_, in_.get(), [this](bool, bool) { Feed(); });
  watch_out_ = std::make_unique<FdWatch>(loop_, out_.get(), [this](bool, bool) { Read(); });
  watch_err_ = std::make_unique<FdWatch>(loop_, err_.get(), [this](bool, bool) { Read(); });
  watch_exit_ = std::make_unique<FdWatch>(loop_, process_->pidfd(), [this](bool, bool) {
    Read();
    if (process_) End("it ended by itself");
  });
  watch_out_->Want(true, false);
  watch_err_->Want(true, false);
  watch_exit_->Want(true, false);
  unasked_ = 0;
  line_ = MakeLine();
  line_->Ask("activate", listener_.activation(), [](const Result<Raw>&) {});
  return {};
}

/// Reads leniently: extensions are written by hand, and small faults of form are not worth failing.
std::shared_ptr<rpc::JsonLines> ExtensionProcess::MakeLine() {
  rpc::JsonLines::Handlers handlers;
  const auto asked = [this](const std::string& method, const Raw& params) {
    return listener_.asked(method, JsonView(params.text).is_object() ? params : Raw{"{}"});
  };
  handlers.asked = [this, asked](const rpc::Request& request) {
    const Result<Raw> result = asked(request.method, request.params);
    if (!process_) return;
    if (result)
      line_->Reply(request.id, result->text);
    else
      line_->Refuse(request.id, rpc::kRefused, result.error().message);
  };
  handlers.told = [asked](const rpc::Notification& notification) {
    (void)asked(notification.method, notification.params);
  };
  handlers.fault = [this](const rpc::Fault&, bool too_long) {
    End(too_long ? "it wrote a line that is too long" : "it wrote what is no message");
  };
  const rpc::JsonLinesOptions options{.max_line = kMaxLine, .reading = rpc::Reading::kLenient};
  return std::make_shared<rpc::JsonLines>(options, std::move(handlers),
                                          [this](const std::string& line) { Write(line); });
}

/// Kills the process; every request that waits for it fails with kUnavailable.
void ExtensionProcess::End(std::string_view why) {
  watch_in_.reset();
  watch_out_.reset();
  watch_err_.reset();
  watch_exit_.reset();
  in_.reset();
  out_.reset();
  err_.reset();
  if (process_) process_->Kill(SIGKILL);
  process_.reset();
  unsent_.clear();
  if (line_) line_->End(Error(Code::kUnavailable, std::string(why)));
  if (closed_) return;
  const milliseconds wait =
      std::min(kLongestWait, milliseconds(kFirstWait.count() << std::min(failures_, 10)));
  ++failures_;
  not_before_ = SystemClock().Steady() + wait;
  listener_.told(CleanError(why));
}

void ExtensionProcess::Write(const std::string& line) {
  if (unsent_.size() + line.size() >= kMaxUnread) return End("it does not read its input");
  (unsent_ += line) += '\n';
  Feed();
}

void ExtensionProcess::Feed() {
  if (!process_ || !watch_in_) return;
  if (!unsent_.empty()) {
    const std::optional<std::size_t> sent = process_->WriteInput(unsent_);
    unsent_.erase(0, sent.value_or(unsent_.size()));
  }
  watch_in_->Want(false, !unsent_.empty() && process_->stdin_fd() >= 0);
}

void ExtensionProcess::Read() {
  process_->ReadOutput();
  const std::string text = process_->TakeOutput();
  if (process_->stdout_fd() < 0) watch_out_.reset();
  if (process_->stderr_fd() < 0) watch_err_.reset();
  unasked_ += text.size();
  if (unasked_ > kMaxUnasked) return End("it floods its output");
  const std::shared_ptr<rpc::JsonLines> line = line_;
  line->Feed(text);
}

Async<Result<Raw>> ExtensionProcess::Ask(std::string method, Raw params, milliseconds timeout,
                                         CancelToken cancel) {
  CO_RETURN_IF_ERROR(Start());
  const std::shared_ptr<rpc::JsonLines> line = line_;
  unasked_ = 0;
  Result<Raw> result =
      co_await line->Await(loop_, std::move(method), std::move(params), timeout, std::move(cancel));
  if (result) {
    failures_ = 0;
    co_return result;
  }
  Error error = std::move(result).error();
  // Another process may have been started meanwhile.
  if (error.code == Code::kTimeout && line == line_) End(error.message);
  if (error.code == Code::kInvalid) {  // Its own words.
    failures_ = 0;
    error.message = CleanError(error.message);
  }
  co_return std::unexpected(std::move(error));
}

void ExtensionProcess::Tell(std::string_view method, const Raw& params) {
  constexpr std::size_t kEnvelope = 100;
  if (!Start()) return;
  if (unsent_.size() + method.size() + params.text.size() + kEnvelope >= kMaxUnread) return;
  unasked_ = 0;
  line_->Tell(method, params);
}

Async<void> ExtensionProcess::Close() {
  constexpr milliseconds kPatience{1000};
  closed_ = true;
  if (!process_) co_return;
  const Pending<Result<Raw>> pending(loop_);
  const Raw nothing{"{}"};
  line_->Ask("deactivate", nothing, [pending](Result<Raw> said) { pending.Set(std::move(said)); });
  // Its input ends here: most programs end with it.
  if (process_ && unsent_.empty()) {
    watch_in_.reset();
    in_.reset();
    process_->CloseInput();
  }
  Timer clock(loop_);
  clock.Start(kPatience, [pending] { pending.Set(Fail(Code::kTimeout, "it did not end")); });
  co_await pending;
  End("it was closed");
}

}  // namespace stet::hook
