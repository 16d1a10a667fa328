#include "lane/client_editor.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/display_width.h"
#include "base/utf8.h"
#include "protocol/client_methods.h"
#include "tool/text_file.h"

namespace stet::lane {
namespace {

using std::chrono::milliseconds;
namespace method = protocol::method;

/// A text that is at hand.
constexpr milliseconds kReadTime{10'000};
/// An editor may format what it saves.
constexpr milliseconds kWriteTime{30'000};
constexpr milliseconds kTerminalTime{10'000};
constexpr std::size_t kMaxTerminalName = 256;

/// The client's reply to M. It is another program's text, and may be anything.
template <protocol::IsMethod M>
Async<Result<typename M::Reply>> Ask(Loop& loop, std::shared_ptr<client::Services> services,
                                     typename M::Params params, milliseconds within,
                                     CancelToken cancel) {
  const Pending<Result<Raw>> answer(loop);
  Timer timer(loop);
  timer.Start(within, [answer, within] {
    answer.Set(
        Fail(Code::kTimeout, fmt::format("it did not answer within {} s", within.count() / 1000)));
  });
  const CancelRegistration cancelled = cancel.OnCancel(
      [answer] { answer.Set(Fail(Code::kCancelled, "the call was cancelled meanwhile")); });
  const Raw asked{Encode(params)};
  services->Ask(std::string(M::kInfo.name), asked,
                [answer](Result<Raw> said) { answer.Set(std::move(said)); });
  const Result<Raw> said = co_await answer;
  if (!said) co_return std::unexpected(said.error());
  Result<typename M::Reply> read = Decode<typename M::Reply>(said->text);
  if (!read) co_return Fail(Code::kInvalid, "it gave no answer that makes sense");
  co_return read;
}

Result<std::string> CheckedText(protocol::OptionalText text, std::size_t max_bytes) {
  if (!text || !IsValidUtf8(*text)) return Fail(Code::kInvalid, "it gave no text");
  if (text->size() > max_bytes)
    return Fail(Code::kInvalid, fmt::format("it gave {} bytes; {} is the most that is taken",
                                            text->size(), max_bytes));
  return *std::move(text);
}

class ClientEditor final : public tool::Editor {
 public:
  ClientEditor(Loop& loop, std::string session_id, std::shared_ptr<client::Services> services)
      : loop_(loop), session_id_(std::move(session_id)), services_(std::move(services)) {}

  [[nodiscard]] bool reads() const override { return Offers(protocol::offer::kRead); }
  [[nodiscard]] bool writes() const override { return Offers(protocol::offer::kWrite); }
  [[nodiscard]] bool runs() const override { return Offers(protocol::offer::kTerminal); }

  Async<Result<std::string>> Read(std::string path, CancelToken cancel) override {
    protocol::FileRead file;
    file.session_id = session_id_;
    file.path = std::move(path);
    Result<protocol::FileText> said =
        co_await Ask<method::FileRead>(loop_, services_, std::move(file), kReadTime, cancel);
    CO_RETURN_IF_ERROR(said);
    co_return CheckedText(std::move(said->text), tool::kMaxTextBytes);
  }

  Async<Status> Write(std::string path, std::string text, CancelToken cancel) override {
    protocol::FileWrite file;
    file.session_id = session_id_;
    file.path = std::move(path);
    file.text = std::move(text);
    CO_RETURN_IF_ERROR(
        co_await Ask<method::FileWrite>(loop_, services_, std::move(file), kWriteTime, cancel));
    co_return Status();
  }

  Async<Result<std::string>> OpenTerminal(tool::TerminalCommand command) override {
    protocol::TerminalOpen open;
    open.session_id = session_id_;
    open.command = std::move(command.program);
    open.args = std::move(command.arguments);
    open.environment = std::move(command.variables);
    open.cwd = std::move(command.cwd);
    open.max_bytes = static_cast<std::int64_t>(command.max_bytes);
    // Not cancelled: the client might open it all the same, and only with its id can we close it.
    const CancelToken never;
    Result<protocol::TerminalOpened> said =
        co_await Ask<method::TerminalOpen>(loop_, services_, std::move(open), kTerminalTime, never);
    CO_RETURN_IF_ERROR(said);
    CO_ASSIGN_OR_RETURN(std::string id,
                        CheckedText(std::move(said->terminal_id), kMaxTerminalName));
    if (id.empty()) co_return Fail(Code::kInvalid, "it gave the terminal no name");
    co_return id;
  }

  Async<Result<tool::TerminalEnd>> AwaitTerminal(std::string id, milliseconds within,
                                                 CancelToken cancel) override {
    const Result<protocol::TerminalEnd> end =
        co_await Ask<method::TerminalAwait>(loop_, services_, Ref(id), within, cancel);
    CO_RETURN_IF_ERROR(end);
    tool::TerminalEnd how;
    how.exit_code = end->exit_code;
    how.signal = OneLineText(end->signal.value_or("")).substr(0, 32);
    co_return how;
  }

  Async<Result<tool::TerminalOutput>> ReadTerminal(std::string id) override {
    const CancelToken never;
    Result<protocol::TerminalText> text =
        co_await Ask<method::TerminalText>(loop_, services_, Ref(id), kTerminalTime, never);
    CO_RETURN_IF_ERROR(text);
    tool::TerminalOutput output;
    CO_ASSIGN_OR_RETURN(output.text, CheckedText(std::move(text->text), tool::kMaxTextBytes));
    output.truncated = text->truncated;
    co_return output;
  }

  Async<Status> KillTerminal(std::string id) override {
    const CancelToken never;
    CO_RETURN_IF_ERROR(
        co_await Ask<method::TerminalKill>(loop_, services_, Ref(id), kTerminalTime, never));
    co_return Status();
  }

  void ReleaseTerminal(const std::string& id) override {
    services_->Ask(std::string(method::TerminalRelease::kInfo.name), Raw{Encode(Ref(id))},
                   [](const Result<Raw>&) {});
  }

 private:
  [[nodiscard]] protocol::TerminalRef Ref(const std::string& terminal) const {
    protocol::TerminalRef ref;
    ref.session_id = session_id_;
    ref.terminal_id = terminal;
    return ref;
  }
  [[nodiscard]] bool Offers(std::string_view what) const {
    return std::ranges::find(services_->offers(), what) != services_->offers().end();
  }

  Loop& loop_;
  const std::string session_id_;
  std::shared_ptr<client::Services> services_;
};

}  // namespace

std::shared_ptr<tool::Editor> MakeClientEditor(Loop& loop, std::string session_id,
                                               std::shared_ptr<client::Services> services) {
  return std::make_shared<ClientEditor>(loop, std::move(session_id), std::move(services));
}

}  // namespace stet::lane
