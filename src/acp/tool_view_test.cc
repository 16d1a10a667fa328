#include "acp/tool_view.h"

#include <gtest/gtest.h>

namespace stet::acp {
namespace {

TEST(ToolViewTest, EveryToolHasAKindAndATitle) {
  EXPECT_EQ(KindOf("Read"), "read");
  EXPECT_EQ(KindOf("Write"), "edit");
  EXPECT_EQ(KindOf("Bash"), "execute");
  EXPECT_EQ(KindOf("Grep"), "search");
  EXPECT_EQ(KindOf("WebFetch"), "fetch");
  EXPECT_EQ(KindOf("TodoWrite"), "think");
  EXPECT_EQ(KindOf("an_extension"), "other");
  EXPECT_EQ(TitleOf("Read", Raw{R"({"file_path":"a.cc"})"}), "Read a.cc");
  EXPECT_EQ(TitleOf("Bash", Raw{R"({"command":"make\nmake test"})"}), "make make test");
  EXPECT_EQ(TitleOf("Read", Raw{"7"}), "Read");
  EXPECT_EQ(TitleOf("an_extension", Raw{R"({"file_path":"a"})"}), "an_extension");
}

TEST(ToolViewTest, PlacesAreAbsoluteAndHaveALineWhereOneIsGiven) {
  EXPECT_EQ(LocationsOf("Read", Raw{R"({"file_path":"../a","offset":7})"}, "/p/q"),
            (Locations{{.path = "/p/a", .line = 7}}));
  EXPECT_EQ(LocationsOf("Grep", Raw{R"({"pattern":"x","path":"/src"})"}, "/p"),
            (Locations{{.path = "/src", .line = {}}}));
  EXPECT_EQ(LocationsOf("Read", Raw{R"({"file_path":"blob:00"})"}, "/p"), Locations());
  EXPECT_EQ(LocationsOf("Bash", Raw{R"({"command":"ls"})"}, "/p"), Locations());
}

TEST(ToolViewTest, ChangesAreThePartsOfAnEditAndTheWholeOfAWrite) {
  EXPECT_EQ(DiffsOf("Edit", Raw{R"({"file_path":"a","old_string":"x","new_string":"y"})"}, "/p"),
            (FileDiffs{{.path = "/p/a", .old_text = "x", .new_text = "y"}}));
  EXPECT_EQ(DiffsOf("Edit",
                    Raw{R"({"file_path":"/a","edits":[{"old_string":"1","new_string":"2"},)"
                        R"({"old_string":"3","new_string":"4"}]})"},
                    "/p"),
            (FileDiffs{{.path = "/a", .old_text = "1", .new_text = "2"},
                       {.path = "/a", .old_text = "3", .new_text = "4"}}));
  EXPECT_EQ(DiffsOf("Write", Raw{R"({"file_path":"a","content":""})"}, "/p"),
            (FileDiffs{{.path = "/p/a", .old_text = {}, .new_text = ""}}));
  EXPECT_EQ(DiffsOf("Bash", Raw{R"({"file_path":"a","content":""})"}, "/p"), FileDiffs());
  EXPECT_EQ(DiffsOf("Write", Raw{"[]"}, "/p"), FileDiffs());
}

}  // namespace
}  // namespace stet::acp
