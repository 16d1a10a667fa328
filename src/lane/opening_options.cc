#include "lane/opening_options.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace stet::lane {
namespace {

using protocol::Attach;

struct Option {
  std::string_view flag;  // On the command line.
  bool (*given)(const Attach& attach);
  bool (*same)(const Attach& one, const Attach& other);
  void (*clear)(Attach& attach);
};

template <auto member>
constexpr Option OptionOf(std::string_view flag) {
  return {
      .flag = flag,
      .given = [](const Attach& attach) { return attach.*member != Attach().*member; },
      .same = [](const Attach& one, const Attach& other) { return one.*member == other.*member; },
      .clear = [](Attach& attach) { attach.*member = Attach().*member; }};
}

constexpr std::string_view kDisallowed = "--disallowed-tools";

constexpr std::array kOptions = {
    OptionOf<&Attach::at>("--at"),
    OptionOf<&Attach::fallback_model>("--fallback-model"),
    OptionOf<&Attach::allowed>("--allowed-tools"),
    OptionOf<&Attach::disallowed>(kDisallowed),
    OptionOf<&Attach::tools>("--tools"),
    OptionOf<&Attach::add_dirs>("--add-dir"),
    OptionOf<&Attach::append_system_prompt>("--append-system-prompt"),
    OptionOf<&Attach::system_prompt>("--system-prompt"),
    OptionOf<&Attach::output_schema>("--json-schema"),
    OptionOf<&Attach::max_steps>("--max-turns"),
    OptionOf<&Attach::max_price>("--max-budget-usd"),
    OptionOf<&Attach::max_tokens>("--max-tokens"),
    OptionOf<&Attach::max_ms>("--timeout"),
};

}  // namespace

bool SameOptions(const Attach& one, const Attach& other) {
  for (const Option& option : kOptions) {
    if (!option.same(one, other)) return false;
  }
  return true;
}

Status MayJoin(const Attach& wanted, const Attach& in_force, const protocol::LiveState& state) {
  std::string differ;
  const auto add = [&](std::string_view flag) {
    differ += differ.empty() ? "" : ", ";
    differ += flag;
  };
  for (const Option& option : kOptions) {
    if (option.flag != kDisallowed && option.given(wanted) && !option.same(wanted, in_force))
      add(option.flag);
  }
  if (!wanted.model.empty() && wanted.model != state.model) add("--model");
  if (wanted.effort && *wanted.effort != state.effort) add("--effort");
  if (!wanted.mode.empty() && wanted.mode != state.mode) add("--permission-mode");
  if (differ.empty()) return {};
  return Fail(Code::kConflict,
              fmt::format("the session is open in another client, and stays as that one opened it; "
                          "this would change it: {}. Leave that out, change it in the session "
                          "(/mode, /model), or work on a copy (--fork-session)",
                          differ));
}

std::string BothDisallowed(const std::string& in_force, const std::string& wanted) {
  if (in_force.empty()) return wanted;
  const bool has = fmt::format(",{},", in_force).contains(fmt::format(",{},", wanted));
  return wanted.empty() || has ? in_force : fmt::format("{},{}", in_force, wanted);
}

Attach InForce(Attach attach, const std::string& session_id) {
  attach.session_id = session_id;
  attach.new_session_id.reset();
  attach.fork = false;
  attach.at.reset();
  attach.append_system_prompt.clear();
  attach.model.clear();
  attach.effort.reset();
  attach.mode.clear();
  return attach;
}

Attach WithoutOptions(const Attach& in_force) {
  Attach plain = in_force;
  for (const Option& option : kOptions) {
    if (option.flag != kDisallowed) option.clear(plain);
  }
  plain.answers = false;
  return plain;
}

}  // namespace stet::lane
