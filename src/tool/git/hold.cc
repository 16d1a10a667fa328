#include "tool/git/hold.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <unordered_map>
#include <unordered_set>

#include <fcntl.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/plain_file.h"

namespace stet::tool {
namespace {

/// From how many objects on the folders of loose ones are listed at once.
constexpr std::size_t kManyObjects = 200;

/// Which file it is, and how it looks but for the number of its names.
struct FileMark {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  std::int64_t mtime_s = 0;
  std::int64_t mtime_ns = 0;

  /// The same file, and nothing was cut off. Its time is no sign: git sets it anew when the content
  /// is added again.
  [[nodiscard]] bool Is(const std::optional<FileMark>& other) const {
    return other && device == other->device && inode == other->inode && size == other->size;
  }
  friend bool operator==(const FileMark&, const FileMark&) = default;
};

std::optional<FileMark> MarkOf(const std::string& path, mode_t kind) {
  struct stat now{};
  if (::lstat(path.c_str(), &now) != 0 || (now.st_mode & S_IFMT) != kind) return std::nullopt;
  return FileMark{.device = now.st_dev,
                  .inode = now.st_ino,
                  .size = now.st_size,
                  .mtime_s = now.st_mtim.tv_sec,
                  .mtime_ns = now.st_mtim.tv_nsec};
}

/// A folder that was changed just now may be changed again and look the same.
bool IsFresh(const FileMark& mark) {
  constexpr Millis kSecond = 1000;
  return mark.mtime_s * kSecond + 2 * kSecond > SystemClock().Now();
}

/// "ab/cdef...": where a loose object lies in a folder of objects.
std::string LooseName(const std::string& id) { return id.substr(0, 2) + "/" + id.substr(2); }

Status CopyHeld(int fd, const std::string& to) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  const std::string draft = to + ".new";
  ASSIGN_OR_RETURN(const Fd out, OpenPlainFile(draft, O_WRONLY | O_CREAT | O_TRUNC));
  std::vector<char> piece(kPiece);
  for (std::uint64_t at = 0;;) {
    ASSIGN_OR_RETURN(const std::size_t got, Pread(fd, piece, at));
    RETURN_IF_ERROR(WriteAll(out.get(), {piece.data(), got}));
    at += got;
    if (got < piece.size()) break;
  }
  return Rename(draft, to);
}

struct HeldFile {
  FileMark mark;
  std::string from;
  Fd fd;              // Where it could not be linked.
  bool kept = false;  // The repository has it no more.
};

/// What is held out of a folder of loose objects.
struct LooseFolder {
  FileMark looks;
  std::vector<std::string> names;
};

}  // namespace

/// The files that are held of one repository, by their names in a folder of objects.
class HeldObjects::Repository {
 public:
  Repository(const GitRepository& where, std::string folder, std::string scratch)
      : format_(where.format),
        places_(where.objects),
        folder_(std::move(folder)),
        scratch_(std::move(scratch)) {}

  void Where(const GitRepository& where) { places_ = where.objects; }

  /// In the order of `needed`.
  std::vector<bool> Hold(const std::vector<const GitObject*>& needed, std::size_t& open) {
    const bool made = MakeDirs(folder_ + "/pack").has_value();
    std::vector<bool> held(needed.size());
    if (!made) return held;
    HoldPacks(open);
    HoldLoose(Unplaced(needed), open);
    // What was loose before may have been packed meanwhile.
    HoldPacks(open);
    for (std::size_t i = 0; i < needed.size(); ++i) {
      const std::string& id = needed[i]->id;
      held[i] = loose_.contains(id) || (whole_ && packed_.contains(id));
      if (held[i]) needed_.insert_or_assign(id, needed[i]->size);
    }
    return held;
  }

