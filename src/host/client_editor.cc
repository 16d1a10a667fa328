#include "host/client_editor.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text_width.h"
#include "base/utf8.h"
#include "tool/text_file.h"

namespace stet::host {
namespace {

using std::chrono::milliseconds;
namespace service = protocol::service;

/// A text that is at hand.
constexpr milliseconds kReadTime{10'000};
/// An editor may format what it saves.
constexpr milliseconds kWriteTime{30'000};
constexpr milliseconds kTerminalTime{10'000};
constexpr std::size_t kMaxTerminalName = 256;

Async<Result<Raw>> Ask(Loop& loop, std::shared_ptr<client::Services> services,
                       std::string_view method, std::string params, milliseconds within,
                       CancelToken cancel) {
  const Pending<Result<Raw>> answer(loop);
  Timer timer(loop);
  timer.Start(within, [answer, within] {
    answer.Set(
        Fail(Code::kTimeout, fmt::format("it did not answer within {} s", within.count() / 1000)));
  });
  const CancelRegistration cancelled = cancel.OnCancel(
      [answer] { answer.Set(Fail(Code::kCancelled, "the call was cancelled meanwhile")); });
  services->Ask(std::string(method), Raw{std::move(params)},
                [answer](Result<Raw> said) { answer.Set(std::move(said)); });
  co_return co_await answer;
}

/// What a client says is another's: it may be anything.
template <class T>
Result<T> Answer(const Result<Raw>& said) {
  if (!said) return std::unexpected(said.error());
  Result<T> read = Decode<T>(said->text);
  if (!read) return Fail(Code::kInvalid, "it gave no answer that makes sense");
  return read;
}

Result<std::string> CheckedText(protocol::OptionalText text, std::size_t max_bytes) {
  if (!text || !IsValidUtf8(*text)) return Fail(Code::kInvalid, "it gave no text");
  if (text->size() > max_bytes)
    return Fail(Code::kInvalid, fmt::format("it gave {} bytes; {} is the most that is taken",
                                            text->size(), max_bytes));
  return *std::move(text);
}

std::string Ref(const std::string& terminal) {
  protocol::TerminalRef ref;
  ref.terminal_id = terminal;
  return Encode(ref);
}

class ClientEditor final : public tool::Editor {
 public:
  ClientEditor(Loop& loop, std::shared_ptr<client::Services> services)
      : loop_(loop), services_(std::move(services)) {}

  [[nodiscard]] bool reads() const override { return Offers(protocol::offer::kRead); }
  [[nodiscard]] bool writes() const override { return Offers(protocol::offer::kWrite); }
  [[nodiscard]] bool runs() const override { return Offers(protocol::offer::kTerminal); }

  Async<Result<std::string>> Read(std::string path, CancelToken cancel) override {
    protocol::FileRead file;
    file.path = std::move(path);
    const Result<Raw> said =
        co_await Ask(loop_, services_, service::kReadFile, Encode(file), kReadTime, cancel);
    CO_ASSIGN_OR_RETURN(protocol::FileText text, Answer<protocol::FileText>(said));
    co_return CheckedText(std::move(text.text), tool::kMaxTextBytes);
  }

  Async<Status> Write(std::string path, std::string text, CancelToken cancel) override {
    protocol::FileWrite file;
    file.path = std::move(path);
    file.text = std::move(text);
    const Result<Raw> said =
        co_await Ask(loop_, services_, service::kWriteFile, Encode(file), kWriteTime, cancel);
    if (!said) co_return std::unexpected(said.error());
    co_return Status();
  }

  Async<Result<std::string>> OpenTerminal(tool::TerminalCommand command) override {
    protocol::TerminalOpen open;
    open.command = std::move(command.program);
    open.args = std::move(command.arguments);
    open.environment = std::move(command.variables);
    open.cwd = std::move(command.cwd);
    open.max_bytes = static_cast<std::int64_t>(command.max_bytes);
    // Not cancelled: a terminal that nobody knows would stay.
    const CancelToken never;
    const Result<Raw> said =
        co_await Ask(loop_, services_, service::kOpenTerminal, Encode(open), kTerminalTime, never);
    CO_ASSIGN_OR_RETURN(protocol::TerminalRef ref, Answer<protocol::TerminalRef>(said));
    CO_ASSIGN_OR_RETURN(std::string id, CheckedText(std::move(ref.terminal_id), kMaxTerminalName));
    if (id.empty()) co_return Fail(Code::kInvalid, "it gave the terminal no name");
    co_return id;
  }

  Async<Result<tool::TerminalEnd>> AwaitTerminal(std::string id, milliseconds within,
                                                 CancelToken cancel) override {
    const Result<Raw> said =
        co_await Ask(loop_, services_, service::kAwaitTerminal, Ref(id), within, cancel);
    CO_ASSIGN_OR_RETURN(protocol::TerminalEnd end, Answer<protocol::TerminalEnd>(said));
    tool::TerminalEnd how;
    how.exit_code = end.exit_code;
    how.signal = OneLineText(end.signal.value_or("")).substr(0, 32);
    co_return how;
  }

  Async<Result<tool::TerminalOutput>> ReadTerminal(std::string id) override {
    const CancelToken never;
    const Result<Raw> said =
        co_await Ask(loop_, services_, service::kTerminalText, Ref(id), kTerminalTime, never);
    CO_ASSIGN_OR_RETURN(protocol::TerminalText text, Answer<protocol::TerminalText>(said));
    tool::TerminalOutput output;
    CO_ASSIGN_OR_RETURN(output.text, CheckedText(std::move(text.text), tool::kMaxTextBytes));
    output.truncated = text.truncated;
    co_return output;
  }

  Async<Status> KillTerminal(std::string id) override {
    const CancelToken never;
    const Result<Raw> said =
        co_await Ask(loop_, services_, service::kKillTerminal, Ref(id), kTerminalTime, never);
    if (!said) co_return std::unexpected(said.error());
    co_return Status();
  }

  void ReleaseTerminal(const std::string& id) override {
    services_->Ask(std::string(service::kReleaseTerminal), Raw{Ref(id)}, [](const Result<Raw>&) {});
  }

 private:
  [[nodiscard]] bool Offers(std::string_view what) const {
    return std::ranges::find(services_->offers(), what) != services_->offers().end();
  }

  Loop& loop_;
  std::shared_ptr<client::Services> services_;
};

}  // namespace

std::shared_ptr<tool::Editor> MakeClientEditor(Loop& loop,
                                               std::shared_ptr<client::Services> services) {
  return std::make_shared<ClientEditor>(loop, std::move(services));
}

}  // namespace stet::host
