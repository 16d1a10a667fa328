// The files that are made from the tables of protocol/: scripts/make_wire_files writes them, a test
// compares them.
#pragma once

#include <string>
#include <vector>

namespace stet::test {

struct MadeFile {
  std::string path;  // Under the repository's root.
  std::string text;
};

std::vector<MadeFile> WireFiles();

}  // namespace stet::test
