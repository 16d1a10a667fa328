#include "host/local/models.h"

#include <cstdlib>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/loop.h"
#include "device/model_access.h"
#include "host/local/beside.h"
#include "provider/catalogue.h"
#include "provider/price.h"

namespace stet::host {
namespace {

using protocol::ModelRow;

ModelRow RowOf(const provider::Model& model) {
  ModelRow row;
  row.name = model.FullName();
  row.provider = model.provider;
  row.id = model.id;
  row.title = model.name;
  row.dialect = provider::DialectName(model.dialect);
  row.context_window = model.context_window;
  row.max_output = model.max_output;
  row.thinking = model.thinking != provider::Thinking::kNone;
  row.images = model.images;
  if (model.prices) {
    row.prices.emplace();
    row.prices->input = model.prices->input;
    row.prices->output = model.prices->output;
    row.prices->cache_read = model.prices->cache_read;
    row.prices->cache_write = model.prices->cache_write;
  }
  for (std::string_view rest = model.efforts; !rest.empty();) {
    const std::string_view effort = rest.substr(0, rest.find(' '));
    row.efforts.emplace_back(effort);
    rest.remove_prefix(std::min(rest.size(), effort.size() + 1));
  }
  return row;
}

/// Times the reply and hands waits on.
class CheckSink final : public provider::Sink {
 public:
  CheckSink(const Clock& clock, const std::function<void(const std::string&)>& tell)
      : clock_(clock), tell_(tell), start_(clock.Steady()) {}

  void On(const provider::StreamEvent& event) override {
    if (first_event_ms_ < 0) first_event_ms_ = Elapsed();
    if (const auto* wait = std::get_if<provider::Waiting>(&event)) {
      tell_(fmt::format("waiting {} ms, then trying again: {}", wait->until - clock_.Now(),
                        wait->why));
    } else if (const auto* stall = std::get_if<provider::Stalled>(&event)) {
      tell_(fmt::format("nothing for {} ms", stall->idle_ms));
    } else if (const auto* change = std::get_if<provider::Switched>(&event)) {
      tell_(fmt::format("{}: asking {} instead", change->why, change->to));
    }
  }

  [[nodiscard]] std::int64_t Elapsed() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(clock_.Steady() - start_).count();
  }
  [[nodiscard]] std::int64_t first_event_ms() const { return first_event_ms_; }

 private:
  const Clock& clock_;
  const std::function<void(const std::string&)>& tell_;
  std::chrono::steady_clock::time_point start_;
  std::int64_t first_event_ms_ = -1;
};

provider::Request Question() {
  provider::Request request;
  provider::UserInput input;
  protocol::TextBlock text;
  text.text = "Answer with the one word: ready";
  input.blocks.emplace_back(std::move(text));
  request.entries.emplace_back(std::move(input));
  request.max_tokens = 1024;
  return request;
}

protocol::ModelCheck Summarise(const provider::CallResult& call, const CheckSink& sink) {
  protocol::ModelCheck check;
  check.model = call.model.FullName();
  check.ok = !call.reply.failure;
  if (call.reply.failure) {
    check.failure = std::string(provider::FailureName(call.reply.failure->kind));
    check.message = call.reply.failure->message;
  }
  check.reply = protocol::PlainText(call.reply.content.blocks);
  check.attempts = static_cast<std::int64_t>(call.attempts.size());
  check.first_event_ms = sink.first_event_ms();
  check.total_ms = sink.Elapsed();
  check.usage = call.reply.content.usage;
  if (check.usage && call.model.prices)
    check.price = provider::PriceOf(*call.model.prices, *check.usage);
  for (const provider::RateLimit& limit : call.limits) {
    protocol::LimitRow& row = check.limits.emplace_back();
    row.what = limit.what;
    row.limit = limit.limit;
    row.remaining = limit.remaining;
    row.reset = limit.reset;
  }
  return check;
}

/// Blocks on the disk, and on the network of a model that is asked.
class ModelFiles {
 public:
  explicit ModelFiles(config::Roots roots) : roots_(std::move(roots)) {}

  [[nodiscard]] Result<protocol::ModelList> List() const {
    ASSIGN_OR_RETURN(const config::Settings settings, config::ReadSettings(roots_.settings()));
    protocol::ModelList list;
    list.models.push_back(RowOf(provider::OfflineModel()));
    for (const auto& [name, table] : settings.models) {
      ASSIGN_OR_RETURN(const provider::Model model,
                       provider::ConfiguredModel(table, "models." + name));
      ModelRow& row = list.models.emplace_back(RowOf(model));
      row.name = name;
      row.configured = true;
    }
    for (const provider::ProviderFacts& facts : provider::Providers()) {
      protocol::ProviderRow& row = list.providers.emplace_back();
      row.name = facts.name;
      row.dialect = provider::DialectName(facts.dialect);
      row.base_url = facts.base_url;
      row.key_variable = facts.key_variable;
      row.key_present = !device::ProcessEnvironment(row.key_variable).empty();
      row.local = facts.local;
    }
    for (const provider::Model& model : provider::BuiltinModels())
      list.models.push_back(RowOf(model));
    Select(settings, list);
    return list;
  }

  Result<protocol::ModelCheck> Check(const std::string& model,
                                     const std::function<void(const std::string&)>& tell) {
    ASSIGN_OR_RETURN(const config::Settings settings, config::ReadSettings(roots_.settings()));
    ASSIGN_OR_RETURN(provider::Selected selected,
                     provider::SelectModel(settings, model, device::KeyLookup(roots_)));
    provider::Request request = Question();
    request.effort = selected.effort;
    Loop loop;
    device::ModelAccess access(loop);
    const std::unique_ptr<provider::Provider> provider = access.Open(std::move(selected));
    ASSIGN_OR_RETURN(const provider::WireRequest wire, provider->Encode(request));
    CheckSink sink(SystemClock(), tell);
    const provider::CallResult call =
        loop.RunUntilDone(provider->Stream(request, wire, sink, CancelToken()));
    return Summarise(call, sink);
  }

 private:
  void Select(const config::Settings& settings, protocol::ModelList& list) const {
    // Without keys first: which one it is does not depend on whether it can be used.
    const provider::Environment any_key = [](const std::string&) { return std::string("key"); };
    const Result<provider::Selected> selected = provider::SelectModel(settings, "", any_key);
    list.selected = selected ? selected->access.model.FullName() : "";
    const Result<provider::Selected> usable =
        provider::SelectModel(settings, "", device::KeyLookup(roots_));
    if (!usable) list.problem = usable.error().message;
  }

  config::Roots roots_;
};

class LocalModels final : public client::Models {
 public:
  explicit LocalModels(const config::Roots& roots) : files_(ModelFiles(roots)) {}

  void List(client::Reply<protocol::ModelList> reply) override {
    files_.Run(std::move(reply), &ModelFiles::List);
  }
  void Check(const std::string& model, const std::function<void(const std::string&)>& tell,
             client::Reply<protocol::ModelCheck> reply) override {
    files_.Run(std::move(reply), &ModelFiles::Check, model, tell);
  }

 private:
  Beside<ModelFiles> files_;
};

}  // namespace

std::unique_ptr<client::Models> MakeLocalModels(const config::Roots& roots) {
  return std::make_unique<LocalModels>(roots);
}

Result<protocol::ModelList> ListModels(const config::Roots& roots) {
  return ModelFiles(roots).List();
}

}  // namespace stet::host
