// Every method of the wire, once: name, params, reply, right and errors. Handlers, clients, HTTP's
// names, openapi.json and the JSON Schemas are made from these tables. A type's name is its
// method's: session.send is method::SessionSend.
#pragma once

#include "protocol/client_methods.h"
#include "protocol/device_methods.h"
#include "protocol/session_methods.h"

namespace stet::protocol {

// In groups, as handlers are brought; each in the order of its names.

using DeviceMethods =
    MethodList<method::ConfigGet, method::DeviceExamine, method::ExtensionsList, method::HooksList,
               method::HostKeep, method::HostStatus, method::HostStop, method::ModelsList,
               method::ProjectsBrowse, method::ProjectsList, method::ProjectsRegister,
               method::ProjectsRemove, method::TrustGet, method::VaultList>;

using SessionMethods =
    MethodList<method::SessionAnswer, method::SessionAnswerQuestion, method::SessionBranch,
               method::SessionCancel, method::SessionChange, method::SessionCommand,
               method::SessionDelete, method::SessionFiles, method::SessionMark,
               method::SessionPermissions, method::SessionReport, method::SessionRewind,
               method::SessionRewriteQueue, method::SessionSend, method::SessionState,
               method::SessionsOpen>;

using TaskMethods =
    MethodList<method::SessionTaskOutput, method::SessionTaskStop, method::SessionTasks>;

/// What is read from the log's files alone.
using StoredMethods =
    MethodList<method::SessionBlob, method::SessionClone, method::SessionContext,
               method::SessionCost, method::SessionDescribe, method::SessionRecent,
               method::SessionRun, method::SessionTree, method::SessionTurns,
               method::SessionsLatest, method::SessionsList, method::SessionsSearch>;

/// Of the line that asks: what it hears and what its client does.
using LineMethods =
    MethodList<method::SessionOffer, method::SessionSubscribe, method::SessionUnsubscribe>;

/// Calls `visit.template operator()<M>()` for each method of a host.
template <class Visit>
constexpr void ForEachHostMethod(Visit visit) {
  DeviceMethods::ForEach(visit);
  SessionMethods::ForEach(visit);
  TaskMethods::ForEach(visit);
  StoredMethods::ForEach(visit);
  LineMethods::ForEach(visit);
}

}  // namespace stet::protocol
