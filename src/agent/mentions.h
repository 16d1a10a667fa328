// Mentions: files that a user's text names as @PATH. Their content goes along with the message, as
// if it had been read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/workbench.h"
#include "base/async.h"
#include "base/cancel.h"

namespace stet::agent {

/// The paths behind each @ that begins a word, in order, each once: `@src/a.cc`, `@"a b.txt"`.
/// Marks of punctuation at the end do not belong to a path.
std::vector<std::string> FindMentions(std::string_view text);

/// The images among the mentions, as blocks for the message; kInvalid when one is too large.
Result<protocol::Blocks> MentionedImages(Workbench& bench, std::string_view text);

/// Behind the message: the content of the files that it mentions and that may be read unasked. A
/// name of no file is the user's own business.
Async<Status> AppendMentions(Workbench& bench, std::string text, protocol::Stamp stamp,
                             CancelToken cancel);

}  // namespace stet::agent
