// Capsules from arbitrary text: checking never crashes; one without errors is read, encodes to a
// fixed point, renders within its bounds and can be restored.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "run/capsule/restore.h"

namespace stet::fuzz {
namespace {

void CheckValid(const run::Capsule& capsule) {
  const std::string text = Encode(capsule);
  CHECK(run::CheckCapsule(text).valid(), "what was read can be written and read again");
  const std::string shown = run::RenderCapsule(capsule);
  CHECK(IsValidUtf8(shown) && shown.size() <= run::kMaxRendered, "it renders within its bounds");
  const run::RestoreFacts facts{.session_ids = {capsule.session_id},
                                .reader = [](const std::string& path) -> Result<std::string> {
                                  if (path.size() % 2 == 0) return Fail(Code::kNotFound, "");
                                  return "one\ntwo\n" + path;
                                }};
  run::State state;
  const run::Restored restored = run::RestoreCapsule(capsule, state, facts);
  CHECK(CheckJson(run::VerdictsJson(restored).text).has_value(), "verdicts are JSON");
  CHECK(IsValidUtf8(run::RenderRestored(restored)), "and can be told");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const run::CapsuleCheck check = run::CheckCapsule(text);
  const Result<run::Capsule> capsule = run::ReadCapsule(text);
  CHECK(capsule.has_value() == check.valid(), "what has no errors can be read, and nothing else");
  if (capsule) return CheckValid(*capsule), 0;
  // Most texts fail by their digest alone: seal what has the right shape.
  Result<run::Capsule> decoded = Decode<run::Capsule>(text);
  if (!decoded) return 0;
  decoded->digest = run::CapsuleDigest(*decoded);
  const std::string sealed = Encode(*decoded);
  if (run::CheckCapsule(sealed).valid()) CheckValid(*run::ReadCapsule(sealed));
  return 0;
}

}  // namespace stet::fuzz
