// What a host does for the methods that only read what sessions have stored.
#include <algorithm>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/display_width.h"
#include "base/fs.h"
#include "client/await.h"
#include "device/projects.h"
#include "host/handler.h"
#include "host/local/sessions.h"
#include "log/blobs.h"
#include "log/paths.h"
#include "protocol/ids.h"
#include "protocol/methods.h"
#include "store/session_store.h"

namespace stet::host {
namespace {

namespace method = protocol::method;
using config::Roots;
using protocol::SessionRef;
using protocol::SessionSummary;

constexpr std::int64_t kListed = 200;

Result<protocol::SessionList> ListSessions(const Roots& roots, const protocol::ListParams& params) {
  protocol::SessionList list;
  ASSIGN_OR_RETURN(list.sessions, store::SessionStore(roots).List(params.all.value_or(false)));
  if (params.project_id) {
    ASSIGN_OR_RETURN(const protocol::Projects projects, device::Projects(roots).List());
    const auto found =
        std::ranges::find(projects, *params.project_id, &protocol::Project::project_id);
    if (found == projects.end())
      return Fail(Code::kNotFound,
                  fmt::format("no project {}: projects.list names them", *params.project_id));
    std::erase_if(list.sessions,
                  [&](const SessionSummary& session) { return session.project_id != found->path; });
  }
  if (params.text) {
    const std::string wanted = FoldedText(*params.text);
    std::erase_if(list.sessions, [&](const SessionSummary& session) {
      return !FoldedText(session.title).contains(wanted) &&
             !FoldedText(session.first_prompt).contains(wanted) &&
             !FoldedText(session.last_prompt).contains(wanted);
    });
  }
  const auto limit = static_cast<std::size_t>(params.limit.value_or(kListed));
  list.sessions.resize(std::min(list.sessions.size(), limit));
  return list;
}

/// It must fit into a frame; looked at before it is read.
Result<protocol::Blob> ReadBlob(const Roots& roots, const protocol::BlobParams& params) {
  constexpr std::uint64_t kLargest = (std::uint64_t{7} << 20);
  ASSIGN_OR_RETURN(const std::string dir, store::SessionStore(roots).Find(params.session_id));
  const log::Blobs blobs(log::Paths{dir}.blobs());
  const Result<FileStat> file = log::Blobs::IsName(params.name)
                                    ? StatFile(blobs.PathOf(params.name))
                                    : Fail(Code::kInvalid, "that cannot name a blob");
  if (!file) return std::unexpected(file.error());
  if (file->size > kLargest)
    return Fail(Code::kFull,
                fmt::format("the blob has {} bytes, and a frame carries blobs up to {}: export the "
                            "session to have it",
                            file->size, kLargest));
  ASSIGN_OR_RETURN(const std::string bytes, blobs.Get(params.name));
  protocol::Blob blob;
  blob.name = params.name;
  AppendBase64(blob.base64, bytes);
  return blob;
}

Result<SessionRef> LatestSession(const Roots& roots, const protocol::FolderParams& params) {
  SessionRef ref;
  ASSIGN_OR_RETURN(ref.session_id, store::SessionStore(roots).Newest(params.cwd));
  return ref;
}

Result<SessionRef> CloneOne(const Roots& roots, const protocol::CloneParams& params) {
  SessionRef ref;
  ASSIGN_OR_RETURN(ref.session_id,
                   client::Await(*MakeLocalSessions(roots), &client::Sessions::Clone,
                                 params.session_id, params.at));
  return ref;
}

Async<Result<protocol::EventList>> RecentOf(Asked<method::SessionRecent> asked) {
  const protocol::RecentParams& params = asked.params;
  CO_ASSIGN_OR_RETURN(const std::shared_ptr<Hosted> session, asked.host.Find(params.session_id));
  CO_ASSIGN_OR_RETURN(
      std::vector<std::string> lines,
      session->Recent(static_cast<std::size_t>(std::max<std::int64_t>(params.count, 0))));
  protocol::EventList list;
  for (std::string& line : lines) list.events.push_back(Raw{std::move(line)});
  co_return list;
}

Async<Result<protocol::TurnList>> TurnsOf(Asked<method::SessionTurns> asked) {
  CO_ASSIGN_OR_RETURN(const std::shared_ptr<Hosted> session,
                      asked.host.Find(asked.params.session_id));
  protocol::TurnList list;
  CO_ASSIGN_OR_RETURN(list.turns, session->Turns());
  co_return list;
}

constexpr auto kStoredHandlers = HandlersOf(
    protocol::StoredMethods(),
    On<method::SessionBlob>([](const Roots& roots, const protocol::BlobParams& params) {
      return ReadBlob(roots, params);
    }),
    On<method::SessionClone>([](const Roots& roots, const protocol::CloneParams& params) {
      return CloneOne(roots, params);
    }),
    On<method::SessionContext>([](const Roots& roots, const SessionRef& ref) {
      return client::Await(*MakeLocalSessions(roots), &client::Sessions::Context, ref.session_id,
                           protocol::ContextWanted());
    }),
    On<method::SessionCost>([](const Roots& roots, const SessionRef& ref) {
      return client::Await(*MakeLocalSessions(roots), &client::Sessions::Cost, ref.session_id);
    }),
    On<method::SessionDescribe>([](const Roots& roots, const SessionRef& ref) {
      return store::SessionStore(roots).Describe(ref.session_id);
    }),
    On<method::SessionRecent>(
        [](Asked<method::SessionRecent> asked) { return RecentOf(std::move(asked)); }),
    On<method::SessionRun>([](const Roots& roots, const SessionRef& ref) {
      return client::Await(*MakeLocalSessions(roots), &client::Sessions::Run, ref.session_id);
    }),
    On<method::SessionTree>([](const Roots& roots, const SessionRef& ref) {
      return client::Await(*MakeLocalSessions(roots), &client::Sessions::Tree, ref.session_id);
    }),
    On<method::SessionTurns>(
        [](Asked<method::SessionTurns> asked) { return TurnsOf(std::move(asked)); }),
    On<method::SessionsLatest>([](const Roots& roots, const protocol::FolderParams& params) {
      return LatestSession(roots, params);
    }),
    On<method::SessionsList>([](const Roots& roots, const protocol::ListParams& params) {
      return ListSessions(roots, params);
    }),
    On<method::SessionsSearch>([](const Roots& roots, const protocol::ListParams& params) {
      return ListSessions(roots, params);
    }));

}  // namespace

std::span<const Handler> StoredHandlers() { return kStoredHandlers; }

}  // namespace stet::host
