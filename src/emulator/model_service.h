// ModelService: answers one model request after the other from the playbook, and writes the ledger.
//
// Shared by all connections; safe from any thread. Does not own the playbook and the ledger.
#pragma once

#include "emulator/connection.h"
#include "emulator/http.h"
#include "emulator/ledger.h"
#include "emulator/plan.h"
#include "emulator/playbook.h"

namespace stet::emulator {

class ModelService {
 public:
  ModelService(Playbook& playbook, Ledger& ledger) : playbook_(playbook), ledger_(ledger) {}

  /// False when the connection is to be closed.
  bool Answer(const Connection& connection, const HttpRequest& request, Dialect dialect);

 private:
  /// Chooses the reply; gives its usage too.
  Plan PlanFor(const HttpRequest& request, const RequestFacts& facts, const Ledger::Handle& entry,
               Usage& usage);
  bool Send(const Connection& connection, const Plan& plan, const Ledger::Handle& entry,
            const Usage& usage);

  Playbook& playbook_;
  Ledger& ledger_;
};

}  // namespace stet::emulator
