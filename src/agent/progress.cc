#include "agent/progress.h"

namespace stet::agent {

bool Progress::Stalls(const std::vector<std::string>& findings) {
  bool anything_new = findings.empty();
  for (const std::string& finding : findings) anything_new |= seen_.insert(finding).second;
  nothing_new_ = anything_new ? 0 : nothing_new_ + 1;
  if (nothing_new_ < kStepsBeforeAsking) return false;
  nothing_new_ = 0;
  return true;
}

}  // namespace stet::agent
