// What an extension's manifest and its answers say, from arbitrary bytes: reading them never
// crashes, what is taken is bounded, and what is wrong is said.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "hook/extension/manifest.h"
#include "hook/extension/reply.h"

namespace stet::fuzz {
namespace {

template <class T>
void CheckError(const Result<T>& result) {
  if (result) return;
  CHECK(!result.error().message.empty() && IsValidUtf8(result.error().Text()),
        "an error explains itself");
}

void CheckReplies(const Raw& reply) {
  const auto operations = hook::ReadOperations(reply);
  CheckError(operations);
  if (operations) {
    for (const hook::ContextOperation& operation : *operations) {
      CHECK(IsValidUtf8(operation.text) && operation.text.size() < 40'000, "texts are bounded");
      CHECK(operation.kind == hook::ContextOperation::Kind::kAppend || !operation.events.empty(),
            "what changes events names them");
    }
  }
  CheckError(hook::ReadToolReply(reply));
  CheckError(hook::ReadCommandReply(reply));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (Result<Raw> reply = Raw::From(text)) CheckReplies(*reply);
  if (!IsValidUtf8(text)) return 0;
  const Result<hook::ExtensionManifest> manifest = hook::ParseManifest(text, "extension.toml");
  CheckError(manifest);
  if (manifest) CHECK(!manifest->id.empty() && !manifest->command.empty(), "it can be started");
  return 0;
}

}  // namespace stet::fuzz
