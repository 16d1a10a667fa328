#include "tui/slash/rewind.h"

#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>

#include "base/display_width.h"

namespace stet::tui {
namespace {

constexpr std::size_t kMaxListed = 20;

/// Where one can go, and what is written into the prompt there.
struct Place {
  std::optional<std::string> event;  // Nothing: before the first one.
  std::string text;
};
using Places = std::vector<Place>;

/// The number that stands in `text`, from 1 to `most`; nothing for anything else.
std::optional<std::size_t> NumberIn(const std::string& text, std::size_t most) {
  std::size_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < 1 || number > most) return std::nullopt;
  return number - 1;
}

std::string ListOf(const Places& places, const CommandEnvironment& environment) {
  std::string rows;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::string row = fmt::format("{:>3}  {}", i + 1, OneLineText(places[i].text));
    rows += FitText(PrintableText(row), environment.console.columns() - 1) + "\n";
  }
  return rows;
}

/// Lists the places and goes to the one picked by the user.
void PickPlace(Places places, const std::string& prompt, CommandEnvironment& environment,
               std::function<void(const Place&)> go) {
  environment.view.Block(ListOf(places, environment));
  environment.ask({.id = "",
                   .prompt = prompt,
                   .keys = "",
                   .answered = [places = std::move(places), &environment,
                                go = std::move(go)](const std::string& said) {
                     if (said.empty()) return;
                     if (const std::optional<std::size_t> number = NumberIn(said, places.size()))
                       go(places[*number]);
                     else
                       environment.view.Note(fmt::format("{} is none of the numbers above", said),
                                             face::Style::kRed);
                   }});
}

/// What a rewind takes back.
enum class Scope { kConversation, kFiles, kBoth };

/// "  src/a.cc: deleted by Bash: rm -rf src"
std::string FileLine(const protocol::FileRow& row) {
  const std::string_view was = row.undo == "delete"   ? "new, will be deleted; made"
                               : row.undo == "create" ? "gone, comes back; deleted"
                                                      : "changed";
  std::string line = fmt::format("  {}: {}", row.path, was);
  for (std::size_t i = 0; i < row.by.size(); ++i)
    line += fmt::format("{}{}", i == 0 ? " by " : ", ", row.by[i]);
  if (row.changed_since)
    line += row.by.empty() ? " by something else than this session" : "; by something else as well";
  if (row.reason) line += fmt::format(" ({})", *row.reason);
  return PrintableText(OneLineText(line)) + "\n";
}

/// What was found to be as it was, and what was not, and why.
void TellRestored(const protocol::FileRows& rows, const protocol::Texts& include,
                  CommandEnvironment& environment) {
  const auto restored = std::ranges::count_if(rows, &protocol::FileRow::restored);
  std::string rest;
  for (const protocol::FileRow& row : rows) {
    const bool wanted = !row.changed_since || std::ranges::find(include, row.path) != include.end();
    if (!row.restored && wanted) rest += FileLine(row);
  }
  environment.view.Note(fmt::format("{} of {} files put back", restored, rows.size()));
  if (!rest.empty()) environment.view.Block("Not put back:\n" + rest);
}

void Restore(protocol::FilesParams wanted, CommandEnvironment& environment) {
  wanted.restore = true;
  const protocol::Texts include = wanted.include.value_or(protocol::Texts());
  environment.session.FilesSince(
      wanted, environment.Then("files", [include, &environment](const protocol::FileRows& rows) {
        TellRestored(rows, include, environment);
      }));
}

/// Files first: when they cannot be put back now, nothing moves.
void Rewind(const Place& place, Scope scope, const protocol::FilesParams& files,
            CommandEnvironment& environment) {
  const auto move = [place, &environment] {
    // The line that says where it is now is the scene's.
    const auto moved = [place, &environment](const client::Moved&) {
      if (!place.text.empty()) environment.write(place.text);
    };
    environment.session.Rewind(place.event, environment.Then("rewind", moved));
  };
  if (scope == Scope::kConversation) return move();
  if (scope == Scope::kFiles) return Restore(files, environment);
  protocol::FilesParams wanted = files;
  wanted.restore = true;
  const protocol::Texts include = wanted.include.value_or(protocol::Texts());
  environment.session.FilesSince(
      wanted,
      environment.Then("files", [include, move, &environment](const protocol::FileRows& rows) {
        TellRestored(rows, include, environment);
        move();
      }));
}

/// Those that others changed as well are put back only when the user says so.
void AskAboutOthers(const Place& place, Scope scope, protocol::FilesParams files,
                    const protocol::Texts& others, CommandEnvironment& environment) {
  if (scope == Scope::kConversation || others.empty())
    return Rewind(place, scope, files, environment);
  environment.ask({.id = "",
                   .prompt = fmt::format("{} of these were changed by something else than this "
                                         "session as well, or have another name elsewhere. Put "
                                         "them back too? y yes   n no   Esc stay here",
                                         others.size()),
                   .keys = "yn",
                   .answered = [place, scope, files = std::move(files), others,
                                &environment](const std::string& key) mutable {
                     if (key != "y" && key != "n") return;
                     if (key == "y") files.include = others;
                     Rewind(place, scope, files, environment);
                   }});
}