  void Release(std::vector<std::string>& lost, std::size_t& open) {
    std::vector<std::string> gone = Vanished();
    if (gone.empty()) return;
    const std::vector<GitObject> missing = NotIn(places_, NotKept());
    for (const std::string& name : gone) {
      HeldFile& file = files_.at(name);
      if (missing.empty() || !Keep(name, file, open)) Drop(name, open);
    }
    Forget();
    packs_.clear();
    packed_.clear();
    moved_ = true;
    if (missing.empty()) return;
    for (const GitObject& object : missing) kept_.insert(object.id);
    for (const GitObject& object : NotIn({folder_}, missing)) {
      lost.push_back(object.id);
      needed_.erase(object.id);
      kept_.erase(object.id);
    }
  }

  void LetGo(std::size_t& open) {
    std::vector<std::string> names;
    for (const auto& [name, file] : files_) {
      if (!file.kept) names.push_back(name);
    }
    for (const std::string& name : names) Drop(name, open);
    packs_.clear();
    packs_held_.clear();
    loose_held_.clear();
    needed_.clear();
    packed_.clear();
  }

 private:
  enum class Held { kYes, kAbsent, kRefused };

  void HoldPacks(std::size_t& open) {
    if (packs_.empty()) whole_ = true;
    for (const std::string& place : places_) {
      const std::string folder = place + "/pack";
      const std::optional<FileMark> looks = MarkOf(folder, S_IFDIR);
      if (!looks) continue;
      const auto known = packs_.find(place);
      if (known != packs_.end() && known->second == *looks && !IsFresh(*looks)) continue;
      packs_.insert_or_assign(place, *looks);
      const Result<std::vector<DirEntry>> entries = ListDir(folder);
      whole_ = whole_ && entries.has_value();
      if (!entries) continue;
      for (const DirEntry& entry : *entries) {
        // The index of a pack is made last.
        constexpr std::string_view kIndex = ".idx";
        if (!entry.name.ends_with(kIndex)) continue;
        const std::string name = "pack/" + entry.name.substr(0, entry.name.size() - kIndex.size());
        whole_ = HoldFile(place, name + ".pack", open) != Held::kRefused &&
                 HoldFile(place, name + ".idx", open) != Held::kRefused && whole_;
      }
    }
  }

  /// Ids of which it is not known where they lie.
  std::vector<const std::string*> Unplaced(const std::vector<const GitObject*>& needed) {
    std::vector<const std::string*> ids;
    const auto add = [&](const std::string& id) {
      if (!loose_.contains(id) && !packed_.contains(id)) ids.push_back(&id);
    };
    for (const GitObject* object : needed) add(object->id);
    if (moved_) {
      for (const auto& [id, size] : needed_) add(id);
    }
    moved_ = false;
    return ids;
  }

  void HoldLoose(std::vector<const std::string*> todo, std::size_t& open) {
    if (todo.empty()) return;
    const bool listed = todo.size() > kManyObjects;
    for (const std::string& place : places_) {
      if (listed) ListLoose(place);
      std::erase_if(todo, [&](const std::string* id) {
        const std::string name = LooseName(*id);
        if (listed && !listed_.contains(name)) return false;
        switch (HoldFile(place, name, open)) {
          case Held::kAbsent: return false;
          case Held::kRefused: return true;
          case Held::kYes: break;
        }
        loose_.insert(*id);
        return true;
      });
    }
    // What is not loose is in a pack.
    for (const std::string* id : todo) packed_.insert(*id);
    listed_.clear();
  }

  /// The names of all loose objects of a place.
  void ListLoose(const std::string& place) {
    listed_.clear();
    for (int first = 0; first < 256; ++first) {
      const std::string folder = HexOf({std::array{static_cast<char>(first)}.data(), 1});
      const Result<std::vector<DirEntry>> entries = ListDir(place + "/" + folder);
      if (!entries) continue;
      for (const DirEntry& entry : *entries) listed_.insert(folder + "/" + entry.name);
    }
  }

