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

std::string FileLine(const protocol::FileRow& row) {
  std::string line = fmt::format("  {} ({})", row.path, row.op);
  if (row.changed_since) line += ", changed by something else since";
  if (!row.can_restore) line += ", its content before is not kept";
  return PrintableText(line) + "\n";
}

void Restore(const std::optional<std::string>& target, CommandEnvironment& environment) {
  environment.session.FilesSince(
      target, true, environment.Then("files", [&environment](const protocol::FileRows& rows) {
        const auto restored = std::ranges::count_if(rows, &protocol::FileRow::restored);
        environment.view.Note(fmt::format("{} of {} files put back", restored, rows.size()));
      }));
}

void Rewind(const Place& place, bool restore, CommandEnvironment& environment) {
  // The line that says where it is now is the scene's.
  const auto moved = [place, restore, &environment](const client::Moved&) {
    if (restore) Restore(place.event, environment);
    if (!place.text.empty()) environment.write(place.text);
  };
  environment.session.Rewind(place.event, environment.Then("rewind", moved));
}

/// Asks whether these files shall be put back, if any can, before anything moves.
void OfferFiles(const Place& place, const protocol::FileRows& rows,
                CommandEnvironment& environment) {
  const bool any = std::ranges::any_of(
      rows, [](const protocol::FileRow& row) { return row.can_restore && !row.changed_since; });
  std::string files;
  for (const protocol::FileRow& row : rows) files += FileLine(row);
  if (!files.empty()) environment.view.Block("Files that changed since:\n" + files);
  if (!any) return Rewind(place, false, environment);
  environment.ask(
      {.id = "",
       .prompt =
           "Put these files back as they were? y yes   n no, only the conversation   Esc stay here",
       .keys = "yn",
       .answered = [place, &environment](const std::string& key) {
         Rewind(place, key == "y", environment);
       }});
}

void OfferRewind(const Place& place, CommandEnvironment& environment) {
  environment.session.FilesSince(
      place.event, false,
      environment.Then("files", [place, &environment](const protocol::FileRows& rows) {
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
