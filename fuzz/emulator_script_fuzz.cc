// Scripts and requests from arbitrary bytes: a script that parses can be planned in every dialect,
// and what is planned is cut where it says.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "emulator/http.h"
#include "emulator/plan.h"
#include "emulator/request_facts.h"
#include "emulator/script.h"

namespace stet::fuzz {
namespace {

using emulator::Dialect;

void CheckPlan(const emulator::Plan& plan) {
  std::size_t last = 0;
  for (const std::size_t end : plan.ends) {
    CHECK(end >= last && end <= plan.bytes.size(), "writes follow each other");
    last = end;
  }
  CHECK(last == plan.bytes.size(), "all bytes are written");
}

void CheckReply(const emulator::Reply& reply, std::string_view body) {
  // Some megabytes of events for a kilobyte of script say nothing new.
  if (reply.fault && reply.fault->bytes > (std::size_t{1} << 16)) return;
  for (std::size_t i = 0; i < emulator::kDialects; ++i) {
    const auto dialect = static_cast<Dialect>(i);
    const emulator::RequestFacts facts =
        emulator::ReadFacts(dialect, "/models/m:streamGenerateContent", body);
    (void)emulator::Mismatch(reply.when, facts, 1);
    const emulator::Exchange exchange{.dialect = dialect, .model = facts.model};
    CheckPlan(emulator::MakePlan(exchange, reply));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)emulator::ParseHead(text);
  const Result<emulator::Script> script = emulator::ParseScript(text);
  if (!script) return 0;
  for (const emulator::Reply& reply : script->replies) CheckReply(reply, text);
  return 0;
}

}  // namespace stet::fuzz
