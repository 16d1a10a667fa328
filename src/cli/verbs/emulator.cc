// `stet emulator` is a program of its own, which is run before this: named here for the help.
#include "cli/verb.h"

namespace stet::cli {

VerbEntry EmulatorVerb() {
  return {"emulator", "Serve a scripted model on this machine, for developers", [](Verb& emulator) {
            emulator.wrong = [] {
              return "emulator is the first word, with its own options behind it";
            };
          }};
}

}  // namespace stet::cli
