// `stet sessions restore-files`: files as they were at an event of a session.
#include <algorithm>

#include <fmt/format.h>

#include "base/display_width.h"
#include "cli/verbs/sessions/sessions.h"

namespace stet::cli {
namespace {

std::string LineOf(const protocol::FileRow& row, std::string_view what) {
  std::string line = fmt::format("{} {}", what, row.path);
  for (std::size_t i = 0; i < row.by.size(); ++i)
    line += fmt::format("{}{}", i == 0 ? " (by " : ", ", row.by[i]);
  if (!row.by.empty()) line += ")";
  if (row.reason) line += fmt::format(": {}", *row.reason);
  return PrintableText(OneLineText(line)) + "\n";
}

/// What would be done with it; afterwards, what was.
std::string_view WhatOf(const protocol::FileRow& row, bool named) {
  const bool deletes = row.undo == "delete";
  if (row.restored) return deletes ? "deleted" : "put back";
  if (!row.can_restore) return "cannot put back";
  if (row.changed_since && !named) return row.by.empty() ? "not its" : "not only its";
  return deletes ? "to delete" : "to put back";
}

Result<int> Print(const SessionsWork& work, const protocol::FileRows& rows,
                  const protocol::Texts& include) {
  std::string text;
  for (const protocol::FileRow& row : rows)
    text += LineOf(row, WhatOf(row, std::ranges::find(include, row.path) != include.end()));
  return work.Print(text);
}

/// Those that others changed as well: only `--all` puts them back.
protocol::Texts OthersIn(const protocol::FileRows& rows) {
  protocol::Texts others;
  for (const protocol::FileRow& row : rows) {
    if (row.can_restore && row.changed_since) others.push_back(row.path);
  }
  return others;
}

}  // namespace

Result<int> RestoreFiles(const SessionsWork& work, client::Live& live) {
  const SessionsArguments& given = work.given;
  protocol::Attach attach;
  ASSIGN_OR_RETURN(attach.session_id, work.Id());
  ASSIGN_OR_RETURN(const protocol::SessionSummary summary,
                   client::Await(work.sessions, &client::Sessions::Describe, *attach.session_id));
  attach.cwd = summary.cwd;
  ASSIGN_OR_RETURN(const std::unique_ptr<client::LiveSession> session,
                   client::Await(live, &client::Live::Attach, attach,
                                 client::FaceSide{.watcher = [](const protocol::Event*,
                                                                const protocol::Transient*) {}}));
  protocol::FilesParams wanted;
  if (given.event != "start") wanted.target = given.event;
  ASSIGN_OR_RETURN(protocol::FileRows rows,
                   client::Await(*session, &client::LiveSession::FilesSince, wanted));
  const protocol::Texts others = OthersIn(rows);
  const auto would = std::ranges::count_if(rows, [&](const protocol::FileRow& row) {
    return row.can_restore && (given.all || !row.changed_since);
  });
  if (given.all) wanted.include = others;
  const protocol::Texts include = wanted.include.value_or(protocol::Texts());
  if (given.dry_run || would == 0) {
    if (given.json) return work.PrintJson(protocol::FileList{.files = rows});
    if (rows.empty()) work.console.Say("Every file that undo covers is as it was then.");
    RETURN_IF_ERROR(Print(work, rows, include));
    if (!others.empty() && !given.all)
      work.console.Say(
          "--all puts back those too that something else changed: yours are undone by it.");
    return face::kExitDone;
  }
  if (!given.json) RETURN_IF_ERROR(Print(work, rows, include));
  if (!given.yes && !work.console.Ask(fmt::format("Put {} back?", Plural(would, "file")))) {
    work.console.Say(work.console.interactive()
                         ? "Nothing was done."
                         : "Nothing was done: there is no terminal to ask at. Add --yes to go on.");
    return face::kExitFailed;
  }
  wanted.restore = true;
  wanted.stop_tasks = given.stop_tasks;
  ASSIGN_OR_RETURN(rows, client::Await(*session, &client::LiveSession::FilesSince, wanted));
  RETURN_IF_ERROR(client::Await(*session, &client::LiveSession::Close));
  const auto restored = std::ranges::count_if(rows, &protocol::FileRow::restored);
  if (given.json) {
    RETURN_IF_ERROR(work.PrintJson(protocol::FileList{.files = rows}));
  } else {
    work.console.Say(fmt::format("{} of {} put back.", restored, Plural(rows.size(), "file")));
    protocol::FileRows rest;
    std::ranges::copy_if(rows, std::back_inserter(rest), [&](const protocol::FileRow& row) {
      return !row.restored && (given.all || !row.changed_since);
    });
    RETURN_IF_ERROR(Print(work, rest, include));
  }
  const bool all_can = std::ranges::all_of(rows, &protocol::FileRow::can_restore);
  return restored == would && all_can ? face::kExitDone : face::kExitFailed;
}

}  // namespace stet::cli
