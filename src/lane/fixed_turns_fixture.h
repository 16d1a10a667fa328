// FixedTurns: a lane's turns as a test says they are; none ever begins.
#pragma once

#include "lane/lane_turns.h"

namespace stet::lane {

class FixedTurns final : public LaneTurns {
 public:
  [[nodiscard]] bool working() const override { return works; }
  [[nodiscard]] bool MayBegin() const override { return false; }
  Status Begin(const Beginning&) override { return Fail(Code::kBusy, "no turn begins here"); }

  bool works = false;
};

}  // namespace stet::lane
