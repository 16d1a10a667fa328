// The checker of capsules: their shape as a table, walked without recursion beyond the table's own
// depth; then what must hold between the parts.
#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/utf8.h"
#include "json/view.h"
#include "run/capsule/capsule.h"

namespace stet::run {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{32} << 20;

enum class Want { kText, kInt, kUInt, kBool, kAny, kObject, kObjects, kTexts };

struct Member;
using Shape = std::span<const Member>;
using Names = std::span<const std::string_view>;

struct Member {
  std::string_view name;
  Want want = Want::kText;
  bool required = true;
  Shape shape;   // Of an object, or of each of the objects.
  Names values;  // That a text may have; none: any.
};

constexpr std::array<std::string_view, 5> kPhaseNames = {"intake", "plan", "execute", "verify",
                                                         "report"};
constexpr std::array<std::string_view, 8> kCodes = {"stop",   "denied", "question", "reconcile",
                                                    "resume", "gate",   "finish",   "go_on"};
constexpr std::array<std::string_view, 4> kSeverityNames = {
    severity::kHardDeny, severity::kSoftDeny, severity::kEvidence, severity::kWarning};
constexpr std::array<std::string_view, 3> kGateStates = {"passed", "failed", "not_evaluated"};
constexpr std::array<std::string_view, 5> kOpenStatuses = {tx::kPlanned, tx::kWriting, tx::kWritten,
                                                           tx::kBlocked, tx::kUnknown};
constexpr std::array<std::string_view, 2> kPromiseStates = {"drafted", "confirmed"};

constexpr Member Text(std::string_view name, Names values = {}) {
  return {.name = name, .want = Want::kText, .values = values};
}
constexpr Member Int(std::string_view name) { return {.name = name, .want = Want::kInt}; }
constexpr Member UInt(std::string_view name) { return {.name = name, .want = Want::kUInt}; }
constexpr Member Bool(std::string_view name) { return {.name = name, .want = Want::kBool}; }
constexpr Member Any(std::string_view name) { return {.name = name, .want = Want::kAny}; }
constexpr Member Texts(std::string_view name) { return {.name = name, .want = Want::kTexts}; }
constexpr Member Object(std::string_view name, Shape shape) {
  return {.name = name, .want = Want::kObject, .shape = shape};
}
constexpr Member Objects(std::string_view name, Shape shape) {
  return {.name = name, .want = Want::kObjects, .shape = shape};
}
constexpr Member Optional(Member member) {
  member.required = false;
  return member;
}

constexpr std::array kNext = {Text("code", kCodes), Text("subject"), Text("text"), Bool("blocks")};
constexpr std::array kDenial = {
    Text("findingId"), Text("policy"),           Text("severity", kSeverityNames),
    Text("message"),   Optional(Any("subject")), Texts("evidenceIds"),
    UInt("seq")};
constexpr std::array kQuestion = {Text("questionId"), Text("text"), Bool("blocking"),
                                  Optional(Any("options")), UInt("seq")};
constexpr std::array kResume = {Text("phase", kPhaseNames), Text("action"),
                                Optional(Text("questionId"))};
constexpr std::array kGate = {Text("findingId"),
                              Text("policy"),
                              Text("severity", kSeverityNames),
                              Text("gate"),
                              Optional(Text("evidence")),
                              Text("state", kGateStates)};
constexpr std::array kTransaction = {Text("transactionId"),
                                     Text("path"),
                                     Text("status", kOpenStatuses),
                                     Optional(Text("before")),
                                     Optional(Text("after")),
                                     Optional(Text("toolCallId")),
                                     Texts("anchorIds"),
                                     Optional(Text("reason")),
                                     UInt("seq")};
constexpr std::array kClosed = {Int("verified"), Int("reverted"), Int("superseded")};
constexpr std::array kRef = {Int("start"), Int("end"), Text("hash"), UInt("sum")};
constexpr std::array kAnchor = {Text("path"), Text("hash"), Bool("whole"), Objects("refs", kRef),
                                UInt("seq")};
constexpr std::array kClause = {Text("id"), Text("text"), Text("evidence")};
constexpr std::array kPromise = {Text("promiseId"), Int("version"), Text("state", kPromiseStates),
                                 Objects("clauses", kClause)};
constexpr std::array kStop = {Text("kind", kStops), Text("reason"), Texts("findingIds")};
constexpr std::array kRepair = {Text("status"), Int("attempt"), Optional(Text("signature")),
                                Optional(Text("evidenceId")), Int("repeats")};
constexpr std::array kPin = {Text("pinId"), Text("text"), Text("source")};
constexpr std::array kCapsule = {
    Int("version"),
    Text("sessionId"),
    Text("traceId"),
    Optional(Text("leafId")),
    UInt("seq"),
    Int("generation"),
    Int("createdAt"),
    Text("phase", kPhaseNames),
    Object("next", kNext),
    Objects("denials", kDenial),
    Objects("questions", kQuestion),
    Optional(Object("resume", kResume)),
    Objects("gates", kGate),
    Objects("transactions", kTransaction),
    Object("closed", kClosed),
    Objects("anchors", kAnchor),
    Optional(Object("promise", kPromise)),
    Texts("unmetClauses"),
    Optional(Object("stop", kStop)),
    Optional(Object("repair", kRepair)),
    Objects("pins", kPin),
    Text("digest"),
};

class Walk {
 public:
  explicit Walk(CapsuleCheck& check) : check_(check) {}

