#include "cli/arguments.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/text_width.h"
#include "base/version.h"
#include "cli/completion.h"
#include "face/exit_codes.h"

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
  ls->add_flag("--all", command.all, "Child sessions too, each under its root");
  with_json(ls);

  CLI::App* show = verb("show", "Print a session's transcript");
  with_id(show);
  show->add_option("--at", command.at, "Up to this event instead of the leaf");
  show->add_flag("--cost", command.cost, "What its model calls came to, instead of the transcript");
  with_json(show);

  CLI::App* capsule = verb("capsule", "Print where a run stands, as a compaction carries it");
  with_id(capsule);
  with_json(capsule);

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

  CLI::App* exporting =
      verb("export", "Write a session and its children to a tar, or its log alone");
  with_id(exporting);
  exporting->add_option("-o,--output", command.output,
                        "The file to write (default: ID.tar or ID.jsonl here; - for stdout)");
  exporting->add_flag("--jsonl", command.jsonl, "The log alone, without blobs and child sessions");
  exporting->add_flag("--reveal", command.reveal, "Do not mask what looks like a secret");

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

/// Verbs about one session's requests.
void AddRequests(CLI::App& app, SessionsCommand& command) {
  CLI::App* replay = app.add_subcommand(
      "replay", "Make a session's requests again from its log, and compare them with those sent");
  replay->add_option("ID", command.id, "The session, or the beginning of its id")->required();
  replay->add_flag("--json", command.json, "Print JSON");
  replay->callback([&command] { command.verb = "replay"; });
  CLI::App* context =
      app.add_subcommand("context", "Show what a session would send next, and what it is made of");
  context->add_option("ID", command.id, "The session; the newest one of this folder by default");
  CLI::Option* count =
      context->add_flag("--count", command.count, "Let the model's server count the tokens");
  context->add_flag("--wire", command.wire, "The request itself, as it would be sent")
      ->excludes(count);
  context->add_flag("--json", command.json, "Print JSON");
  context->callback([&command] { command.verb = "context"; });
}

