// The main of every test program: commands that tests run have a guard, as in stet itself.
#include <gtest/gtest.h>

#include "base/guard.h"

int main(int argc, char** argv) {
  stet::BecomeGuardIfAsked(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
