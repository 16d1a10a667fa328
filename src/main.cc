// stet: joins a face to an in-process host.
#include <cstdio>

#include "base/version.h"

int main() {
  std::printf("stet %s\n", stet::ProgramVersion().data());
  return 0;
}