void AddWork(CLI::App& app, face::WorkOptions& command) {
  app.add_flag("-p,--print", command.print,
               "Do what the prompt says, print the answer, and end; what is piped in is appended");
  app.add_option("prompt", command.prompt, "What to do");
  app.add_option("--output-format", command.output_format, "text, json or stream-json")
      ->check(CLI::IsMember({"text", "json", "stream-json"}));
  app.add_option("--input-format", command.input_format, "text or stream-json")
      ->check(CLI::IsMember({"text", "stream-json"}));
  app.add_flag("--include-partial-messages", command.partial_messages,
               "With stream-json: replies as they come");
  app.add_flag("--replay-user-messages", command.replay_user_messages,
               "With stream-json: repeat what was sent");
  app.add_option("--json-schema", command.json_schema,
                 "What the answer must fit: JSON, or a file with it");
  app.add_option("--max-turns", command.max_turns, "End after this many steps")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--max-tokens", command.max_tokens, "End when a turn has used this many tokens")
      ->check(CLI::Range(1, 1'000'000'000));
  app.add_option("--max-budget-usd", command.max_budget_usd, "End when a turn has cost this much")
      ->check(CLI::Range(0.000001, 1'000'000.0));
  app.add_option("--timeout", command.timeout_s, "End a turn after this many seconds")
      ->check(CLI::Range(0.001, 10'000'000.0));
  app.add_flag("--verbose", command.verbose, "Tell what is being done, on stderr");
}

void AddModel(CLI::App& app, face::WorkOptions& command) {
  app.add_option("--model", command.model, "PROVIDER/ID, a name of the configuration, or offline");
  app.add_option("--fallback-model", command.fallback_model, "Asked when the model is overloaded");
  app.add_option("--effort", command.effort, "How hard the model thinks")
      ->check(CLI::IsMember({"none", "minimal", "low", "medium", "high", "xhigh", "max"}));
  app.add_option("--append-system-prompt", command.append_system_prompt,
                 "More instructions for a new session");
  app.add_option("--system-prompt", command.system_prompt, "Instructions in place of stet's own");
}

void AddSession(CLI::App& app, face::WorkOptions& command) {
  app.add_flag("-c,--continue", command.continue_latest,
               "Go on with the newest session of this folder");
  app.add_option("-r,--resume", command.resume, "Go on with this session; without ID, pick one")
      ->expected(0, 1)
      ->type_name("[ID]");
  app.add_flag("--fork-session", command.fork, "Work on a copy of the session");
  app.add_flag("--host", command.host,
               "Work in the background host: it goes on without this terminal");
  app.add_option("--at", command.at, "Go back to this event first");
  app.add_option("--session-id", command.session_id, "The id of the new session");
  app.add_option("--cwd", command.cwd, "The folder to work in");
  app.add_option("--add-dir", command.add_dirs, "A folder that counts as part of the project");
}

void AddPermissions(CLI::App& app, face::WorkOptions& command) {
  app.add_option("--permission-mode", command.mode,
                 "default, acceptEdits, auto, plan, dontAsk or bypass");
  app.add_option("--allowed-tools,--allowedTools", command.allowed,
                 "Rules for what may run unasked: Tool, Tool(beginning*)");
  app.add_option("--disallowed-tools,--disallowedTools", command.disallowed,
                 "Rules for what may not run");
  app.add_option(
      "--tools", command.tools,
      "The only tools there are, with commas between; the session keeps to it. default: all");
  app.add_flag_callback(
      "--dangerously-skip-permissions", [&command] { command.mode = "bypass"; },
      "The same as --permission-mode bypass");
  app.add_option("--permission-prompt-tool", command.permission_prompt_tool,
                 "stdio: the reader of stream-json is asked");
}

/// Flags that SDKs pass and that change nothing here.
void AddTolerated(CLI::App& app) {
  static bool flag = false;
  static std::string value;
  for (const char* name : {"--allow-dangerously-skip-permissions", "--strict-mcp-config"})
    app.add_flag(name, flag, "")->group("");
  // Only the user's own settings are read, whatever sources are named.
  app.add_option("--setting-sources", value, "")->group("");
}

/// Flags that mean something elsewhere and nothing here: ignoring them would be a surprise.
void AddRefused(CLI::App& app, std::string& refused) {
  for (const char* name : {"--mcp-config", "--plugin-dir", "--settings", "--betas", "--agents",
                           "--agent", "--max-thinking-tokens"}) {
    app.add_option_function<std::string>(
           name, [&refused, name](const std::string&) { refused = name; }, "")
        ->group("");
  }
  for (const char* name : {"--no-session-persistence", "--include-hook-events", "--bare", "--ide"})
    app.add_flag_callback(name, [&refused, name] { refused = name; }, "")->group("");
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

void AddDevice(CLI::App& app, SetupCommand& setup, DoctorCommand& doctor, ConfigCommand& config) {
  CLI::App* setting = app.add_subcommand("setup", "Choose the model to use, and try it");
  setting->callback([&setup] { setup.asked = true; });
  setting->add_option("--provider", setup.provider, "The provider (see `stet models`)");
  setting->add_option("--model", setup.model, "The model's id");
  setting->add_option("--key-variable", setup.key_variable,
                      "The environment variable with the key, when it is not the provider's own");
  setting->add_flag("-y,--yes", setup.yes, "Do not ask: take the defaults, replace what is there");

  CLI::App* examining = app.add_subcommand("doctor", "Say what is wrong here, and what to do");
  examining->callback([&doctor] { doctor.asked = true; });
  examining->add_flag("--json", doctor.json, "Print JSON");

  CLI::App* configuring = app.add_subcommand("config", "Show and check the configuration");
  configuring->require_subcommand(1);
  const auto verb = [&](const char* name, const char* description) {
    CLI::App* added = configuring->add_subcommand(name, description);
    added->callback([&config, name] { config.verb = name; });
    return added;
  };
  verb("show", "The settings in force, and where each comes from")
      ->add_flag("--json", config.json, "Print JSON");
  verb("check", "Whether the file is right; else where it is not");
  verb("path", "Where the file is");
}

void AddTrust(CLI::App& app, TrustCommand& trust) {
  CLI::App* trusting = app.add_subcommand(
      "trust", "Show what the project here brings that acts, and say what of it may");
  trusting->callback([&trust] { trust.asked = true; });
  trusting->add_option("PART", trust.parts, "config, model, hooks, extensions, mcp or git");
  CLI::Option* all = trusting->add_flag("--all", trust.all, "Trust all that it brings");
  trusting->add_flag("--none", trust.none, "Trust nothing of it any longer")->excludes(all);
  trusting->add_option("--cwd", trust.cwd, "The project's folder, instead of the current one");
  trusting->add_flag("--json", trust.json, "Print JSON");
}

void AddVault(CLI::App& app, VaultCommand& vault) {
  CLI::App* keeping = app.add_subcommand("vault", "Keep keys and other secrets, by name");
  keeping->require_subcommand(1);
  const auto verb = [&](const char* name, const char* description) {
    CLI::App* added = keeping->add_subcommand(name, description);
    added->callback([&vault, name] { vault.verb = name; });
    return added;
  };
  const auto named = [&](CLI::App* added) {
    added->add_option("NAME", vault.name, "What the secret is called")->required();
    return added;
  };
  named(verb("set", "Keep a secret; its value is read from stdin, or typed unseen"));
  named(verb("get", "Whether it is there; with --reveal, print it"))
      ->add_flag("--reveal", vault.reveal, "Print the value itself");
  verb("ls", "The names of what is kept")->add_flag("--json", vault.json, "Print JSON");
  named(verb("rm", "Forget a secret"));
}

void AddSandbox(CLI::App& app, SandboxCommand& command) {
  CLI::App* sandbox = app.add_subcommand(
      "sandbox", "Run a command as stet runs those of models in a sandbox, in this folder");
  sandbox->add_option("--network", command.network, "off, loopback, hosts or open")
      ->check(CLI::IsMember({"off", "loopback", "hosts", "open"}));
  sandbox->add_option("--write", command.write, "Another folder that it may write")
      ->take_all()
      ->allow_extra_args(false);
  sandbox->add_option("COMMAND", command.command, "The command, behind --")->required();
  sandbox->positionals_at_end();
}

void AddHooks(CLI::App& app, HooksCommand& command) {
  CLI::App* hooks = app.add_subcommand("hooks", "Show what runs when something happens");
  hooks->require_subcommand(1);
  CLI::App* ls = hooks->add_subcommand("ls", "List the hooks, and where each comes from");
  ls->add_option("FOLDER", command.cwd, "The folder whose sessions are meant; this one by default");
  ls->add_flag("--json", command.json, "Print JSON");
  ls->callback([&command] { command.verb = "ls"; });
}

void AddExtensions(CLI::App& app, ExtensionsCommand& command) {
  CLI::App* extensions = app.add_subcommand("extensions", "Show the extensions there are");
  extensions->require_subcommand(1);
  CLI::App* ls = extensions->add_subcommand(
      "ls", "List them: where each comes from, whether it runs, and what it registers");
  ls->add_option("FOLDER", command.cwd, "The folder whose sessions are meant; this one by default");
  ls->add_flag("--json", command.json, "Print JSON");
  ls->callback([&command] { command.verb = "ls"; });
}

void AddListening(CLI::App& verb, HostCommand& host) {
  verb.add_option("--listen", host.listen, "Also listen here: 127.0.0.1:7777; port 0 means any");
  verb.add_flag("--expose", host.exposed, "Other machines may reach it, over TLS");
  verb.add_option("--certificate", host.certificate, "For TLS: a PEM file");
  verb.add_option("--key", host.key, "The certificate's key: a PEM file");
}

void AddTokens(CLI::App& app, HostCommand& host) {
  CLI::App* token = app.add_subcommand("token", "Who may connect over the network");
  token->require_subcommand(1);
  const auto verb = [&](const char* name, const char* description) {
    CLI::App* added = token->add_subcommand(name, description);
    added->callback([&host, name] {
      host.verb = "token";
      host.token_verb = name;
    });
    return added;
  };
  CLI::App* add = verb("add", "Make a token and print it, once");
  add->add_option("NAME", host.name, "Whose it is")->required();
  add->add_option("--rights", host.rights,
                  "view, send, approve, admin; view,send,approve by default")
      ->delimiter(',');
  verb("ls", "List the tokens")->add_flag("--json", host.json, "Print JSON");
  verb("rm", "Take one back")->add_option("NAME", host.name, "Whose it is")->required();
}

void AddHost(CLI::App& app, HostCommand& host) {
  CLI::App* hosting =
      app.add_subcommand("host", "The process in the background that sessions are worked on in");
  hosting->require_subcommand(1);
  const auto verb = [&](const char* name, const char* description) {
    CLI::App* added = hosting->add_subcommand(name, description);
    added->callback([&host, name] { host.verb = name; });
    return added;
  };
  CLI::App* serve = verb("serve", "Run it here, until it is stopped");
  AddListening(*serve, host);
  serve->add_option("--launched", host.launched)->group("");
  serve->add_option("--ready-fd", host.ready_fd)->group("");
  AddListening(*verb("start", "Start it in the background"), host);
  verb("stop", "Stop it; what runs is cancelled");
  verb("status", "Whether it runs, and what it does")->add_flag("--json", host.json, "Print JSON");
  verb("reset", "Forget its state and its token; it must not run");
  verb("install", "Have systemd run it for this user")
      ->add_flag("--print", host.print, "Print the unit");
  CLI::App* logs = verb("logs", "The end of its log");
  logs->add_option("--lines", host.lines, "How many");
  logs->add_option("--session", host.session_id, "Of what it did for this session");
  AddTokens(*hosting, host);
}

void AddAttach(CLI::App& app, AttachCommand& attach) {
  CLI::App* attaching =
      app.add_subcommand("attach", "Take part in a session that the background host works on");
  attaching->add_option("SESSION", attach.session_id,
                        "Its id, or a beginning of it; the newest of this folder by default");
  attaching->add_option("--cwd", attach.cwd, "Instead of this folder");
  attaching->callback([&attach] { attach.asked = true; });
}

void AddTasks(CLI::App& app, TasksCommand& command) {
  CLI::App* tasks = app.add_subcommand("tasks", "Look at what runs in a session's background");
  tasks->require_subcommand(1);
  const auto add = [&](const char* name, const char* help) {
    CLI::App* verb = tasks->add_subcommand(name, help);
    if (std::string_view(name) != "ls")
      verb->add_option("TASK", command.task_id, "Its id, as `stet tasks ls` shows it")->required();
    verb->add_option(
        "SESSION", command.session_id,
        "The session's id, or a beginning of it; the newest of this folder by default");
    verb->add_flag("--json", command.json, "Print JSON");
    verb->callback([&command, name] { command.verb = name; });
    return verb;
  };
  add("ls", "List what runs, and what has run");
  add("show", "Show one task");
  add("stop", "Stop a task and everything that it started; waits for its end");
  CLI::App* output = add("output", "Print what a task has written: the last 1 MB of it");
  CLI::Option* all = output->add_flag("--all", command.all, "All of it, from the beginning");
  output->add_option("--offset", command.offset, "From this byte on")
      ->check(CLI::NonNegativeNumber)
      ->excludes(all);
  output->add_option("--limit", command.limit, "At most so many bytes")->check(CLI::PositiveNumber);
}

/// The agent itself runs in main, too; editors append `setup` to let a user log in.
void AddAcp(CLI::App& app, SetupCommand& setup) {
  app.add_subcommand("acp", "Serve an editor over stdin and stdout (Agent Client Protocol)")
      ->add_subcommand("setup", "The same as `stet setup`, where an editor runs it")
      ->callback([&setup] { setup.asked = true; });
}

/// The values that a check in braces, such as "TEXT:{a,b}", leaves.
std::vector<std::string> ChoicesIn(const std::string& type) {
  std::vector<std::string> choices;
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return choices;
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

CommandFacts FactsOf(const CLI::App& app) {
  CommandFacts facts{.name = app.get_name(), .description = app.get_description()};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // Hidden.
    OptionFacts& added = facts.options.emplace_back();
    for (const std::string& name : option->get_snames()) added.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) added.names.push_back("--" + name);
    added.description = option->get_description();
    added.takes_value = option->get_items_expected_max() > 0;
    added.choices = ChoicesIn(option->get_type_name());
  }
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    facts.commands.push_back(FactsOf(*verb));
  return facts;
}

Answer Wrong(std::string_view what) {
  return {fmt::format("stet: {}\n`stet --help` shows what there is.\n", what), face::kExitUsage};
}

/// Names a word that stands where a verb should and is none; empty when that is not what is wrong.
std::string WrongVerb(const CLI::App& app, int argc, const char* const* argv) {
  const auto any = [](const CLI::App*) { return true; };
  const CLI::App* at = &app;
  std::string path = "stet";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.starts_with("-")) continue;
    const std::vector<const CLI::App*> verbs = at->get_subcommands(any);
    const auto verb = std::ranges::find(verbs, word, &CLI::App::get_name);
    if (verb != verbs.end()) {
      at = *verb;
      path += " " + word;
      continue;
    }
    if (at == &app) continue;  // A prompt, or the value of an option.
    if (verbs.empty()) return "";
    std::vector<std::string> names;
    for (const CLI::App* known : verbs) names.push_back(known->get_name());
    return fmt::format("`{}` has no verb {}: write {}", path, PrintableText(word),
                       CLI::detail::join(names, ", "));
  }
  return "";
}

