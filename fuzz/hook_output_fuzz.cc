// What a hook wrote, from arbitrary bytes: reading it never crashes, what is taken from it is
// bounded UTF-8, and what is wrong with it is said.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "hook/kinds.h"
#include "json/json.h"

namespace stet::fuzz {
namespace {

void CheckText(std::string_view text) {
  CHECK(IsValidUtf8(text), "texts are UTF-8");
  CHECK(text.size() < hook::kMaxTextBytes + 100, "texts are bounded");
}

void CheckOutput(const Result<hook::Output>& output) {
  if (!output) {
    CHECK(!output.error().message.empty() && IsValidUtf8(output.error().Text()),
          "an error explains itself");
    return;
  }
  CheckText(output->reason);
  CheckText(output->stop_reason);
  CheckText(output->context);
  CheckText(output->message);
  CheckText(output->updated_output.value_or(""));
  if (output->updated_input)
    CHECK(Raw::From(output->updated_input->text).has_value(), "an input is JSON");
  for (const hook::FindingChange& change : output->findings) CheckText(change.text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto event = static_cast<hook::Event>(data[0] % 16);
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  CheckOutput(hook::ReadOutput(event, text));
  CheckOutput(hook::ReadPromptReply(event, text));
  CheckOutput(hook::BlockOf(event, text));
  hook::Verdict verdict;
  if (Result<hook::Output> output = hook::ReadOutput(event, text))
    Add(verdict, {.by = "hook", .output = *std::move(output), .trouble = {}});
  return 0;
}

}  // namespace stet::fuzz