void AskAboutTasks(const Place& place, Scope scope, protocol::FilesParams files,
                   const protocol::Texts& others, CommandEnvironment& environment) {
  const auto running =
      std::ranges::count(environment.scene.tasks(), "running", &protocol::TaskRow::state);
  if (scope == Scope::kConversation || running == 0)
    return AskAboutOthers(place, scope, std::move(files), others, environment);
  environment.ask(
      {.id = "",
       .prompt = fmt::format("{} in the background may change files meanwhile. Stop "
                             "{} first? y yes   Esc stay here",
                             running == 1 ? "A command" : "Commands", running == 1 ? "it" : "them"),
       .keys = "y",
       .answered = [place, scope, files = std::move(files), others,
                    &environment](const std::string& key) mutable {
         if (key != "y") return;
         files.stop_tasks = true;
         AskAboutOthers(place, scope, std::move(files), others, environment);
       }});
}

/// Asks whether these files shall be put back, if any can, before anything moves.
void OfferFiles(const Place& place, const protocol::FileRows& rows,
                CommandEnvironment& environment) {
  protocol::FilesParams wanted;
  wanted.target = place.event;
  std::string files;
  protocol::Texts others;
  std::size_t can = 0;
  for (const protocol::FileRow& row : rows) {
    files += FileLine(row);
    if (!row.can_restore) continue;
    ++can;
    if (row.changed_since) others.push_back(row.path);
  }
  if (!files.empty()) environment.view.Block("Files that are not as they were then:\n" + files);
  if (can == 0) return Rewind(place, Scope::kConversation, wanted, environment);
  environment.ask({.id = "",
                   .prompt = "Take back: b both   f only the files   c only the conversation   "
                             "Esc stay here",
                   .keys = "bfc",
                   .answered = [place, wanted, others, &environment](const std::string& key) {
                     if (key.empty()) return;
                     const Scope scope = key == "b"   ? Scope::kBoth
                                         : key == "f" ? Scope::kFiles
                                                      : Scope::kConversation;
                     AskAboutTasks(place, scope, wanted, others, environment);
                   }});
}

void OfferRewind(const Place& place, CommandEnvironment& environment) {
  protocol::FilesParams wanted;
  wanted.target = place.event;
  environment.session.FilesSince(
      wanted, environment.Then("files", [place, &environment](const protocol::FileRows& rows) {
        OfferFiles(place, rows, environment);
      }));
}

/// Before each prompt on the path, the newest first.
Places PromptsOf(const protocol::SessionTree& tree) {
  Places places;
  for (auto node = tree.nodes.rbegin(); node != tree.nodes.rend(); ++node) {
    if (!node->on_path || node->role != "user") continue;
    places.push_back({node->parent_id, node->text});
    if (places.size() == kMaxListed) break;
  }
  return places;
}

Places LeavesOf(const protocol::SessionTree& tree) {
  std::set<std::string> parents;
  for (const protocol::TreeNode& node : tree.nodes) parents.insert(node.parent_id.value_or(""));
  Places places;
  for (auto node = tree.nodes.rbegin(); node != tree.nodes.rend(); ++node) {
    if (parents.contains(node->id)) continue;
    const char* here = node->id == tree.leaf_id ? " (here)" : "";
    places.push_back({node->id, fmt::format("{}{}  {}", node->id, here, node->text)});
    if (places.size() == kMaxListed) break;
  }
  return places;
}

void GoToLeaf(const std::string& leaf, CommandEnvironment& environment) {
  environment.session.Branch(leaf, environment.Then("branch", [](const client::Moved&) {}));
}

}  // namespace

void RunRewind(const std::string& event, CommandEnvironment& environment) {
  if (environment.scene.turn().running)
    return environment.view.Note("a turn runs: stop it with Ctrl-C first", face::Style::kRed);
  if (!event.empty()) return OfferRewind({event, ""}, environment);
  const auto pick = [&environment](const protocol::SessionTree& tree) {
    Places places = PromptsOf(tree);
    if (places.empty()) return environment.view.Note("there is nothing to go back to yet");
    PickPlace(std::move(places), "back to before which of these (a number, or nothing)? ",
              environment, [&environment](const Place& place) { OfferRewind(place, environment); });
  };
  environment.sessions.Tree(environment.scene.session().session_id, environment.Then("tree", pick));
}

void RunBranch(const std::string& leaf, CommandEnvironment& environment) {
  if (environment.scene.turn().running)
    return environment.view.Note("a turn runs: stop it with Ctrl-C first", face::Style::kRed);
  if (!leaf.empty()) return GoToLeaf(leaf, environment);
  const auto pick = [&environment](const protocol::SessionTree& tree) {
    Places places = LeavesOf(tree);
    if (places.empty()) return environment.view.Note("there are no branches yet");
    PickPlace(std::move(places), "to which of these (a number, or nothing)? ", environment,
              [&environment](const Place& place) { GoToLeaf(*place.event, environment); });
  };
  environment.sessions.Tree(environment.scene.session().session_id, environment.Then("tree", pick));
}

}  // namespace stet::tui