/// What of the options does not go together; empty when all does.
std::string WhatIsWrong(const face::WorkOptions& work) {
  if (work.continue_latest && work.resume)
    return "--continue and --resume name two sessions: use one of them";
  const bool resumes = work.continue_latest || work.resume;
  if ((work.fork || !work.at.empty()) && !resumes)
    return "--fork-session and --at need a session: add -c or -r ID";
  if (!work.session_id.empty() && resumes && !work.fork)
    return "--session-id is for a new session, or with --fork-session";
  if (work.print && work.resume && work.resume->empty())
    return "-p -r needs the session's id: -p asks nothing, so none can be picked";
  const bool streams = work.output_format == "stream-json";
  if (work.input_format == "stream-json" && !streams)
    return "--input-format stream-json needs --output-format stream-json";
  if (work.partial_messages && !streams)
    return "--include-partial-messages needs --output-format stream-json";
  if (!work.permission_prompt_tool.empty() && work.permission_prompt_tool != "stdio")
    return fmt::format(
        "--permission-prompt-tool {} is not supported: only stdio is, by which the reader of "
        "stream-json is asked; a PermissionRequest hook can answer as well",
        work.permission_prompt_tool);
  if (!work.permission_prompt_tool.empty() && work.input_format != "stream-json")
    return "--permission-prompt-tool stdio needs --input-format stream-json";
  return "";
}

}  // namespace

