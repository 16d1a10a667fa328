#include "tui/line_editor/line_editor.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/temp_dir.h"

namespace stet::tui {
namespace {

using Kind = Key::Kind;
using Does = LineEditor::Does;

std::vector<Key> KeysOf(KeyReader& reader, std::string_view bytes) {
  reader.Feed(bytes);
  std::vector<Key> keys;
  while (std::optional<Key> key = reader.Next()) keys.push_back(*std::move(key));
  return keys;
}

/// Presses what the bytes are; gives what the last key does.
Does Type(LineEditor& editor, std::string_view bytes) {
  KeyReader reader;
  Does last = Does::kNothing;
  for (const Key& key : KeysOf(reader, bytes)) last = editor.Press(key);
  return last;
}

TEST(KeyReader, KeysComeInAnyPieces) {
  const std::string_view bytes = "a\x1b[1;5D世\x1b[13;2u\x1b[200~x\r\ny\x1b[201~\x7f\x1b[27;2;13~";
  const std::vector<Key> all = {{Kind::kText, "a"}, {Kind::kWordLeft},      {Kind::kText, "世"},
                                {Kind::kNewLine},   {Kind::kPaste, "x\ny"}, {Kind::kBackspace},
                                {Kind::kNewLine}};
  KeyReader whole;
  EXPECT_EQ(KeysOf(whole, bytes), all);
  KeyReader pieces;
  std::vector<Key> keys;
  for (const char byte : bytes)
    for (Key& key : KeysOf(pieces, std::string_view(&byte, 1))) keys.push_back(std::move(key));
  EXPECT_EQ(keys, all);
}

TEST(KeyReader, AnEscapeAloneIsAKeyOnceNothingFollows) {
  KeyReader reader;
  EXPECT_TRUE(KeysOf(reader, "\x1b").empty());
  EXPECT_TRUE(reader.escape_open());
  reader.EndEscape();
  EXPECT_EQ(KeysOf(reader, ""), std::vector<Key>());
  reader.EndEscape();
  EXPECT_EQ(reader.Next(), Key{Kind::kEscape});
  EXPECT_FALSE(reader.escape_open());
}

TEST(KeyReader, AnEscapeNeverTakesTheKeyBehindItAlong) {
  const std::vector<Key> escape_x = {{Kind::kEscape}, {Kind::kText, "x"}};
  KeyReader reader;
  EXPECT_EQ(KeysOf(reader, "\x1bx"), escape_x);
  EXPECT_TRUE(KeysOf(reader, "\x1b").empty());
  EXPECT_EQ(KeysOf(reader, "x"), escape_x);
  EXPECT_TRUE(KeysOf(reader, "\x1b").empty());
  EXPECT_EQ(KeysOf(reader, "\r"), std::vector<Key>({{Kind::kEscape}, {Kind::kEnter}}));
  EXPECT_TRUE(KeysOf(reader, "\x1b").empty());
  EXPECT_EQ(KeysOf(reader, "[A"), std::vector<Key>({{Kind::kUp}})) << "a sequence goes on";
  EXPECT_EQ(KeysOf(reader, "\x1b\x1b"), std::vector<Key>({{Kind::kEscape}}));
  EXPECT_EQ(KeysOf(reader, "世"), std::vector<Key>({{Kind::kEscape}, {Kind::kText, "世"}}));
  EXPECT_EQ(KeysOf(reader,
                   "\x1b\r\x1b"
                   "b\x1b\x7f"),
            std::vector<Key>({{Kind::kNewLine}, {Kind::kWordLeft}, {Kind::kEraseWordLeft}}))
      << "with Alt";
}

TEST(KeyReader, WhatNobodyKnowsIsLeftOut) {
  KeyReader reader;
  EXPECT_EQ(KeysOf(reader, "\x1b[99;99R\x1bOP\xff\xc2\x9bz"),
            std::vector<Key>({{Kind::kText, "z"}}));
  const std::string endless = "\x1b[" + std::string(1000, '1') + "m";
  for (const Key& key : KeysOf(reader, endless)) EXPECT_EQ(key.kind, Kind::kText);
}

TEST(KeyReader, APasteIsBoundedAndHasNoControls) {
  KeyReader reader;
  const std::vector<Key> keys =
      KeysOf(reader, "\x1b[200~" + std::string(2 * KeyReader::kMaxPaste, 'x') + "\x1b[201~!");
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_EQ(keys[0].text.size(), KeyReader::kMaxPaste);
  KeyReader other;
  EXPECT_EQ(KeysOf(other, "\x1b[200~a\x1b[2Jb\x03\x1b[201~"),
            std::vector<Key>({{Kind::kPaste, "a[2Jb"}}));
}

TEST(LineEditor, KeysEditTheText) {
  LineEditor editor;
  Type(editor, "one two three");
  Type(editor, "\x17");
  EXPECT_EQ(editor.text(), "one two ");
  Type(editor,
       "\x1b"
       "b\x1b"
       "b");
  EXPECT_EQ(editor.cursor(), 0u);
  Type(editor,
       "\x1b"
       "f\x0b");
  EXPECT_EQ(editor.text(), "one");
  Type(editor, "\x01\x1b[3~");
  EXPECT_EQ(editor.text(), "ne");
  EXPECT_EQ(Type(editor, "\x15"), Does::kNothing) << "there is nothing before the cursor";
  EXPECT_EQ(Type(editor, "\x05\x15"), Does::kEdited);
  EXPECT_EQ(Type(editor, "\x04"), Does::kEnded);
}

TEST(LineEditor, AGraphemeIsOneStep) {
  LineEditor editor;
  Type(editor, "a👨‍👩‍👧e\xCC\x81");
  Type(editor, "\x7f");
  EXPECT_EQ(editor.text(), "a👨‍👩‍👧");
  Type(editor, "\x1b[D");
  EXPECT_EQ(editor.cursor(), 1u);
  Type(editor, "\x1b[3~");
  EXPECT_EQ(editor.text(), "a");
}

TEST(LineEditor, LinesAreWalkedAndABackslashMakesOne) {
  LineEditor editor;
  EXPECT_EQ(Type(editor, "first\\\r"), Does::kEdited);
  Type(editor, "2nd");
  EXPECT_EQ(editor.text(), "first\n2nd");
  Type(editor, "\x1b[A");
  EXPECT_EQ(editor.cursor(), 3u);
  Type(editor, "\x1b[F\x1b[B");
  EXPECT_EQ(editor.cursor(), 9u);
  EXPECT_EQ(Type(editor, "\r"), Does::kSubmitted);
  EXPECT_EQ(editor.Take(), "first\n2nd");
  EXPECT_EQ(editor.text(), "");
}

TEST(LineEditor, TheHistoryIsWalkedAndTheDraftComesBack) {
  History history("");
  history.Add("old");
  history.Add("new");
  LineEditor editor(&history);
  Type(editor, "draft\x1b[A");
  EXPECT_EQ(editor.text(), "new");
  Type(editor, "\x1b[A\x1b[A");
  EXPECT_EQ(editor.text(), "old");
  Type(editor, "\x1b[B\x1b[B\x1b[B");
  EXPECT_EQ(editor.text(), "draft");
}

TEST(LineEditor, ALayoutNeverFillsTheLastColumn) {
  const EditorRows wrapped = LayOut("> ", "abcdefg", 7, 6, 9);
  EXPECT_EQ(wrapped.rows, std::vector<std::string>({"> abc", "  def", "  g"}));
  EXPECT_EQ(wrapped.cursor_row, 2u);
  EXPECT_EQ(wrapped.cursor_column, 3u);
  const EditorRows full = LayOut("> ", "abc", 3, 6, 9);
  EXPECT_EQ(full.rows, std::vector<std::string>({"> abc", "  "}));
  EXPECT_EQ(full.cursor_column, 2u);
  const EditorRows wide = LayOut("> ", "世界", 3, 6, 9);
  EXPECT_EQ(wide.rows, std::vector<std::string>({"> 世", "  界"}));
  EXPECT_EQ(wide.cursor_row, 1u);
}

TEST(LineEditor, OfManyRowsThoseAroundTheCursorAreShown) {
  const EditorRows rows = LayOut("> ", "1\n2\n3\n4\n5\n6", 0, 20, 3);
  EXPECT_EQ(rows.rows, std::vector<std::string>({"> 1", "  2", "  3"}));
  const EditorRows last = LayOut("> ", "1\n2\n3\n4\n5\n6", 11, 20, 3);
  EXPECT_EQ(last.rows, std::vector<std::string>({"  4", "  5", "  6"}));
  EXPECT_EQ(last.cursor_row, 2u);
}

TEST(History, EntriesAreKeptInAFileOfTheUsersAlone) {
  const TempDir dir;
  const std::string path = dir.Sub("prompts");
  {
    History history(path);
    history.Add("one\nline two");
    history.Add("  ");
    history.Add("世界");
    history.Add("世界");
    history.Add(std::string(History::kMaxEntryBytes + 1, 'x'));
  }
  EXPECT_EQ(History(path).entries(), std::vector<std::string>({"one\nline two", "世界"}));
  EXPECT_EQ(StatFile(path)->mode, 0600u);
}

TEST(History, DamagedLinesAreLeftOutAndTheOldestGo) {
  const TempDir dir;
  const std::string path = dir.Sub("prompts");
  std::string text = "nonsense\n{\"a\":1}\n\"cut";
  ASSERT_TRUE(ReplaceFile(path, text, Durable::kNo));
  EXPECT_TRUE(History(path).entries().empty());
  text.clear();
  for (int i = 0; i < 3000; ++i) text += "\"" + std::to_string(i) + "\"\n";
  ASSERT_TRUE(ReplaceFile(path, text, Durable::kNo));
  const History history(path);
  EXPECT_EQ(history.entries().size(), History::kMaxEntries);
  EXPECT_EQ(history.entries().back(), "2999");
  EXPECT_LT(ReadFile(path)->size(), text.size() / 2);
}

}  // namespace
}  // namespace stet::tui
