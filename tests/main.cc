// The main of every test program: commands that tests run have a guard and a sandbox, as
// in stet itself.
#include <cstdlib>

#include <gtest/gtest.h>

#include "base/guard/guard.h"
#include "base/source_dir_fixture.h"
#include "sandbox/box.h"

std::string stet::SourceDir() { return STET_SOURCE_DIR; }

int main(int argc, char** argv) {
  stet::BecomeGuardIfAsked(argc, argv, stet::sandbox::MakeBox);
  stet::sandbox::BecomeConfinedIfAsked(argc, argv);
  ::setenv("STET_IN_SANDBOX", "1", 1);  // Tests may run as root.
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