  Held HoldFile(const std::string& place, const std::string& name, std::size_t& open) {
    if (files_.contains(name)) return Held::kYes;
    const std::string from = place + "/" + name;
    const std::string to = folder_ + "/" + name;
    const std::string fan = name.substr(0, name.find('/'));
    if (made_.insert(fan).second && !MakeDirs(folder_ + "/" + fan)) return Held::kRefused;
    int refused = no_links_.contains(place) ? EXDEV : 0;
    // One that lies there from before has the same name, and so the same objects.
    if (refused == 0 && ::link(from.c_str(), to.c_str()) != 0 && errno != EEXIST) refused = errno;
    if (refused == ENOENT || refused == ENOTDIR) return Held::kAbsent;
    HeldFile file{.mark = {}, .from = from, .fd = {}, .kept = false};
    if (refused != 0) {
      if (refused == EXDEV) no_links_.insert(place);
      if (open >= kMaxHeldOpen) return MarkOf(from, S_IFREG) ? Held::kRefused : Held::kAbsent;
      Result<Fd> fd = OpenPlainFile(from, O_RDONLY);
      if (!fd) return fd.error().code == Code::kNotFound ? Held::kAbsent : Held::kRefused;
      file.fd = *std::move(fd);
      ++open;
    }
    const std::optional<FileMark> mark = MarkOf(refused != 0 ? from : to, S_IFREG);
    if (!mark) {
      // No object is anything but a file.
      if (refused == 0) (void)Remove(to);
      open -= file.fd ? 1 : 0;
      return Held::kRefused;
    }
    file.mark = *mark;
    files_.emplace(name, std::move(file));
    if (fan == "pack") {
      packs_held_.push_back(name);
      return Held::kYes;
    }
    const auto [loose, is_new] = loose_held_.try_emplace(place + "/" + fan);
    loose->second.names.push_back(name);
    // One that cannot be looked at has changed.
    if (is_new) loose->second.looks = MarkOf(loose->first, S_IFDIR).value_or(FileMark());
    return Held::kYes;
  }

  /// The names of what the repository has no more as it was held. Those of loose objects are looked
  /// at where their folder has changed.
  std::vector<std::string> Vanished() {
    std::vector<std::string> gone;
    const auto look_at = [&](const std::vector<std::string>& names) {
      for (const std::string& name : names) {
        const auto file = files_.find(name);
        if (file == files_.end() || file->second.kept) continue;
        const std::optional<FileMark> now = MarkOf(file->second.from, S_IFREG);
        if (!file->second.mark.Is(now)) gone.push_back(name);
      }
    };
    look_at(packs_held_);
    for (auto& [folder, loose] : loose_held_) {
      const std::optional<FileMark> now = MarkOf(folder, S_IFDIR);
      if (now && *now == loose.looks && !IsFresh(loose.looks)) continue;
      if (now) loose.looks = *now;
      look_at(loose.names);
    }
    return gone;
  }

  /// False when it is not what was held: somebody wrote into it.
  bool Keep(const std::string& name, HeldFile& file, std::size_t& open) {
    const std::string path = folder_ + "/" + name;
    if (file.fd) {
      struct stat now{};
      if (::fstat(file.fd.get(), &now) != 0 || now.st_size != file.mark.size) return false;
      if (!CopyHeld(file.fd.get(), path)) return false;
      file.fd.reset();
      --open;
    } else if (!file.mark.Is(MarkOf(path, S_IFREG))) {
      return false;
    }
    file.kept = true;
    return true;
  }

  void Drop(const std::string& name, std::size_t& open) {
    const auto found = files_.find(name);
    if (found->second.fd)
      --open;
    else
      (void)Remove(folder_ + "/" + name);  // Without it there is nothing to let go of.
    if (!name.starts_with("pack/")) loose_.erase(name.substr(0, 2) + name.substr(3));
    files_.erase(found);
  }

  /// The names of what was dropped: it may be held again.
  void Forget() {
    const auto dropped = [&](const std::string& name) { return !files_.contains(name); };
    std::erase_if(packs_held_, dropped);
    for (auto& [folder, loose] : loose_held_) std::erase_if(loose.names, dropped);
  }

