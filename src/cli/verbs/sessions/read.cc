// What of `stet sessions` only reads: ls, show, capsule and tree.
#include <algorithm>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/display_width.h"
#include "cli/display_view.h"
#include "cli/tree_view.h"
#include "cli/verbs/sessions/sessions.h"
#include "face/cost_view.h"

namespace stet::cli {
namespace {

std::string Padded(std::string_view text, std::size_t columns) {
  std::string fitted = FitText(PrintableText(text), columns);
  fitted.append(columns - std::min(columns, TextWidth(fitted)), ' ');
  return fitted;
}

/// A child stands under its root, further in, with what it is for.
std::string IndentedId(const protocol::SessionSummary& row) {
  return row.root_session_id ? "  " + row.session_id : row.session_id;
}

std::string TitleOf(const protocol::SessionSummary& row) {
  if (!row.root_session_id) return row.title;
  const std::string agent = row.agent_id ? " " + *row.agent_id : "";
  return fmt::format("[{}{}] {}", row.kind, agent, row.title);
}

Result<int> Cost(const SessionsWork& work, const std::string& id) {
  ASSIGN_OR_RETURN(const protocol::CostReport report,
                   client::Await(work.sessions, &client::Sessions::Cost, id));
  if (work.given.json) return work.PrintJson(report);
  return work.Print(face::CostText(report));
}

}  // namespace

Result<int> ListSessions(const SessionsWork& work) {
  ASSIGN_OR_RETURN(const std::vector<protocol::SessionSummary> rows,
                   client::Await(work.sessions, &client::Sessions::List, work.given.all));
  if (work.given.json) return work.PrintJson(rows);
  if (rows.empty()) {
    work.console.Say("There are no sessions yet.");
    return face::kExitDone;
  }
  std::size_t id_columns = 0;  // An id is never cut: it is there to be copied.
  for (const protocol::SessionSummary& row : rows)
    id_columns = std::max(id_columns, IndentedId(row).size());
  constexpr std::size_t kAgeColumns = 12;
  constexpr std::size_t kCountColumns = 6;
  const std::size_t used = id_columns + kAgeColumns + kCountColumns + 6;
  const std::size_t title_columns =
      std::max<std::size_t>(20, work.console.columns() - std::min(work.console.columns(), used));
  const Millis now = SystemClock().Now();
  std::string out = work.console.Styled(
      face::Style::kDim, fmt::format("{:<{}}  {:<{}}  {:>{}}  {}\n", "ID", id_columns, "UPDATED",
                                     kAgeColumns, "TURNS", kCountColumns, "TITLE"));
  for (const protocol::SessionSummary& row : rows) {
    out += fmt::format("{}  {}  {:>{}}  {}\n", Padded(IndentedId(row), id_columns),
                       Padded(face::AgeText(row.updated_at, now), kAgeColumns), row.user_messages,
                       kCountColumns, TitleText(TitleOf(row), title_columns));
  }
  return work.Print(out);
}

Result<int> ShowSession(const SessionsWork& work) {
  ASSIGN_OR_RETURN(const std::string id, work.Id());
  if (work.given.cost) return Cost(work, id);
  bool reader_stays = true;
  if (work.given.json) {
    RETURN_IF_ERROR(client::Await(work.sessions, &client::Sessions::RawEvents, id, work.given.at,
                                  [&](const protocol::Event& event) {
                                    std::string line;
                                    EncodeEvent(event, line);
                                    return reader_stays = work.console.PrintJson(line + '\n');
                                  }));
  } else {
    RETURN_IF_ERROR(client::Await(work.sessions, &client::Sessions::Transcript, id, work.given.at,
                                  [&](const protocol::DisplayRow& row) {
                                    return reader_stays =
                                               work.console.Print(DisplayText(row, work.console));
                                  }));
  }
  return reader_stays ? face::kExitDone : face::kExitFailed;
}

Result<int> ShowCapsule(const SessionsWork& work) {
  ASSIGN_OR_RETURN(const std::string id, work.Id());
  ASSIGN_OR_RETURN(const protocol::CapsuleReport report,
                   client::Await(work.sessions, &client::Sessions::Capsule, id));
  if (work.given.json) return work.PrintJsonText(report.capsule.text + "\n");
  return work.Print(PrintableText(report.text) + "\n");
}

Result<int> ShowTree(const SessionsWork& work) {
  ASSIGN_OR_RETURN(const std::string id, work.Id());
  ASSIGN_OR_RETURN(const protocol::SessionTree tree,
                   client::Await(work.sessions, &client::Sessions::Tree, id));
  if (work.given.json) return work.PrintJson(tree);
  return work.Print(TreeText(tree, work.given.all, work.console));
}

}  // namespace stet::cli
