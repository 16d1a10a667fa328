#include "acp/commands.h"

#include <gtest/gtest.h>

namespace stet::acp {
namespace {

TEST(AcpCommands, TheTablesRowsForEditorsAreOfferedAndThenThoseOfExtensions) {
  std::string text;
  JsonWriter writer(text);
  WriteCommands(writer, {"deploy"});
  EXPECT_EQ(
      text,
      R"([{"name":"pin","description":"Keeps a text before the model's eyes, whatever is compacted","input":{"hint":"TEXT"}},)"
      R"({"name":"pins","description":"Lists what is pinned"},)"
      R"({"name":"unpin","description":"Removes a pin","input":{"hint":"N"}},)"
      R"({"name":"continue","description":"Goes on with an interrupted turn, or with what is queued"},)"
      R"({"name":"compact","description":"Sums up what was said so far; FOCUS is kept above all","input":{"hint":"[FOCUS]"}},)"
      R"({"name":"title","description":"Names the session","input":{"hint":"TEXT"}},)"
      R"({"name":"deploy","description":"A command of an extension","input":{"hint":"arguments"}}])");
}

}  // namespace
}  // namespace stet::acp