  [[nodiscard]] std::vector<GitObject> NotKept() const {
    std::vector<GitObject> objects;
    for (const auto& [id, size] : needed_) {
      if (!kept_.contains(id)) objects.push_back({.id = id, .repository = 0, .size = size});
    }
    return objects;
  }

  [[nodiscard]] std::vector<GitObject> NotIn(const std::vector<std::string>& folders,
                                             std::vector<GitObject> objects) const {
    const std::vector<bool> has = GitObjects(format_, folders, scratch_).Has(objects);
    std::vector<GitObject> missing;
    for (std::size_t i = 0; i < objects.size(); ++i) {
      if (!has[i]) missing.push_back(std::move(objects[i]));
    }
    return missing;
  }

  GitFormat format_;
  std::vector<std::string> places_;
  std::string folder_;
  std::string scratch_;
  std::unordered_map<std::string, HeldFile> files_;
  std::unordered_map<std::string, FileMark> packs_;  // How the folders of packs looked.
  std::vector<std::string> packs_held_;              // Names.
  std::unordered_map<std::string, LooseFolder> loose_held_;
  std::unordered_map<std::string, std::uint64_t> needed_;
  std::unordered_set<std::string> loose_;   // Ids.
  std::unordered_set<std::string> kept_;    // Ids that the repository had no more.
  std::unordered_set<std::string> packed_;  // Ids that are in one of the packs.
  std::unordered_set<std::string> listed_;
  std::unordered_set<std::string> made_;
  std::unordered_set<std::string> no_links_;  // Places from which nothing can be linked.
  bool whole_ = true;                         // All packs are held.
  bool moved_ = false;                        // Objects may lie elsewhere than before.
};

HeldObjects::HeldObjects(std::string folder) : folder_(std::move(folder)) {}
HeldObjects::HeldObjects(HeldObjects&&) noexcept = default;
HeldObjects& HeldObjects::operator=(HeldObjects&&) noexcept = default;
HeldObjects::~HeldObjects() = default;

std::string HeldObjects::FolderOf(const std::string& objects) const {
  return folder_ + "/" + FastHashHex(objects);
}

std::vector<bool> HeldObjects::Hold(const TrackedFiles& files, std::span<const GitObject> needed) {
  std::vector<bool> held(needed.size());
  std::map<std::string, std::vector<std::size_t>> by_objects;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    // One of another reading is not held.
    if (needed[i].repository >= files.repositories()) continue;
    const GitRepository& where = files.repository(needed[i].repository);
    if (!where.objects.empty()) by_objects[where.objects[0]].push_back(i);
  }
  for (std::uint32_t number = 0; number < files.repositories(); ++number) {
    const GitRepository& where = files.repository(number);
    if (where.objects.empty()) continue;
    const std::string& name = where.objects[0];
    const auto known = repositories_.find(name);
    if (known != repositories_.end())
      known->second->Where(where);
    else if (by_objects.contains(name))
      repositories_.emplace(
          name, std::make_unique<Repository>(where, FolderOf(name), folder_ + "/reading"));
  }
  // Those of which nothing is new as well: something of them may have moved.
  for (const auto& [name, repository] : repositories_) {
    const std::vector<std::size_t>& places = by_objects[name];
    std::vector<const GitObject*> own;
    for (const std::size_t i : places) own.push_back(&needed[i]);
    const std::vector<bool> some = repository->Hold(own, open_);
    for (std::size_t i = 0; i < some.size(); ++i) held[places[i]] = some[i];
  }
  return held;
}

std::vector<std::string> HeldObjects::Release() {
  std::vector<std::string> lost;
  for (const auto& [objects, repository] : repositories_) repository->Release(lost, open_);
  return lost;
}

void HeldObjects::LetGo() {
  for (const auto& [objects, repository] : repositories_) repository->LetGo(open_);
}

}  // namespace stet::tool
