// The offline model's plan for arbitrary text: it never crashes, and what it plans are calls with
// arguments that are a JSON object, and a sentence.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/utf8.h"
#include "json/view.h"
#include "provider/offline/plan.h"

namespace stet::fuzz {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto plan = provider::PlanRequest(text);
  if (!plan) return 0;
  CHECK(!plan->empty(), "a plan has a call");
  for (const provider::PlannedCall& call : *plan) {
    CHECK(!call.tool.empty() && !call.saying.empty(), "a call has a tool and a sentence");
    CHECK(Raw::From(call.args.text).has_value(), "arguments are JSON");
    CHECK(JsonView(call.args.text).is_object(), "and an object");
    CHECK(IsValidUtf8(call.saying) || !IsValidUtf8(text), "a plan breaks no character");
  }
  return 0;
}

}  // namespace stet::fuzz
