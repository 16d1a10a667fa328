// LaneChildren: agent::Children over the lanes of this process.
#pragma once

#include "agent/children.h"
#include "lane/lanes.h"

namespace stet::lane {

class LaneChildren final : public agent::Children {
 public:
  /// Both outlive it.
  LaneChildren(Loop& loop, Lanes& lanes) : loop_(loop), lanes_(lanes) {}

  Async<Result<std::string>> Open(agent::ChildSpec spec) override;
  Async<Status> Send(std::string child_id, std::string text) override;
  Async<Status> Continue(std::string parent_id, std::string child_id) override;
  Async<Result<agent::ChildEnd>> Await(std::string child_id, CancelToken cancel) override;
  void Cancel(const std::string& child_id) override;

 private:
  Loop& loop_;
  Lanes& lanes_;
};

}  // namespace stet::lane
