// Writes the made files into the repository whose root is named.
#include <cstdio>

#include "base/fs.h"
#include "tests/made/wire_files.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  for (const stet::test::MadeFile& file : stet::test::WireFiles()) {
    const std::string path = std::string(argv[1]) + "/" + file.path;
    if (const stet::Status written = stet::ReplaceFile(path, file.text, stet::Durable::kNo, 0644);
        !written) {
      std::fprintf(stderr, "%s\n", written.error().Text().c_str());
      return 1;
    }
    std::printf("%s\n", file.path.c_str());
  }
  return 0;
}
