#include "tests/made/wire_files.h"

#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/source_dir_fixture.h"
#include "json/json.h"

namespace stet::test {
namespace {

TEST(WireFilesTest, TheFilesThatAreMadeFromTheTablesAreAsTheTablesAreNow) {
  for (const MadeFile& file : WireFiles()) {
    EXPECT_TRUE(file.path.ends_with(".md") || CheckJson(file.text)) << file.path;
    const std::string path = SourceDir() + "/" + file.path;
    EXPECT_TRUE(ReadFile(path).value_or("") == file.text)
        << file.path << " is stale. Type: scripts/make_wire_files";
  }
}

}  // namespace
}  // namespace stet::test
