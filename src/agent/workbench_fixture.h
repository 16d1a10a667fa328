// WorkbenchTest: a workbench over a log of its own, in which everything runs unasked, and no model.
// Tests add the tools that they call, and give it a model where one is asked.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "agent/asks.h"
#include "agent/session_tools.h"
#include "agent/settings.h"
#include "agent/workbench.h"
#include "base/loop.h"
#include "log/log_fixture.h"
#include "tool/tool.h"

namespace stet::agent {

class WorkbenchTest : public log::LogTest {
 protected:
  WorkbenchTest() : log_(Create()) { MakeBench(); }

  void MakeBench() {
    asks_ = std::make_unique<Asks>(loop_, *log_);
    bench_ = std::make_unique<Workbench>(
        Workbench{.loop = loop_,
                  .log = *log_,
                  .model = nullptr,
                  .tools = tools_,
                  .workspace = workspace_,
                  .asks = *asks_,
                  .settings = CurrentSettings({.rules = {.mode = policy::Mode::kBypass}})});
  }
  /// As a later process would: nothing is known but what the log says.
  void Reopen(bool use_index = true) {
    bench_.reset();
    asks_.reset();
    ASSERT_TRUE(log_->Close());
    log_ = Open(log::Mode::kWrite, use_index);
    MakeBench();
  }

  void AddTool(std::unique_ptr<tool::Tool> tool) {
    tool::ToolSource source;
    source.tools.push_back(std::move(tool));
    ASSERT_TRUE(tools_.box().Add(std::move(source)));
  }
  /// The tools that were added are the session's from now on.
  void OpenTools() { tools_.Open(*log_, std::nullopt, 0); }

  using log::LogTest::Append;
  std::string Append(log::Draft draft) { return Append(*log_, std::move(draft)); }

  /// From now on nothing can be appended.
  void CloseLog() { ASSERT_TRUE(log_->Close()); }

  /// Runs the loop until what is left waits for the test.
  void Settle() {
    for (int i = 0; i < 20; ++i) {
      loop_.Post([this] { loop_.Stop(); });
      loop_.Run();
    }
  }

  /// Every event of the log, in order.
  std::vector<protocol::Event> Events() {
    std::vector<protocol::Event> events;
    for (log::Ordinal at = 0; at < log_->index().entries().size(); ++at)
      events.push_back(log_->EventAt(at).value());
    return events;
  }
  /// Those of one type.
  template <class T>
  std::vector<T> All() {
    std::vector<T> all;
    for (const protocol::Event& event : Events())
      if (const auto* one = std::get_if<T>(&event.payload)) all.push_back(*one);
    return all;
  }

  Loop loop_;
  SessionTools tools_;
  tool::Workspace workspace_;
  std::unique_ptr<log::Log> log_;
  std::unique_ptr<Asks> asks_;
  std::unique_ptr<Workbench> bench_;
  protocol::Stamp stamp_;
};

}  // namespace stet::agent
