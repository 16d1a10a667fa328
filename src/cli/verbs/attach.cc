// `stet attach`: takes part in a session of the background host.
#include "cli/verb.h"

namespace stet::cli {

VerbEntry AttachVerb() {
  return {"attach", "Take part in a session that the background host works on", [](Verb& attach) {
            const auto given = std::make_shared<face::WorkOptions>();
            given->resume = "";
            attach.options = {
                {"SESSION", &*given->resume,
                 "Its id, or a beginning of it; the newest of this folder by default"},
                {"--cwd", &given->cwd, "Instead of this folder"},
            };
            attach.run = [given](const VerbEnvironment& with) {
              return with.faces.attach(*given, with.clients, with.console);
            };
          }};
}

}  // namespace stet::cli
