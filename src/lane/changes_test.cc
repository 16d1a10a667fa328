#include "lane/changes.h"

#include <gtest/gtest.h>

#include "agent/workbench_fixture.h"
#include "device/model_access.h"
#include "provider/provider.h"

namespace stet::lane {
namespace {

/// A session with the built-in model, which may be changed to "other" alone.
class LaneChangesTest : public agent::WorkbenchTest {
 protected:
  LaneChangesTest() {
    agent::SessionSettings settings;
    settings.model.access.model = provider::OfflineModel();
    bench_->settings = agent::CurrentSettings(std::move(settings));
    bench_->cache_key = "sent";
    OpenTools();
    changes_ = std::make_unique<LaneChanges>(*bench_, models_, [this](const std::string& name) {
      return name == "other" ? Result<provider::Selected>(other_)
                             : Fail(Code::kNotFound, "there is no model " + name);
    });
    other_.access.model.provider = "p";
    other_.access.model.id = "m";
    other_.access.model.dialect = provider::Dialect::kOpenAiCompletions;
    other_.access.model.context_window = 8'000;
    other_.effort = "low";
  }

  /// Says what was refused, and that nothing of it is in the log.
  Code Refused(const protocol::Change& change) {
    const std::uint64_t before = log_->last_seq();
    const Status changed = changes_->Change(change);
    EXPECT_FALSE(changed);
    EXPECT_EQ(log_->last_seq(), before);
    return changed ? Code::kIo : changed.error().code;
  }
  static protocol::Change With(const protocol::OptionalText& model,
                               const protocol::OptionalText& effort,
                               const protocol::OptionalText& mode) {
    protocol::Change change;
    change.model = model;
    change.effort = effort;
    change.mode = mode;
    return change;
  }
  std::string Model() { return bench_->model->model().FullName(); }
  policy::Mode Mode() { return bench_->settings->rules.mode; }

  device::ModelAccess models_{loop_};
  provider::Selected other_;
  std::string first_ = provider::OfflineModel().FullName();
  std::unique_ptr<LaneChanges> changes_;
};

TEST_F(LaneChangesTest, ModeAndTitleChangeAtOnceAndInOneEvent) {
  protocol::Change change = With({}, {}, "acceptEdits");
  change.title = "The gate";
  ASSERT_TRUE(changes_->Change(change));
  EXPECT_EQ(Mode(), policy::Mode::kAcceptEdits);
  const auto told = All<protocol::SessionInfo>();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].changes.mode, "acceptEdits");
  EXPECT_EQ(told[0].changes.title, "The gate");
  EXPECT_EQ(changes_->Permissions().mode, "acceptEdits");
}

TEST_F(LaneChangesTest, ModelAndEffortWaitUntilTheTurnHasEnded) {
  bench_->fixed_bytes = 100;
  ASSERT_TRUE(changes_->Change(With("other", {}, {})));
  EXPECT_EQ(Model(), first_);
  EXPECT_TRUE(All<protocol::SessionInfo>().empty());
  ASSERT_TRUE(changes_->Apply());
  EXPECT_EQ(Model(), "p/m");
  EXPECT_EQ(bench_->settings->effort, "low") << "as the model is configured";
  EXPECT_EQ(bench_->workspace.context_window, 8'000);
  EXPECT_EQ(bench_->fixed_bytes, 0) << "what it came to is not known any more";
  const auto told = All<protocol::SessionInfo>();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].changes.model, "p/m");
  EXPECT_EQ(told[0].changes.effort, "low");
  const std::uint64_t before = log_->last_seq();
  ASSERT_TRUE(changes_->Apply());
  EXPECT_EQ(log_->last_seq(), before) << "that was all";
}

TEST_F(LaneChangesTest, AnEffortThatIsAskedForIsNotThatOfTheModel) {
  ASSERT_TRUE(changes_->Change(With("other", "high", {})));
  ASSERT_TRUE(changes_->Apply());
  EXPECT_EQ(bench_->settings->effort, "high");
}

TEST_F(LaneChangesTest, AChangeThatIsWrongInOnePartChangesNothing) {
  EXPECT_EQ(Refused(With("other", "utmost", "plan")), Code::kInvalid);
  EXPECT_EQ(Refused(With("other", {}, "sideways")), Code::kInvalid);
  EXPECT_EQ(Refused(With("none", "high", "plan")), Code::kNotFound);
  EXPECT_EQ(Mode(), policy::Mode::kDefault);
  const std::uint64_t before = log_->last_seq();
  ASSERT_TRUE(changes_->Apply());
  EXPECT_EQ(log_->last_seq(), before) << "nothing waits";
  EXPECT_EQ(Model(), first_);
}

TEST_F(LaneChangesTest, AChangeThatTheLogDoesNotTakeDoesNotCount) {
  CloseLog();
  EXPECT_FALSE(changes_->Change(With("other", "high", "acceptEdits")));
  EXPECT_EQ(Mode(), policy::Mode::kDefault);
  EXPECT_TRUE(changes_->Apply()) << "nothing waits";
  EXPECT_EQ(Model(), first_);
}

TEST_F(LaneChangesTest, AModelThatTheLogDoesNotTakeIsNotAsked) {
  ASSERT_TRUE(changes_->Change(With("other", "high", {})));
  CloseLog();
  EXPECT_FALSE(changes_->Apply());
  EXPECT_EQ(Model(), first_);
  EXPECT_FALSE(bench_->settings->effort);
}

}  // namespace
}  // namespace stet::lane
