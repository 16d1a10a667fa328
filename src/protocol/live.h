// What a face asks of a live session, and what it is told: plain data, the same in this process and
// on the wire.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "protocol/content.h"
#include "protocol/limits.h"
#include "protocol/work.h"

namespace stet::protocol {

// `session_id` in requests to a session: a caller that holds the session leaves it empty, and the
// hold fills it in.

/// Opens a session, or makes one, and says how its turns work from now on. What is empty or absent
/// stays as the session has it, or is as the configuration says.
struct Attach {
  STET_FIELDS(Attach,
              (OptionalText, session_id),  // Absent: a new session.
              (OptionalText, new_session_id),  // For a new one or a copy; made up when absent.
              (bool, fork),  // Works on a copy of the session.
              (OptionalText, at),  // Rewinds to this event first; with `fork`, copies up to it.
              (Text, cwd),
              (Text, model),
              (Text, fallback_model),
              (OptionalText, effort),
              (Text, mode),
              (Text, allowed),  // Rules, as on the command line.
              (Text, disallowed),
              (OptionalTexts, tools),  // The only tools there are; absent: all.
              (Texts, add_dirs),  // Folders beside the project that count as its own.
              (Text, append_system_prompt),
              (OptionalText, system_prompt),  // In place of our own.
              (OptionalRaw, output_schema),  // What the turn's answer must fit.
              (std::int64_t, max_steps),  // 0: no limit.
              (std::int64_t, max_price),  // Micro-units; 0: no limit.
              (std::int64_t, max_tokens),  // Of one turn, of all kinds; 0: no limit.
              (std::int64_t, max_ms),  // Of one turn; 0: no limit.
              (OptionalTexts, environment),  // "NAME=value" each: over a unix socket only; for
                                             // commands and keys, never stored.
              (bool, answers))  // The client answers what is asked; else it is denied.
  static constexpr std::array kLimits = {Limit{.member = "effort", .words = kEffortWords},
                                         Limit{.member = "mode", .words = kModeWords},
                                         Limit{.member = "maxSteps", .least = 0},
                                         Limit{.member = "maxPrice", .least = 0},
                                         Limit{.member = "maxTokens", .least = 0},
                                         Limit{.member = "maxMs", .least = 0}};
};

struct ImageFile {
  STET_FIELDS(ImageFile, (Text, media_type), (Text, data))  // Base64.
};
using ImageFiles = std::vector<ImageFile>;

struct Send {
  STET_FIELDS(Send,
              (Text, session_id),
              (OptionalText, client_message_id),  // The same one twice is one message.
              (Text, how),  // send (a follow-up while a turn runs), steer, continue, next (the
                            // first follow-up, however the last turn ended), or compact
              (Text, text),
              (ImageFiles, images),
              (OptionalTexts, environment))  // As Attach has it.
  static constexpr std::array kLimits = {
      Limit{.member = "how", .required = true, .words = "send steer continue next compact"}};
};

struct Accepted {
  STET_FIELDS(Accepted,
              (Text, what),  // started, queued, steered, or known (accepted before)
              (OptionalText, turn_id),
              (OptionalText, item_id))
};

/// A call that waits until a client allows or denies it.
struct PermissionAsk {
  STET_FIELDS(PermissionAsk,
              (Text, request_id),
              (Text, tool_call_id),
              (Text, tool),
              (Raw, args),
              (Text, summary),  // One line: what it would do.
              (Text, reason),  // Why it is asked.
              (Text, rule),
              (Text, session_rule),  // What any wider scope than `once` would allow from now on.
              (OptionalBool, confined))  // Of a command: whether it would run in a sandbox.
};
using PermissionAsks = std::vector<PermissionAsk>;

struct PermissionAnswer {
  STET_FIELDS(PermissionAnswer,
              (Text, session_id),
              (Text, request_id),
              (bool, allow),
              (Text, scope),  // once, session, project or always
              (OptionalRaw, args),  // As the approver edited them.
              (Text, message),  // For the model, when it is denied.
              (bool, stop))  // Denied, and the turn ends.
  static constexpr std::array kLimits = {
      Limit{.member = "requestId", .required = true}, Limit{.member = "allow", .required = true},
      Limit{.member = "scope", .words = "once session project always"}};
};

struct QuestionAsk {
  STET_FIELDS(QuestionAsk, (Text, question_id), (Text, text), (Raw, options))
};
using QuestionAsks = std::vector<QuestionAsk>;

struct QuestionAnswer {
  STET_FIELDS(QuestionAnswer,
              (Text, session_id),
              (Text, question_id),
              (Raw, answer))  // A string, or {"declined":WHY}.
};

struct LiveState {
  STET_FIELDS(LiveState,
              (Text, session_id),
              (Text, state),  // idle, running, waiting
              (OptionalText, turn_id),
              (Text, project),
              (Text, cwd),
              (Text, model),
              (Text, effort),
              (Text, mode),
              (Texts, tools),
              (std::int64_t, context_window),
              (OptionalText, leaf_id),
              (bool, interrupted),  // The last turn did not come to its end: `continue` goes on.
              (QueueItems, follow_ups),
              (QueueItems, steers),
              (PermissionAsks, asks),
              (QuestionAsks, questions),
              (Texts, commands),  // Of extensions: /NAME.
              (Texts, notes))  // What a face should say about how the session was opened.
};

/// A rule that a session works under.
struct RuleRow {
  STET_FIELDS(RuleRow,
              (Text, verdict),  // hard, deny, ask or allow
              (Text, rule),
              (Text, source),  // Who said it.
              (Text, file),    // That it stands in; empty: in none.
              (bool, granted))  // In answer to a question: it can be forgotten.
};
using RuleRows = std::vector<RuleRow>;

struct PermissionReport {
  STET_FIELDS(PermissionReport,
              (Text, mode),
              (RuleRows, rules),
              (bool, excludes),  // Files of the project are excluded.
              (bool, sandboxed))
};

/// What changes; absent: as before. A mode holds at once, also for a turn that runs; model and
/// effort hold for the turns to come.
struct Change {
  STET_FIELDS(Change,
              (Text, session_id),
              (OptionalText, model),
              (OptionalText, effort),
              (OptionalText, mode),
              (OptionalText, title),
              (OptionalText, forget))  // A rule that was granted: from now on it is asked again.
  static constexpr std::array kLimits = {Limit{.member = "effort", .words = kEffortWords},
                                         Limit{.member = "mode", .words = kModeWords}};
};

/// A turn that a model is shown, or was until it was snipped.
struct TurnRow {
  STET_FIELDS(TurnRow,
              (Text, id),  // Of the message that it began with.
              (Text, through),  // The last event before the next message.
              (Text, words),  // The message's first.
              (std::int64_t, bytes),  // Of text that it brings to a request, about.
              (bool, snipped),
              (bool, newest))  // No later message follows it: it may still run.
};
using TurnRows = std::vector<TurnRow>;

/// What a client marks in a session: texts that must not be lost, turns that a model is not shown,
/// gates and what they object to.
struct Mark {
  STET_FIELDS(Mark,
              (Text, session_id),
              (Text, what),  // pin, unpin, snip, unsnip, gate, clear, waive
              (Text, id),  // Of the pin, the turn's message or the finding: whole, a beginning that
                           // only one has, or, but for findings, a number as it is listed.
              (Text, text))  // What is pinned; "finish test" for a gate; why it is waived.
  static constexpr std::array kLimits = {
      Limit{.member = "what", .required = true, .words = "pin unpin snip unsnip gate clear waive"}};
};

}  // namespace stet::protocol
