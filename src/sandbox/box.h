// Box: a profile around a command, for the guard that runs it (base/guard/box.h).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/guard/box.h"
#include "base/result.h"
#include "json/describe.h"
#include "sandbox/profile.h"

namespace stet::sandbox {

/// What a guard's order says of the box, as JSON.
struct BoxOrder {
  STET_FIELDS(BoxOrder,
              (Text, mechanism),
              (Profile, profile),  // Without namespaces of our own: with a temp.
              (Text, empty),  // What stands for hidden files: for bubblewrap, and where only they go.
              (Text, report))  // A file that is there, for what the proxy refuses; or empty.
};

/// The maker of boxes for BecomeGuardIfAsked.
Result<std::unique_ptr<guard::Box>> MakeBox(std::string_view order);

/// Behind BecomeGuardIfAsked in main. Does not return in a process that bubblewrap was told to
/// start: it goes on from there, inside.
void BecomeConfinedIfAsked(int argc, char** argv);

}  // namespace stet::sandbox
