#include "cli/model_wait.h"

#include <gtest/gtest.h>

namespace stet::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ModelWaitTest : public testing::Test {
 protected:
  template <class T>
  void Hear(T what, ModelWait::Time now) {
    protocol::Transient transient;
    transient.transient = std::move(what);
    wait_.Hear(transient, now);
  }
  static protocol::Wait For(const std::string& who, const std::string& what) {
    protocol::Wait wait;
    wait.who = who;
    wait.what = what;
    return wait;
  }

  const ModelWait::Time begin_{};
  ModelWait wait_;
};

TEST_F(ModelWaitTest, NothingIsSaidBeforeTheThirdSecondAndEverMoreSeldomAfterIt) {
  EXPECT_FALSE(wait_.UntilWord(begin_));
  Hear(protocol::TurnStart(), begin_);
  EXPECT_EQ(wait_.UntilWord(begin_ + seconds(1)), milliseconds(2000));
  EXPECT_EQ(wait_.Word(begin_ + milliseconds(2999)), "");
  EXPECT_EQ(wait_.Word(begin_ + seconds(3)), "waiting for the model, 3 s");
  EXPECT_EQ(wait_.Word(begin_ + seconds(3)), "");
  Hear(For("model", "network: no route"), begin_ + seconds(4));
  EXPECT_EQ(wait_.Word(begin_ + seconds(6)), "waiting for the model (network: no route), 6 s");
  EXPECT_EQ(wait_.UntilWord(begin_ + seconds(6)), milliseconds(6000));
  EXPECT_EQ(wait_.UntilWord(begin_ + seconds(600)), milliseconds(0));
  wait_.Word(begin_ + seconds(600));
  EXPECT_EQ(wait_.UntilWord(begin_ + seconds(600)), milliseconds(60'000));
}

TEST_F(ModelWaitTest, AModelThatAnswersIsNotWaitedForUntilItIsAskedAgainOrFallsSilent) {
  Hear(protocol::TurnStart(), begin_);
  Hear(protocol::MessageStart(), begin_ + seconds(1));
  EXPECT_FALSE(wait_.UntilWord(begin_ + seconds(1)));
  EXPECT_EQ(wait_.Word(begin_ + seconds(9)), "");
  Hear(For("model", "no byte for 20 s"), begin_ + seconds(20));
  EXPECT_EQ(wait_.Word(begin_ + seconds(23)), "waiting for the model (no byte for 20 s), 3 s");
  Hear(protocol::RuntimeEnd(), begin_ + seconds(24));
  EXPECT_FALSE(wait_.UntilWord(begin_ + seconds(24)));
}

TEST_F(ModelWaitTest, WhatElseIsWaitedForIsSaidElsewhere) {
  Hear(For("hook", "lint"), begin_);
  EXPECT_FALSE(wait_.UntilWord(begin_));
}

}  // namespace
}  // namespace stet::cli