Command ParseArguments(int argc, const char* const* argv) {
  SessionsCommand sessions;
  ModelsCommand models;
  face::WorkOptions work;
  SetupCommand setup;
  DoctorCommand doctor;
  ConfigCommand config;
  TrustCommand trust;
  VaultCommand vault;
  HostCommand host;
  AttachCommand attach;
  TasksCommand tasks;
  SandboxCommand sandbox;
  HooksCommand hooks;
  ExtensionsCommand extensions;
  std::string shell;
  std::string refused;
  CLI::App app{std::string(kDescription), "stet"};
  app.set_version_flag("--version", fmt::format("stet {}", ProgramVersion()));
  app.require_subcommand(0, 1);
  AddSessions(app, sessions);
  AddModels(app, models);
  AddDevice(app, setup, doctor, config);
  AddTrust(app, trust);
  AddVault(app, vault);
  AddSandbox(app, sandbox);
  AddHooks(app, hooks);
  AddExtensions(app, extensions);
  AddHost(app, host);
  AddAttach(app, attach);
  AddTasks(app, tasks);
  app.add_subcommand("completion", "Print a script that completes stet's command line in a shell")
      ->add_option("SHELL", shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  AddRequests(app, sessions);
  AddWork(app, work);
  AddModel(app, work);
  AddSession(app, work);
  AddPermissions(app, work);
  AddTolerated(app);
  AddRefused(app, refused);
  // Runs in main, before any of this: named here for the help.
  app.add_subcommand("emulator", "Serve a scripted model on this machine, for developers");
  AddAcp(app, setup);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    // The verb that was asked about is the innermost one that was named.
    CLI::App* asked = &app;
    while (!asked->get_subcommands().empty()) asked = asked->get_subcommands().front();
    return Answer{asked->help(), face::kExitDone};
  } catch (const CLI::CallForVersion& version) {
    return Answer{fmt::format("{}\n", version.what()), face::kExitDone};
  } catch (const CLI::ParseError& error) {
    const std::string verb = WrongVerb(app, argc, argv);
    return Wrong(verb.empty() ? error.what() : verb);
  }
  if (!shell.empty()) return Answer{CompletionScript(shell, FactsOf(app)), face::kExitDone};
  if (!models.verb.empty()) return models;
  if (setup.asked) return setup;
  if (app.got_subcommand("acp")) return Wrong("acp takes no options");
  if (doctor.asked) return doctor;
  if (trust.asked) return trust;
  if (!vault.verb.empty()) return vault;
  if (!config.verb.empty()) return config;
  if (!sandbox.command.empty()) return sandbox;
  if (!hooks.verb.empty()) return hooks;
  if (!extensions.verb.empty()) return extensions;
  if (!host.verb.empty()) return host;
  if (attach.asked) return attach;
  if (!tasks.verb.empty()) return tasks;
  if (!refused.empty()) return Wrong(fmt::format("{} is not supported: leave it out", refused));
  if (sessions.verb.empty()) {
    if (const std::string wrong = WhatIsWrong(work); !wrong.empty()) return Wrong(wrong);
    work.print = work.print || work.output_format == "stream-json";  // As SDKs leave -p out.
    return work;
  }
  if (sessions.verb == "rewind" && sessions.event.empty() != sessions.to_start) {
    return Wrong("rewind needs an event to go back to, or --to-start");
  }
  if (sessions.verb == "verify" && sessions.id.empty() != sessions.all)
    return Wrong("verify needs a session, or --all");
  return sessions;
}

}  // namespace stet::cli
