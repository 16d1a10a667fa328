#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/version.h"
#include "cli/exit_codes.h"

namespace stet::cli {
namespace {

constexpr std::string_view kDescription =
    "stet runs a language model in a tool loop over your repository; everything that happens is "
    "one append-only event log.";

/// Adds `stet sessions` and its verbs, which all fill the same command.
void AddSessions(CLI::App& app, SessionsCommand& command) {
  CLI::App* sessions = app.add_subcommand(
      "sessions", "List, read, move around in, copy, check and remove stored sessions");
  sessions->require_subcommand(1);
  const auto verb = [&](const char* name, const char* description) {
    CLI::App* added = sessions->add_subcommand(name, description);
    added->callback([&command, name] { command.verb = name; });
    return added;
  };
  const auto with_json = [&](CLI::App* added) {
    added->add_flag("--json", command.json, "Print JSON");
  };
  const auto with_yes = [&](CLI::App* added) {
    added->add_flag("-y,--yes", command.yes, "Do not ask");
  };
  const auto with_id = [&](CLI::App* added) {
    added->add_option("ID", command.id, "The session: its id, or enough of its beginning")
        ->required();
  };
  const auto with_expect = [&](CLI::App* added) {
    added->add_option("--expect", command.expect, "Fail unless this event is the leaf now");
  };

  CLI::App* ls = verb("ls", "List sessions, newest first");
  with_json(ls);

  CLI::App* show = verb("show", "Print a session's transcript");
  with_id(show);
  show->add_option("--at", command.at, "Up to this event instead of the leaf");
  show->add_flag("--cost", command.cost, "What its model calls came to, instead of the transcript");
  with_json(show);

  CLI::App* tree = verb("tree", "Draw a session's branches");
  with_id(tree);
  tree->add_flag("--all", command.all, "Every event, not only turns and forks");
  with_json(tree);

  CLI::App* rewind = verb("rewind", "Go back to an earlier event; nothing is deleted");
  with_id(rewind);
  rewind->add_option("EVENT", command.event, "The event to go back to");
  rewind->add_flag("--to-start", command.to_start, "To before the first event");
  with_expect(rewind);
  with_json(rewind);

  CLI::App* branch = verb("branch", "Go to another branch's leaf");
  with_id(branch);
  branch->add_option("LEAF", command.event, "The leaf to go to (see `tree`)")->required();
  with_expect(branch);
  with_json(branch);

  CLI::App* clone = verb("clone", "Copy a session's path into a new session");
  with_id(clone);
  clone->add_option("--at", command.at, "Up to this event instead of the leaf");
  with_json(clone);

  CLI::App* exporting = verb("export", "Write a session to a tar, or its log alone");
  with_id(exporting);
  exporting->add_option("-o,--output", command.output,
                        "The file to write (default: ID.tar or ID.jsonl here; - for stdout)");
  exporting->add_flag("--jsonl", command.jsonl, "The log alone, without blobs and child agents");

  CLI::App* import = verb("import", "Take in an exported session (a tar or a JSONL)");
  import->add_option("FILE", command.file, "The file (- for stdin)")->required();
  import->add_flag("--new-id", command.new_id, "Under a new id, when its own is taken");
  with_json(import);

  CLI::App* verify = verb("verify", "Check every byte of a session; exit code 0 when it is sound");
  verify->add_option("ID", command.id, "The session");
  verify->add_flag("--all", command.all, "Every session");
  with_json(verify);

  CLI::App* repair =
      verb("repair", "Set damage aside and rebuild what can be rebuilt; says what before it acts");
  with_id(repair);
  with_yes(repair);

  CLI::App* rm = verb("rm", "Move sessions to the trash");
  rm->add_option("ID", command.ids, "The sessions")->required();
  with_yes(rm);

  CLI::App* restore = verb("restore", "Bring a session back from the trash, or list the trash");
  restore->add_option("ID", command.id, "The removed session");
  with_json(restore);

  CLI::App* du = verb("du", "Show what sessions take on disk");
  with_json(du);

  CLI::App* gc = verb("gc", "Find what no event needs, and delete it for good when you say so");
  gc->add_flag("--trash", command.with_trash, "The trash as well");
  with_yes(gc);
  with_json(gc);
}

void AddPrint(CLI::App& app, PrintCommand& command) {
  app.add_flag("-p,--print", command.print,
               "Do what the prompt says, print the answer, and end; what is piped in is appended");
  app.add_option("prompt", command.prompt, "What to do");
  app.add_option("--output-format", command.output_format, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
  app.add_option("--model", command.model, "PROVIDER/ID, a name of the configuration, or offline");
  app.add_option("--effort", command.effort, "How hard the model thinks")
      ->check(CLI::IsMember({"none", "minimal", "low", "medium", "high", "xhigh", "max"}));
  app.add_option("--permission-mode", command.mode, "default, acceptEdits, plan or bypass");
  app.add_option("--allowed-tools,--allowedTools", command.allowed,
                 "Rules for what may run unasked: Tool, Tool(beginning*)");
  app.add_option("--disallowed-tools,--disallowedTools", command.disallowed,
                 "Rules for what may not run");
  app.add_option("--append-system-prompt", command.append_system_prompt,
                 "More instructions for a new session");
  app.add_option("--max-turns", command.max_turns, "End after this many steps")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--cwd", command.cwd, "The folder to work in");
  app.add_option("-r,--resume", command.resume, "Go on with this session");
  app.add_flag("-c,--continue", command.continue_latest,
               "Go on with the newest session of this folder");
  app.add_flag("--verbose", command.verbose, "Tell what is being done, on stderr");
}

void AddModels(CLI::App& app, ModelsCommand& command) {
  CLI::App* models =
      app.add_subcommand("models", "List the models that can be named, or try one of them");
  models->callback([&command] {
    if (command.verb.empty()) command.verb = "list";
  });
  models->add_flag("--json", command.json, "Print JSON");
  CLI::App* check = models->add_subcommand(
      "check", "Ask a model one short question, and say how long it took and what it cost");
  check->add_option("MODEL", command.model,
                    "PROVIDER/ID, or a name of the configuration; the configured one by default");
  check->add_flag("--json", command.json, "Print JSON");
  check->callback([&command] { command.verb = "check"; });
}

Answer Wrong(std::string_view what) {
  return {fmt::format("stet: {}\n`stet --help` shows what there is.\n", what), kExitUsage};
}

}  // namespace

Command ParseArguments(int argc, const char* const* argv) {
  SessionsCommand sessions;
  ModelsCommand models;
  PrintCommand print;
  CLI::App app{std::string(kDescription), "stet"};
  app.set_version_flag("--version", fmt::format("stet {}", ProgramVersion()));
  app.require_subcommand(0, 1);
  AddSessions(app, sessions);
  AddModels(app, models);
  AddPrint(app, print);
  // Runs in main, before any of this: named here for the help.
  app.add_subcommand("emulator", "Serve a scripted model on this machine, for developers");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    // The verb that was asked about is the innermost one that was named.
    CLI::App* asked = &app;
    while (!asked->get_subcommands().empty()) asked = asked->get_subcommands().front();
    return Answer{asked->help(), kExitDone};
  } catch (const CLI::CallForVersion& version) {
    return Answer{fmt::format("{}\n", version.what()), kExitDone};
  } catch (const CLI::ParseError& error) {
    return Wrong(error.what());
  }
  if (!models.verb.empty()) return models;
  if (sessions.verb.empty() && print.print) {
    if (print.continue_latest && !print.resume.empty())
      return Wrong("--continue and --resume name two sessions: use one of them");
    return print;
  }
  if (sessions.verb.empty() && !print.prompt.empty())
    return Wrong("there is no interactive stet yet: use `stet -p PROMPT`");
  if (sessions.verb.empty()) return Answer{app.help(), kExitUsage};
  if (sessions.verb == "rewind" && sessions.event.empty() != sessions.to_start) {
    return Wrong("rewind needs an event to go back to, or --to-start");
  }
  if (sessions.verb == "verify" && sessions.id.empty() != sessions.all)
    return Wrong("verify needs a session, or --all");
  return sessions;
}

}  // namespace stet::cli
