#include "tool/checkpoint/manifest.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace stet::tool {
namespace {

ManifestEntry File(const std::string& copy) {
  return {.mode = 0644,
          .size = 3,
          .mtime_ns = 5,
          .ctime_ns = 6,
          .inode = 7,
          .kept = {.in = Kept::In::kCopies, .id = copy}};
}

const std::string kCopy(64, 'a');

TEST(ManifestTest, WhatIsWrittenIsReadBackToTheByte) {
  ManifestText manifest;
  manifest.base = std::string(64, 'b');
  manifest.gone = {"old", "odd\nname", std::string("\xFF%20")};
  manifest.entries["a b/c\td"] = File(kCopy);
  manifest.entries["git"] = File(kCopy);
  manifest.entries["git"].kept = {.in = Kept::In::kGit, .id = std::string(40, 'c')};
  manifest.entries["large"] = {.mode = 0600, .size = 1ULL << 40U};
  manifest.entries["link"] = {.kind = ManifestKind::kLink, .mode = 0777, .target = "to a\nplace"};
  manifest.entries["folder"] = {.kind = ManifestKind::kFolder, .mode = 01777};
  const std::string text = EncodeManifest(manifest);
  const Result<ManifestText> read = ParseManifest(text);
  ASSERT_TRUE(read) << read.error().Text() << text;
  EXPECT_EQ(read->base, manifest.base);
  EXPECT_EQ(read->gone, manifest.gone);
  EXPECT_EQ(read->entries, manifest.entries);
  EXPECT_EQ(EncodeManifest(*read), text);
}

TEST(ManifestTest, PathsThatLeadOutOfTheProjectOrIntoARepositoryAreRefused) {
  for (const std::string path :
       {"../x", "a/../b", "/etc/passwd", ".git/config", "a/.git/hooks/x", "a//b", ".", "", "a/"}) {
    EXPECT_EQ(ParseManifest("stet manifest 1\nd 755 " + path + "\n").error().code, Code::kCorrupt)
        << path;
  }
  EXPECT_TRUE(ParseManifest("stet manifest 1\nd 755 a/.github\n"));
}

TEST(ManifestTest, WhatMakesNoSenseIsCorrupt) {
  for (const std::string text :
       {"", "x\n", "stet manifest 2\n", "stet manifest 1", "stet manifest 1 abc\n",
        "stet manifest 1\nd 99999 a\n", "stet manifest 1\nf 644 1 1 1 1 x a\n",
        "stet manifest 1\nf 644 1 1 1 -1 - a\n", "stet manifest 1\nd 755 a\nd 755 a\n",
        "stet manifest 1\n- a\n", "stet manifest 1\nl 777 1 1 1 1 %zz a\n",
        "stet manifest 1\nd 755 a%0\n", "stet manifest 1\nq 1 a\n", "stet manifest 1\n\n"})
    EXPECT_EQ(ParseManifest(text).error().code, Code::kCorrupt) << text;
}

TEST(ManifestTest, AnyBytesAreReadOrRefused) {
  Random random(5);
  ManifestText manifest;
  manifest.entries["a"] = File(kCopy);
  manifest.entries["b"] = {.kind = ManifestKind::kLink, .mode = 0777, .target = "x"};
  const std::string whole = EncodeManifest(manifest);
  for (int round = 0; round < 20'000; ++round) {
    std::string text = whole;
    for (int i = 0; i < 3; ++i)
      text[random.Next() % text.size()] = static_cast<char>(random.Next() % 256);
    const Result<ManifestText> read = ParseManifest(text);
    if (read) {
      EXPECT_TRUE(ParseManifest(EncodeManifest(*read)));
    }
  }
}

}  // namespace
}  // namespace stet::tool