  // Recursion is as deep as the table, whatever the text is.
  // NOLINTNEXTLINE(misc-no-recursion)
  void Object(JsonView object, Shape shape, const std::string& path) {
    std::uint64_t seen = 0;
    const bool whole = object.ForEachMember([&](std::string_view key, JsonView value) {
      const auto found = std::ranges::find(shape, key, &Member::name);
      const std::string at = path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
      if (found == shape.end()) return Warn(at, "unknown_member");
      const std::uint64_t bit = std::uint64_t{1} << (found - shape.begin());
      if (!found->required && value.is_null()) return;
      if ((seen & bit) != 0) return Fail(at, "duplicate");
      seen |= bit;
      Value(value, *found, at);
    });
    if (!whole) return Fail(path, "wrong_kind");
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (shape[i].required && (seen & (std::uint64_t{1} << i)) == 0)
        Fail(path.empty() ? std::string(shape[i].name) : fmt::format("{}.{}", path, shape[i].name),
             "missing");
    }
  }

  void Fail(const std::string& path, std::string_view code) { Add(check_.errors, path, code); }
  void Warn(const std::string& path, std::string_view code) { Add(check_.warnings, path, code); }

 private:
  static void Add(std::vector<CapsuleFault>& faults, const std::string& path,
                  std::string_view code) {
    if (faults.size() < CapsuleCheck::kMaxFaults)
      faults.push_back({ReplaceInvalidUtf8(path), std::string(code)});
  }

  // NOLINTNEXTLINE(misc-no-recursion)
  void Value(JsonView value, const Member& member, const std::string& path) {
    JsonReader reader(value.text());
    std::int64_t number = 0;
    std::uint64_t unsigned_number = 0;
    switch (member.want) {
      case Want::kText: return CheckText(value, member, path);
      case Want::kInt: return Demand(reader.Int(&number) && reader.AtEnd(), path);
      case Want::kUInt: return Demand(reader.UInt(&unsigned_number) && reader.AtEnd(), path);
      case Want::kBool: return Demand(value.Bool().has_value(), path);
      case Want::kAny: return;
      case Want::kObject: return Object(value, member.shape, path);
      case Want::kObjects:
      case Want::kTexts: return List(value, member, path);
    }
  }

  // NOLINTNEXTLINE(misc-no-recursion)
  void List(JsonView list, const Member& member, const std::string& path) {
    if (!list.is_array()) return Fail(path, "wrong_kind");
    std::size_t at = 0;
    list.ForEach([&](JsonView item) {
      const std::string place = fmt::format("{}[{}]", path, at++);
      if (member.want == Want::kTexts)
        Demand(item.is_string(), place);
      else
        Object(item, member.shape, place);
    });
  }

  void CheckText(JsonView value, const Member& member, const std::string& path) {
    if (!value.is_string()) return Fail(path, "wrong_kind");
    if (member.values.empty()) return;
    if (std::ranges::find(member.values, value.StringOr("")) == member.values.end())
      Fail(path, "unknown_value");
  }

  void Demand(bool holds, const std::string& path) {
    if (!holds) Fail(path, "wrong_kind");
  }

  CapsuleCheck& check_;
};

/// What must hold between the parts of a capsule whose shape is right.
void CheckSense(const Capsule& capsule, Walk& walk) {
  for (std::size_t i = 0; i < capsule.transactions.size(); ++i) {
    const protocol::RunTransaction& one = capsule.transactions[i];
    // A file that does not exist yet has nothing to be anchored to.
    const bool planned = one.status == tx::kPlanned && one.before;
    if (planned && std::ranges::find(capsule.anchors, one.path, &protocol::RunAnchor::path) ==
                       capsule.anchors.end())
      walk.Warn(fmt::format("transactions[{}]", i), "planned_write_without_anchor");
  }
  for (std::size_t i = 0; i < capsule.questions.size(); ++i) {
    if (capsule.questions[i].blocking && !capsule.resume)
      walk.Warn(fmt::format("questions[{}]", i), "question_without_resume_point");
  }
  if (capsule.resume && capsule.resume->question_id &&
      std::ranges::find(capsule.questions, *capsule.resume->question_id,
                        &protocol::RunQuestion::question_id) == capsule.questions.end())
    walk.Warn("resume.questionId", "resume_question_not_open");
  for (std::size_t i = 0; i < capsule.gates.size(); ++i) {
    if (std::ranges::find(capsule.denials, capsule.gates[i].finding_id,
                          &protocol::RunFinding::finding_id) == capsule.denials.end())
      walk.Warn(fmt::format("gates[{}]", i), "gate_without_finding");
  }
}

}  // namespace

CapsuleCheck CheckCapsule(std::string_view text) {
  CapsuleCheck check;
  Walk walk(check);
  if (text.size() > kMaxBytes)
    walk.Fail("", "too_large");
  else if (!CheckJson(text))
    walk.Fail("", "not_json");
  else if (!IsValidUtf8(text))
    walk.Fail("", "not_utf8");
  if (!check.valid()) return check;
  const JsonView json(text);
  if (json["version"].IntOr(Capsule::kVersion) > Capsule::kVersion) {
    walk.Fail("version", "version");
    return check;
  }
  walk.Object(json, kCapsule, "");
  if (json["generation"].IntOr(1) < 1) walk.Fail("generation", "unknown_value");
  if (!check.valid()) return check;
  const Result<Capsule> capsule = Decode<Capsule>(text);
  if (!capsule) {
    walk.Fail("", "wrong_kind");
    return check;
  }
  if (capsule->digest != CapsuleDigest(*capsule)) walk.Fail("digest", "digest");
  CheckSense(*capsule, walk);
  return check;
}

}  // namespace stet::run
