// `stet models`: which models can be named, and whether one answers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/display_width.h"
#include "cli/verb.h"
#include "client/await.h"
#include "face/cost_view.h"
#include "face/exit_codes.h"

namespace stet::cli {
namespace {

struct ModelsArguments {
  std::string model;  // check's; empty: the configured one.
  bool json = false;
};

std::string Tokens(std::int64_t count) {
  constexpr std::int64_t kThousand = 1000;
  return count < kThousand ? fmt::format("{}", count) : fmt::format("{}k", count / kThousand);
}

std::string ModelText(const protocol::ModelRow& row, bool selected) {
  const std::string prices = row.prices
                                 ? fmt::format("{:>8} / {:<8}", face::MoneyText(row.prices->input),
                                               face::MoneyText(row.prices->output))
                                 : fmt::format("{:^19}", "price unknown");
  return fmt::format("{} {:<42} {:>6} in {:>5} out  {}  {}{}\n", selected ? "*" : " ",
                     PrintableText(row.name), Tokens(row.context_window), Tokens(row.max_output),
                     prices, row.images ? "images " : "", fmt::join(row.efforts, ","));
}

Result<int> ListModels(const ModelsArguments& command, client::Models& models,
                       face::Console& console) {
  ASSIGN_OR_RETURN(const protocol::ModelList list, client::Await(models, &client::Models::List));
  if (command.json)
    return console.PrintJson(Encode(list) + "\n") ? face::kExitDone : face::kExitFailed;
  std::string out =
      "Window and longest answer in tokens, dollars per million tokens in and out, efforts.\n";
  const auto print = [&](const protocol::ModelRow& row) {
    out += ModelText(row, row.name == list.selected);
  };
  for (const protocol::ModelRow& row : list.models) {
    if (row.provider == "stet" || row.configured) print(row);
  }
  for (const protocol::ProviderRow& provider : list.providers) {
    const char* key = provider.key_present ? "is set" : provider.local ? "if needed" : "is not set";
    out +=
        fmt::format("\n{} ({}, {} {}){}\n", provider.name, provider.base_url, provider.key_variable,
                    key, provider.local ? fmt::format("  any model: {}/ID", provider.name) : "");
    for (const protocol::ModelRow& row : list.models) {
      if (row.provider == provider.name && !row.configured) print(row);
    }
  }
  if (!console.PrintText(out)) return face::kExitFailed;
  console.Say(fmt::format("\n* {} is used when no other is asked for.", list.selected));
  if (list.problem) console.Say(fmt::format("It cannot be used now: {}", *list.problem));
  return face::kExitDone;
}

std::string CheckText(const protocol::ModelCheck& check) {
  std::string out;
  if (check.ok) {
    out = fmt::format("{} answers: {}\n", check.model, PrintableText(check.reply));
  } else {
    out = fmt::format("{} does not answer: {}: {}\n", check.model, check.failure.value_or(""),
                      PrintableText(check.message.value_or("")));
  }
  out += fmt::format("first event after {} ms, all after {} ms, {} {}\n", check.first_event_ms,
                     check.total_ms, check.attempts, check.attempts == 1 ? "attempt" : "attempts");
  if (check.usage) {
    out += fmt::format("tokens: {} in, {} out; {}\n", check.usage->input, check.usage->output,
                       check.price ? face::MoneyText(*check.price) : "price unknown");
  }
  for (const protocol::LimitRow& limit : check.limits) {
    out += fmt::format("limit on {}: {} of {} left, reset {}\n", PrintableText(limit.what),
                       PrintableText(limit.remaining), PrintableText(limit.limit),
                       PrintableText(limit.reset));
  }
  return out;
}

Result<int> CheckModel(const ModelsArguments& command, client::Models& models,
                       face::Console& console) {
  ASSIGN_OR_RETURN(const protocol::ModelCheck check,
                   client::Await(models, &client::Models::Check, command.model,
                                 [&](const std::string& text) { console.Say(text); }));
  const bool told =
      command.json ? console.PrintJson(Encode(check) + "\n") : console.PrintText(CheckText(check));
  if (!told) return face::kExitFailed;
  if (check.ok) return face::kExitDone;
  return check.failure == "auth" ? face::kExitAuth : face::kExitFailed;
}

}  // namespace

VerbEntry ModelsVerb() {
  return {
      "models", "List the models that can be named, or try one of them", [](Verb& models) {
        const auto given = std::make_shared<ModelsArguments>();
        models.options = {JsonFlag(given->json)};
        models.run = Asks<&face::Clients::models>(given, ListModels);
        models.verbs = {
            {.name = "check",
             .help = "Ask a model one short question, and say how long it took and what it cost",
             .options = {{"MODEL", &given->model,
                          "PROVIDER/ID, or a name of the configuration; the configured one by "
                          "default"},
                         JsonFlag(given->json)},
             .run = Asks<&face::Clients::models>(given, CheckModel)},
        };
      }};
}

}  // namespace stet::cli
