#include "acp/listing.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/view.h"

namespace stet::acp {
namespace {

protocol::SessionSummary Session(std::string id, std::int64_t updated_at) {
  protocol::SessionSummary session;
  session.session_id = std::move(id);
  session.cwd = "/p";
  session.updated_at = updated_at;
  session.user_messages = 1;
  return session;
}

std::vector<std::string> Ids(const std::string& page) {
  std::vector<std::string> ids;
  JsonView(page)["sessions"].ForEach(
      [&](const JsonView& session) { ids.push_back(session["sessionId"].StringOr("")); });
  return ids;
}

TEST(ListingTest, TheNewestIsFirstAndWhatNobodyWantsIsLeftOut) {
  std::vector<protocol::SessionSummary> sessions = {Session("old", 1), Session("new", 3),
                                                    Session("b", 2), Session("a", 2)};
  sessions.push_back(Session("empty", 9));
  sessions.back().user_messages = 0;
  sessions.push_back(Session("child", 9));
  sessions.back().parent_session_id = "new";
  sessions.push_back(Session("elsewhere", 9));
  sessions.back().cwd = "/q";
  const Result<std::string> page = ListPage(sessions, {.cwd = "/p", .cursor = {}});
  ASSERT_TRUE(page);
  EXPECT_EQ(Ids(*page), (std::vector<std::string>{"new", "a", "b", "old"}));
  EXPECT_FALSE(JsonView(*page)["nextCursor"]);
  EXPECT_EQ(JsonView(*page)["sessions"].text().substr(0, 75),
            R"([{"sessionId":"new","cwd":"/p","updatedAt":"1970-01-01T00:00:00.003Z"},{"se)");
}

TEST(ListingTest, PagesHaveEverySessionOnce) {
  std::vector<protocol::SessionSummary> sessions;
  for (int i = 0; i < 250; ++i) sessions.push_back(Session(fmt::format("s{:03}", i), i / 7));
  std::vector<std::string> all;
  ListWanted wanted;
  std::size_t pages = 0;
  do {
    const Result<std::string> page = ListPage(sessions, wanted);
    ASSERT_TRUE(page);
    for (std::string& id : Ids(*page)) all.push_back(std::move(id));
    wanted.cursor = JsonView(*page)["nextCursor"].String();
    ++pages;
  } while (wanted.cursor);
  EXPECT_EQ(pages, 3U);
  ASSERT_EQ(all.size(), 250U);
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

TEST(ListingTest, ACursorOfSomebodyElseIsRefused) {
  for (const char* cursor : {"", "x", "12", "1x.s", "99999999999999999999.s"})
    EXPECT_FALSE(ListPage({}, {.cwd = {}, .cursor = cursor})) << cursor;
}

}  // namespace
}  // namespace stet::acp
