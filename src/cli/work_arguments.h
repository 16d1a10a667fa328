// What `stet [PROMPT]`, `stet -p` and `stet --output-format stream-json` take and run.
#pragma once

#include "cli/verb.h"

namespace stet::cli {

/// Makes it what the program does without a verb.
void DescribeWork(Verb& program);

}  // namespace stet::cli
