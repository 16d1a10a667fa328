// Settings from arbitrary text: reading them never crashes; settings that are accepted give, for
// every model they name, a model that can be asked or an error that says why not.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/utf8.h"
#include "config/settings.h"
#include "provider/dialect.h"
#include "provider/selection.h"

namespace stet::fuzz {
namespace {

using std::chrono::milliseconds;

void CheckError(const Error& error) {
  CHECK(!error.message.empty() && IsValidUtf8(error.Text()), "an error explains itself");
}

/// Clocks are added to the time of day, and waits are doubled.
void CheckWait(milliseconds wait) {
  CHECK(wait > milliseconds(0) && wait <= std::chrono::days(366), "a wait has a sane length");
}

void CheckAccess(const provider::Access& access) {
  const provider::Model& model = access.model;
  CHECK(!model.id.empty() && !model.FullName().empty(), "a model has a name");
  CHECK(model.context_window > 0 && model.max_output > 0, "it can hear and say something");
  CheckWait(model.clocks.connect);
  CheckWait(model.clocks.first_byte);
  CheckWait(model.clocks.idle_warn);
  CheckWait(model.clocks.idle_fail);
  CheckWait(model.clocks.whole.value_or(milliseconds(1)));
  if (model.dialect == provider::Dialect::kOffline) return;
  provider::Request request;
  request.system.emplace_back("Be brief.");
  const Result<provider::WireRequest> wire = provider::EncodeRequest(model, request);
  CHECK(wire.has_value(), "a request without images can be written");
  CHECK(Raw::From(wire->body).has_value(), "as JSON");
}

void CheckSelection(const config::Settings& settings, const std::string& asked) {
  const auto keys = [](const std::string&) { return std::string("key"); };
  const Result<provider::Selected> selected = provider::SelectModel(settings, asked, keys);
  if (!selected) return CheckError(selected.error());
  CheckAccess(selected->access);
  if (selected->fallback) CheckAccess(*selected->fallback);
  CheckWait(selected->retry.first_wait);
  CheckWait(selected->retry.longest_wait);
  CheckWait(selected->retry.longest_asked_wait);
  CHECK(selected->retry.max_tries > 0, "a model is asked at least once");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<config::Settings> settings = config::ParseSettings(text, "config.toml");
  if (!settings) {
    CheckError(settings.error());
    return 0;
  }
  CheckSelection(*settings, "");
  CheckSelection(*settings, "offline");
  CheckSelection(*settings, "anthropic/unheard-of");
  for (const auto& [name, model] : settings->models) CheckSelection(*settings, name);
  return 0;
}

}  // namespace stet::fuzz
