// `stet acp` is a face of its own, which is run before this: named here for the help. Editors
// append `setup` to let a user log in.
#include "cli/verb.h"
#include "cli/verbs/setup.h"

namespace stet::cli {

VerbEntry AcpVerb() {
  return {"acp", "Serve an editor over stdin and stdout (Agent Client Protocol)", [](Verb& acp) {
            acp.wrong = [] { return "acp takes no options"; };
            acp.verbs = {{.name = "setup",
                          .help = "The same as `stet setup`, where an editor runs it",
                          .run = SetsUp(std::make_shared<SetupArguments>())}};
          }};
}

}  // namespace stet::cli
