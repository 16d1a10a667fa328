#include "hook/extension_process.h"

#include <algorithm>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>

#include "base/clock.h"
#include "base/json_view.h"
#include "base/json_writer.h"
#include "base/utf8.h"

namespace stet::hook {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstWait{500};
constexpr milliseconds kLongestWait{60'000};
constexpr std::size_t kMaxErrorText = 500;

Fd CopyOf(int fd) { return Fd(::fcntl(fd, F_DUPFD_CLOEXEC, 3)); }

std::string MessageOf(std::int64_t id, std::string_view method, const Raw& params) {
  std::string line;
  JsonWriter writer(line);
  writer.BeginObject().Member("jsonrpc", "2.0");
  if (id > 0) writer.Member("id", id);
  writer.Member("method", method).Member("params", params).EndObject();
  return line + "\n";
}

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
  options.new_session = true;
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
  Write(MessageOf(next_id_++, "activate", listener_.activation()));
  return {};
}

/// It is over with this process; everything that waits for it fails.
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
  unread_.clear();
  for (const auto& [id, pending] : std::exchange(waiting_, {}))
    pending.Set(Fail(Code::kUnavailable, std::string(why)));
  if (closed_) return;
  const milliseconds wait =
      std::min(kLongestWait, milliseconds(kFirstWait.count() << std::min(failures_, 10)));
  ++failures_;
  not_before_ = SystemClock().Steady() + wait;
  listener_.told(CleanError(why));
}

void ExtensionProcess::Write(const std::string& line) {
  unsent_ += line;
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
  unread_ += text;
  std::size_t begin = 0;
  while (process_) {
    const std::size_t end = unread_.find('\n', begin);
    if (end == std::string::npos) break;
    const std::string line = unread_.substr(begin, end - begin);
    begin = end + 1;
    if (line.size() > kMaxLine) return End("it wrote a line that is too long");
    TakeLine(line);
  }
  if (!process_) return;
  unread_.erase(0, begin);
  if (unread_.size() > kMaxLine) End("it wrote a line that is too long");
}

void ExtensionProcess::TakeLine(std::string_view line) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
  if (!Raw::From(line) || !JsonView(line).is_object()) return End("it wrote what is no message");
  const JsonView message(line);
  if (const std::optional<std::string> method = message["method"].String()) {
    const JsonView params = message["params"];
    const Raw given{params.is_object() ? std::string(params.text()) : std::string("{}")};
    const JsonView id = message["id"];
    const Result<Raw> result = listener_.asked(*method, given);
    if (id && process_) Answer(Raw{std::string(id.text())}, result);
    return;
  }
  const auto waiting = waiting_.find(message["id"].IntOr(0));
  if (waiting == waiting_.end()) return;  // Too late, or the answer to `activate`.
  const Pending<Result<Raw>> pending = waiting->second;
  waiting_.erase(waiting);
  failures_ = 0;
  if (const JsonView error = message["error"]; error && !error.is_null()) {
    pending.Set(Fail(Code::kInvalid, CleanError(error["message"].StringOr("it gave no reason"))));
    return;
  }
  const JsonView result = message["result"];
  pending.Set(Raw{result ? std::string(result.text()) : std::string("null")});
}

void ExtensionProcess::Answer(const Raw& id, const Result<Raw>& result) {
  std::string line;
  JsonWriter writer(line);
  writer.BeginObject().Member("jsonrpc", "2.0").Member("id", id);
  if (result) {
    writer.Member("result", *result);
  } else {
    constexpr int kRefused = -32000;
    writer.Key("error").BeginObject().Member("code", kRefused);
    writer.Member("message", result.error().message).EndObject();
  }
  writer.EndObject();
  if (unsent_.size() + line.size() > kMaxUnread) return End("it does not read its input");
  Write(line + "\n");
}

Async<Result<Raw>> ExtensionProcess::Ask(std::string method, Raw params, milliseconds timeout,
                                         CancelToken cancel) {
  CO_RETURN_IF_ERROR(Start());
  const std::int64_t id = next_id_++;
  const std::string line = MessageOf(id, method, params);
  if (unsent_.size() + line.size() > kMaxUnread) {
    End("it does not read its input");
    co_return Fail(Code::kUnavailable, "it does not read its input");
  }
  const Pending<Result<Raw>> pending(loop_);
  waiting_.insert_or_assign(id, pending);
  unasked_ = 0;
  Write(line);
  Timer clock(loop_);
  clock.Start(timeout,
              [pending] { pending.Set(Fail(Code::kTimeout, "it did not answer in time")); });
  const CancelRegistration registration =
      cancel.OnCancel([pending] { pending.Set(Fail(Code::kCancelled, "it was cancelled")); });
  Result<Raw> result = co_await pending;
  waiting_.erase(id);
  if (!result && result.error().code == Code::kTimeout) End("it did not answer in time");
  co_return result;
}

void ExtensionProcess::Tell(std::string_view method, const Raw& params) {
  if (!Start()) return;
  const std::string line = MessageOf(0, method, params);
  if (unsent_.size() + line.size() > kMaxUnread) return;
  unasked_ = 0;
  Write(line);
}

Async<void> ExtensionProcess::Close() {
  constexpr milliseconds kPatience{1000};
  closed_ = true;
  if (!process_) co_return;
  const Pending<Result<Raw>> pending(loop_);
  const Raw nothing{"{}"};
  const std::int64_t id = next_id_++;
  waiting_.insert_or_assign(id, pending);
  Write(MessageOf(id, "deactivate", nothing));
  // Its input ends here: most programs end with it.
  if (process_ && unsent_.empty()) {
    watch_in_.reset();
    in_.reset();
    process_->CloseInput();
  }
  Timer clock(loop_);
  clock.Start(kPatience, [pending] { pending.Set(Fail(Code::kTimeout, "it did not end")); });
  co_await pending;
  waiting_.erase(id);
  End("it was closed");
}

}  // namespace stet::hook
