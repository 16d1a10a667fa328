// The main of every test program: commands that tests run have a guard and a sandbox, as
// in stet itself.
#include <gtest/gtest.h>

#include "base/guard.h"
#include "sandbox/confine.h"

int main(int argc, char** argv) {
  stet::BecomeGuardIfAsked(argc, argv);
  stet::sandbox::BecomeConfinedIfAsked(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
