// What a host does for the methods about tasks. The lane knows its own; those of a session that
// sleeps, or that another process works on, are read from its folder, away from the loop.
#include "host/handler.h"
#include "lane/lane.h"
#include "lane/task_view.h"
#include "protocol/methods.h"
#include "store/session_store.h"

namespace stet::host {
namespace {

namespace method = protocol::method;

/// `read` is given the roots of the device.
template <class T, class Read>
Async<Result<T>> ReadAway(Host& host, Read read) {
  const config::Roots roots = host.options().roots;
  const CancelToken never;
  auto body = [roots, read](const CancelToken&) -> Result<T> { return read(roots); };
  co_return co_await tool::InThread<T>(host.loop(), never, std::move(body));
}

Async<Result<protocol::TaskList>> ListTasks(Asked<method::SessionTasks> asked) {
  const std::string id = asked.params.session_id;
  CO_ASSIGN_OR_RETURN(const std::shared_ptr<Hosted> session, asked.host.Find(id));
  const auto list = [](Result<protocol::TaskRows> rows) -> Result<protocol::TaskList> {
    if (!rows) return std::unexpected(rows.error());
    protocol::TaskList tasks;
    tasks.tasks = *std::move(rows);
    return tasks;
  };
  if (lane::Lane* lane = session->lane()) co_return list(lane->Tasks());
  const auto read = [list, id](const config::Roots& roots) -> Result<protocol::TaskList> {
    ASSIGN_OR_RETURN(const std::string dir, store::SessionStore(roots).Find(id));
    return list(lane::TasksIn(dir));
  };
  co_return co_await ReadAway<protocol::TaskList>(asked.host, read);
}

Async<Result<protocol::TaskOutput>> ReadOutput(Asked<method::SessionTaskOutput> asked) {
  const protocol::TaskOutputParams params = asked.params;
  CO_ASSIGN_OR_RETURN(const std::shared_ptr<Hosted> session, asked.host.Find(params.session_id));
  if (lane::Lane* lane = session->lane()) {
    protocol::TaskRange range;
    range.offset = params.offset;
    range.limit = params.limit;
    co_return lane->TaskOutput(params.task_id, range);
  }
  const auto read = [params](const config::Roots& roots) {
    return lane::TaskOutputIn(roots, params);
  };
  co_return co_await ReadAway<protocol::TaskOutput>(asked.host, read);
}

Async<Result<protocol::Nothing>> StopOne(Asked<method::SessionTaskStop> asked) {
  const std::string id = asked.params.session_id;
  const std::string task_id = asked.params.task_id;
  CO_ASSIGN_OR_RETURN(const std::shared_ptr<Hosted> session, asked.host.Find(id));
  if (lane::Lane* lane = session->lane()) {
    CO_RETURN_IF_ERROR(lane->StopTask(task_id));
    co_return protocol::Nothing();
  }
  const auto read = [id, task_id](const config::Roots& roots) -> Result<protocol::Nothing> {
    ASSIGN_OR_RETURN(const std::string dir, store::SessionStore(roots).Find(id));
    return std::unexpected(lane::WhyNotStopped(dir, task_id));
  };
  co_return co_await ReadAway<protocol::Nothing>(asked.host, read);
}

constexpr auto kTaskHandlers =
    HandlersOf(protocol::TaskMethods(),
               On<method::SessionTaskOutput>([](Asked<method::SessionTaskOutput> asked) {
                 return ReadOutput(std::move(asked));
               }),
               On<method::SessionTaskStop>(
                   [](Asked<method::SessionTaskStop> asked) { return StopOne(std::move(asked)); }),
               On<method::SessionTasks>(
                   [](Asked<method::SessionTasks> asked) { return ListTasks(std::move(asked)); }));

}  // namespace

std::span<const Handler> TaskHandlers() { return kTaskHandlers; }

}  // namespace stet::host
