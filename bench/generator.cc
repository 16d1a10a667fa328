#include "bench/generator.h"

#include "base/clock.h"
#include "protocol/ids.h"

namespace stet::bench {

Result<Generated> GenerateSession(const std::string& parent, const GenerateOptions& options) {
  if (options.bytes == 0 && options.events == 0)
    return Fail(Code::kInvalid, "say how many bytes or events");
  static const TextPool pool(42);
  Random ids(options.seed);
  Random choices(options.seed ^ 0x9e3779b97f4a7c15U);
  FakeClock clock;
  protocol::Header header;
  header.session_id = protocol::NewSessionId(ids);
  header.device_id = "dev_generator";
  header.kind = "chat";
  header.meta.project_id = "proj_" + std::to_string(options.seed % 7);
  header.meta.cwd = "/project";
  header.meta.model = "model-large";
  const std::string dir = parent + "/" + header.session_id;
  log::Options log_options{.durability = log::Durability::kRelaxed, .device_id = header.device_id};
  log_options.clock = &clock;
  log_options.random = &ids;
  ASSIGN_OR_RETURN(const std::unique_ptr<log::Log> log, log::Log::Create(dir, header, log_options));
  SessionPlayer player(*log, choices, pool, options.player);
  const auto enough = [&] {
    return (options.bytes > 0 && log->index().bytes() >= options.bytes) ||
           (options.events > 0 && log->index().entries().size() >= options.events);
  };
  while (!enough()) {
    RETURN_IF_ERROR(player.Step());
    clock.Advance(std::chrono::milliseconds(choices.Below(4000)));
  }
  Generated generated{header.session_id, dir, log->index().entries().size(), log->index().bytes()};
  RETURN_IF_ERROR(log->Close());
  return generated;
}

}  // namespace stet::bench
