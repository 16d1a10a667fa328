// PutBack: changes a project so that it is again as lines of an undo plan want it.
//
// Everything is done in folders that are held, found without following a link. What stands there is
// looked at again first: a path that is not as the plan saw it is left alone. Afterwards each is
// looked at once more: only what was found to be as wanted, by its content, counts. Blocks on the
// disk: for threads.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tool/checkpoint/plan.h"

namespace stet::tool {

struct PutBackWish {
  std::string project;
  std::vector<UndoLine> lines;
  /// The content of a file, from wherever it is kept.
  std::function<Result<std::string>(const Kept&)> content;
};

struct PutBackLine {
  bool restored = false;  // It was found to be as wanted afterwards.
  std::string why;        // Why not, for people.
};

/// One for each line of the wish.
std::vector<PutBackLine> PutBack(const PutBackWish& wish);

/// Whether the content that the line wants can be had; why not.
Status CanPutBack(const PutBackWish& wish, const UndoLine& line);

}  // namespace stet::tool
