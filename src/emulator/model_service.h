// ModelService: answers one model request after the other from the playbook, and writes the ledger.
//
// Shared by all connections; safe from any thread. Does not own the playbook, the ledger and the
// cache.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "base/result.h"
#include "emulator/connection.h"
#include "emulator/http.h"
#include "emulator/ledger.h"
#include "emulator/plan.h"
#include "emulator/playbook.h"
#include "emulator/prompt_cache.h"
#include "json/schema/schema.h"

namespace stet::emulator {

/// What requests must look like, by dialect; some dialects may have no schema.
using RequestSchemas = std::array<std::optional<JsonSchema>, kDialects>;

/// Reads DIALECT.json of each dialect from `folder`. Fails when there is none at all, or one is
/// wrong.
Result<RequestSchemas> LoadSchemas(const std::string& folder);

class ModelService {
 public:
  ModelService(Playbook& playbook, Ledger& ledger, PromptCache& cache, RequestSchemas schemas)
      : playbook_(playbook), ledger_(ledger), cache_(cache), schemas_(std::move(schemas)) {}

  /// False when the connection is to be closed.
  bool Answer(const Connection& connection, const HttpRequest& request, Dialect dialect);

 private:
  /// Chooses the reply; gives its usage too.
  Plan PlanFor(const HttpRequest& request, const RequestFacts& facts, const Ledger::Handle& entry,
               Usage& usage);
  /// Notes what is wrong with the request; gives it as a sentence when the script is strict.
  std::string CheckSchema(const HttpRequest& request, Dialect dialect, const Ledger::Handle& entry);
  /// What is wrong with the size of the request or its marks, as the dialect's server says it.
  static std::optional<WireError> CheckPrompt(const Script& script, const RequestFacts& facts,
                                              const Prompt& prompt);
  bool Send(const Connection& connection, const Plan& plan, const Ledger::Handle& entry,
            const Usage& usage);

  Playbook& playbook_;
  Ledger& ledger_;
  PromptCache& cache_;
  RequestSchemas schemas_;
};

}  // namespace stet::emulator
