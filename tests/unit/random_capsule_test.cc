// Runs of random events, and capsules of random JSON: replay gives what was there live, every
// capsule that is made is valid, and no value breaks the checker.
#include <gtest/gtest.h>

#include "base/random.h"
#include "base/utf8.h"
#include "json/tree.h"
#include "run/run_fixture.h"
#include "tests/scale.h"

namespace stet::run {
namespace {

std::string Pick(Random& random, std::initializer_list<const char*> from) {
  return *(from.begin() + random.Below(from.size()));
}

std::string RandomText(Random& random) {
  return Pick(random, {"", " ", "a", "b", "c", "unsafe", "plan", "execute", "\n# Rules\n1. Yes",
                       "</x>", "\xf0\x9f\x92\xa9", "\xff", "model", "user", "gate:a"});
}

protocol::Payload RandomFile(Random& random) {
  protocol::FileFact fact;
  fact.op = Pick(random, {"read", "write", "write", "delete", "outside_write", "odd"});
  fact.path = Pick(random, {"/p/a", "/p/b", "/p/c"});
  if (random.Below(4) != 0) fact.after = Sha256Hex(RandomText(random));
  if (random.Below(2) != 0) fact.before = Sha256Hex(RandomText(random));
  if (random.Below(2) != 0) fact.tool_call_id = Pick(random, {"c1", "c2", "c3"});
  if (random.Below(3) == 0)
    fact.coverage = Raw{Pick(random, {"null", R"({"lines":[[1,2],[4,3],[2,9]],"total":5})", "[1]",
                                      R"({"lines":[[1,9223372036854775807]],"total":0})"})};
  return fact;
}

protocol::Payload RandomFinding(Random& random) {
  protocol::FindingRaised raised;
  raised.finding_id = RandomText(random);
  raised.policy = Pick(random, {"gate:a", "gate:b", "rule"});
  raised.severity = Pick(random, {"hard-deny", "soft-deny", "evidence-required", "warning", "odd"});
  raised.message = RandomText(random);
  if (random.Below(2) != 0)
    raised.subject = Raw{Pick(
        random, {"null", "[]", R"({"gate":"write","evidence":"test"})", R"({"holds":["write",1]})",
                 R"({"gate":"finish"})", R"({"gate":"outside-write"})", R"({"question":"a"})"})};
  return raised;
}

protocol::Payload RandomControl(Random& random) {
  switch (random.Below(7)) {
    case 0: {
      protocol::PhaseMoved moved;
      moved.from = Pick(random, {"execute", "plan", "verify", "odd"});
      moved.to = Pick(random, {"execute", "plan", "verify", "report", "odd"});
      if (random.Below(2) != 0) moved.next = RandomText(random);
      return moved;
    }
    case 1: {
      protocol::Evidence evidence;
      evidence.kind = Pick(random, {"test", "build", "user", "odd"});
      evidence.outcome = Pick(random, {"passed", "failed", "odd"});
      return evidence;
    }
    case 2: {
      protocol::Stop stop;
      stop.kind = Pick(random, {"unsafe", "done", "stuck", "odd"});
      stop.reason = RandomText(random);
      if (random.Below(2) != 0) stop.cleared = true;
      return stop;
    }
    case 3: {
      protocol::Repair repair;
      repair.status = Pick(random, {"active", "blocked", "resolved", "odd"});
      if (random.Below(2) != 0) repair.signature = RandomText(random);
      return repair;
    }
    case 4: {
      protocol::PromiseMade made;
      made.promise_id = Pick(random, {"p", "q"});
      made.version = static_cast<std::int64_t>(random.Below(3));
      made.clauses = Raw{Pick(random, {"null", "[1,{}]", R"([{"id":"c","evidence":"test"}])"})};
      made.state = Pick(random, {"drafted", "confirmed", "withdrawn", "odd"});
      made.by = RandomText(random);
      return made;
    }
    case 5: {
      protocol::Waiver waiver;
      waiver.finding_id = RandomText(random);
      waiver.by = RandomText(random);
      waiver.reason = RandomText(random);
      return waiver;
    }
    default: {
      protocol::FindingCleared cleared;
      cleared.finding_id = RandomText(random);
      return cleared;
    }
  }
}

/// Often about the few things that others were about.
protocol::Payload RandomEvent(Random& random) {
  switch (random.Below(9)) {
    case 0: {
      protocol::UserMessage message;
      message.source = Pick(random, {"user", "follow_up", "system"});
      return message;
    }
    case 1: {
      protocol::ToolResult result;
      result.tool_call_id = Pick(random, {"c1", "c2", "c3"});
      result.is_error = random.Below(2) != 0;
      return result;
    }
    case 2: {
      protocol::Question question;
      question.question_id = RandomText(random);
      question.phase = Pick(random, {"asked", "asked", "answered", "withdrawn", "odd"});
      question.text = RandomText(random);
      if (random.Below(2) != 0) question.blocking = random.Below(2) != 0;
      if (random.Below(2) != 0) question.options = Raw{std::string(40, '[') + std::string(40, ']')};
      return question;
    }
    case 3: return RandomFile(random);
    case 4: return RandomFinding(random);
    case 5: {
      protocol::Transaction said;
      said.transaction_id = Pick(random, {"c1:/p/a", "c2:/p/b", "t"});
      said.path = Pick(random, {"/p/a", "/p/b"});
      said.status = Pick(random, {"planned", "writing", "written", "verified", "reverted", "odd"});
      return said;
    }
    case 6: {
      protocol::Pin pin;
      pin.pin_id = RandomText(random);
      pin.text = RandomText(random);
      if (random.Below(3) == 0) pin.removed = true;
      return pin;
    }
    case 7: {
      if (random.Below(4) != 0) return RandomControl(random);
      if (random.Below(2) == 0) return protocol::Compaction();
      protocol::CapsuleRestored restored;
      restored.compact_id = "e" + std::to_string(random.Below(40));
      return restored;
    }
    default: return RandomControl(random);
  }
}

std::vector<protocol::Event> RandomEvents(Random& random, std::size_t count) {
  std::vector<protocol::Event> events;
  for (std::size_t i = 1; i <= count; ++i) {
    protocol::Event& event = events.emplace_back();
    event.seq = i;
    event.id = "e" + std::to_string(i);
    event.payload = RandomEvent(random);
  }
  return events;
}

std::string Everything(const State& state) {
  return Encode(state.Report()) + state.KeptHash() +
         Encode(MakeCapsule(state, {.seq = state.last_seq(), .reader = Story().Reader()}));
}

TEST(RandomCapsuleTest, ReplayOfAnyPrefixIsWhatWasThereLive) {
  Random random(11);
  for (int round = 0; round < 30; ++round) {
    const std::vector<protocol::Event> events = RandomEvents(random, 60);
    State live;
    for (std::size_t end = 0; end < events.size(); ++end) {
      live.Fold(events[end]);
      State replayed;
      for (std::size_t i = 0; i <= end; ++i) replayed.Fold(events[i]);
      ASSERT_EQ(Everything(replayed), Everything(live)) << "round " << round << ", event " << end;
    }
  }
}

void RestoreAndRender(const Capsule& capsule, const State& state) {
  const std::string shown = RenderCapsule(capsule);
  ASSERT_TRUE(IsValidUtf8(shown));
  ASSERT_LE(shown.size(), kMaxRendered);
  ASSERT_EQ(shown.find("\n#"), std::string::npos);
  ASSERT_EQ(shown.find('<'), std::string::npos);
  const Restored restored =
      RestoreCapsule(capsule, state, {.session_ids = {}, .reader = Story().Reader()});
  ASSERT_TRUE(CheckJson(VerdictsJson(restored).text));
}

TEST(RandomCapsuleTest, EveryCapsuleThatIsMadeIsValid) {
  Random random(12);
  for (int round = 0; round < 1000; ++round) {
    State state;
    for (const protocol::Event& event : RandomEvents(random, 40)) state.Fold(event);
    const Capsule capsule =
        MakeCapsule(state, {.seq = 40, .generation = 1, .reader = Story().Reader()});
    const std::string text = Encode(capsule);
    const CapsuleCheck check = CheckCapsule(text);
    ASSERT_TRUE(check.valid()) << check.errors[0].path << " " << check.errors[0].code << text;
    RestoreAndRender(*ReadCapsule(text), state);
    const protocol::RunNext next = state.next();
    if (next.blocks) {
      ASSERT_EQ(state.capabilities().reason, next.text);
      ASSERT_FALSE(state.capabilities().may_finish);
    }
  }
}

/// Any value in the tree, by walking down at random.
JsonTree& Somewhere(JsonTree& tree, Random& random) {
  JsonTree* at = &tree;
  for (std::size_t depth = random.Below(5); depth > 0; --depth) {
    if (!at->members.empty())
      at = &at->members[random.Below(at->members.size())].value;
    else if (!at->items.empty())
      at = &at->items[random.Below(at->items.size())];
  }
  return *at;
}

void Mutate(JsonTree& tree, Random& random) {
  JsonTree& at = Somewhere(tree, random);
  switch (random.Below(5)) {
    case 0:
      at = *ParseTree(Pick(
          random, {"null", "true", "-1", "1e400", "18446744073709551616", "\"\"", "\"\\ud800\"",
                   "[]", "{}", "[[[[]]]]", "\"plan\"", "\"hard-deny\"", "\"\\n# Rules\""}));
      break;
    case 1:
      if (!at.members.empty())
        at.members.erase(at.members.begin() +
                         static_cast<std::ptrdiff_t>(random.Below(at.members.size())));
      break;
    case 2:
      if (!at.members.empty()) at.members.push_back(at.members[random.Below(at.members.size())]);
      break;
    case 3:
      if (!at.items.empty()) at.items.push_back(at.items[random.Below(at.items.size())]);
      break;
    default: {
      JsonTree other = Somewhere(tree, random);
      Somewhere(tree, random) = std::move(other);
    }
  }
}

TEST(RandomCapsuleTest, NoValueBreaksTheCheckerAndEveryValidOneRendersAndRestores) {
  Random random(13);
  const JsonTree whole = *ParseTree(Encode(FullStory().MakeCapsule()));
  const State state = FullStory().state;
  int valid = 0;
  for (int i = 0; i < TestScale().capsules; ++i) {
    JsonTree tree = whole;
    for (std::size_t times = random.Below(4); times > 0; --times) Mutate(tree, random);
    std::string text;
    AppendJson(text, tree);
    if (Result<Capsule> capsule = Decode<Capsule>(text); capsule && random.Below(8) != 0) {
      capsule->digest = CapsuleDigest(*capsule);
      text = Encode(*capsule);
    }
    if (random.Below(16) == 0 && !text.empty())
      text[random.Below(text.size())] = static_cast<char>(random.Below(256));
    const CapsuleCheck check = CheckCapsule(text);
    const Result<Capsule> read = ReadCapsule(text);
    ASSERT_EQ(read.has_value(), check.valid()) << text;
    if (!read) continue;
    ++valid;
    RestoreAndRender(*read, state);
    if (HasFatalFailure()) FAIL() << text;
  }
  EXPECT_GT(valid, TestScale().capsules / 50) << "the test must reach what it tests";
}

}  // namespace
}  // namespace stet::run
