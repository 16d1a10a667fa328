// fault_child HOME FOLDER: makes a session that works in FOLDER, opens a child of it, and waits for
// the child's end. fault_child HOME FOLDER PARENT CHILD: goes on with the child of an earlier
// process. It says on standard output, one write(2) each:
//   opened PARENT CHILD   the child has its prompt: it must never be lost
//   ended REASON TEXT
// It ends with 0, with 3 when something failed.
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "base/guard/guard.h"
#include "device/model_access.h"
#include "lane/children.h"
#include "lane/lane.h"
#include "lane/lanes.h"
#include "sandbox/box.h"

namespace stet::fault {
namespace {

/// Not through stdio: what was said must be with the parent before the process can be killed.
bool Say(const std::string& text) {
  return ::write(STDOUT_FILENO, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

struct Places {
  std::string home;
  std::string folder;
  std::string parent;  // Empty: both sessions are made.
  std::string child;
};

Async<Result<std::string>> OpenParent(lane::Lanes& lanes, std::string folder) {
  protocol::Attach attach;
  attach.cwd = std::move(folder);
  attach.mode = "bypass";
  CO_ASSIGN_OR_RETURN(const std::string id, lanes.Name(attach));
  const std::optional<Environment> own;
  const Result<lane::Lane*> lane = co_await lanes.Open(id, attach, own);
  if (!lane) co_return std::unexpected(lane.error());
  co_return id;
}

Async<Status> Work(Places places, lane::Lanes& lanes, agent::Children& children) {
  if (places.parent.empty()) {
    CO_ASSIGN_OR_RETURN(places.parent, co_await OpenParent(lanes, places.folder));
    agent::ChildSpec spec{.parent_id = places.parent, .agent_id = "worker", .prompt = "do it"};
    CO_ASSIGN_OR_RETURN(places.child, co_await children.Open(std::move(spec)));
  } else {
    CO_RETURN_IF_ERROR(co_await children.Continue(places.parent, places.child));
  }
  if (!Say(fmt::format("opened {} {}\n", places.parent, places.child)))
    co_return Fail(Code::kIo, "nothing can be said");
  const CancelToken never;
  CO_ASSIGN_OR_RETURN(const agent::ChildEnd end, co_await children.Await(places.child, never));
  co_await lanes.CloseAll();
  if (!Say(fmt::format("ended {} {}\n", end.reason, end.text)))
    co_return Fail(Code::kIo, "nothing can be said");
  co_return Status();
}

}  // namespace
}  // namespace stet::fault

int main(int argc, char** argv) {
  using namespace stet;
  BecomeGuardIfAsked(argc, argv, sandbox::MakeBox);
  sandbox::BecomeConfinedIfAsked(argc, argv);
  if (argc != 3 && argc != 5) return 2;
  fault::Places places{.home = argv[1], .folder = argv[2], .parent = "", .child = ""};
  if (argc == 5) {
    places.parent = argv[3];
    places.child = argv[4];
  }
  const config::Roots roots{.data = places.home, .config = places.home};
  Loop loop;
  device::ModelAccess models(loop);
  lane::Lanes lanes(loop, roots, models);
  lane::LaneChildren children(loop, lanes);
  const Status done = loop.RunUntilDone(fault::Work(places, lanes, children));
  if (!done) (void)fault::Say("error " + done.error().Text() + "\n");
  return done ? 0 : 3;
}
