// Heredocs in a form that the parser takes. Pure.
#pragma once

#include <string>
#include <string_view>

namespace stet::policy {

/// `a <<E 2>&1 | b` is written `a 2>&1 <<E | b`, which means the same to bash and is in the
/// grammar; all else stays as it is. Neither form divides words or quotes in another way, wherever
/// it stands.
std::string WithHeredocsLast(std::string_view line);

}  // namespace stet::policy
