// What a lane is made of: what OpenLane finds out about a session and hands to Lane::Open.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/instructions.h"
#include "agent/own_events.h"
#include "agent/redactor.h"
#include "agent/settings.h"
#include "agent/workbench.h"
#include "base/environment.h"
#include "device/model_access.h"
#include "hook/extension/extensions.h"
#include "hook/hooks.h"
#include "log/log.h"
#include "protocol/live.h"
#include "tool/checkpoint/checkpoints.h"
#include "tool/toolbox.h"

namespace stet::lane {

/// Everything referred to outlives the lane.
struct LaneSetup {
  Loop& loop;
  device::ModelAccess& models;
  std::unique_ptr<log::Log> log;
  agent::SessionSettings settings;
  agent::OwnEvents own = {};  // What of the log is this device's.
  bool arrived = false;       // The log was not written here: nothing in it gives a right.
  agent::InstructionSources instructions;
  tool::Workspace workspace;
  std::shared_ptr<tool::Checkpoints> checkpoints = {};  // Null: nothing is kept.
  tool::Selection tools;                                // That there are.
  std::optional<Raw> output_schema;
  Variables variables;                     // That commands and hooks get: no keys.
  std::vector<std::string> hidden;         // Names of those that they do not get.
  std::vector<std::string> private_hosts;  // That WebFetch may ask.
  bool answers = false;                    // A client answers what is asked.
  bool keep_waiting = false;  // What was asked before still waits, if a client answers.
  bool fresh = false;         // The session was made just now.
  bool woken = false;         // It goes on where it was put to sleep.
  agent::Redactor redactor;
  /// Makes it again, when a client has handed over another environment.
  std::function<Result<agent::Redactor>()> find_redactor = {};
  agent::KeptRules kept_rules;
  std::vector<hook::Hook> hooks = {};
  std::vector<hook::ExtensionManifest> extensions = {};
  protocol::Texts notes = {};  // What a face should say about how the session was opened.
  /// Makes the last request again, so that the next one can be compared with it.
  std::function<void(agent::Workbench&)> prime;
  /// Finds a model that a client asks for.
  std::function<Result<provider::Selected>(const std::string&)> select;
};

}  // namespace stet::lane
