#include "tool/checkpoint/put_back.h"

#include <algorithm>
#include <numeric>

#include "base/beneath.h"
#include "base/hash.h"
#include "tool/checkpoint/keeping.h"

namespace stet::tool {
namespace {

/// Until it has its own.
constexpr mode_t kUnfinishedMode = 0600;
/// What its owner needs to change what is in a folder.
constexpr mode_t kOwnerMayChange = 0700;

/// What is there now, nothing included.
Result<OptionalEntry> Now(const std::string& project, const std::string& path) {
  // Behind a link there is nothing of this path, whatever it leads to.
  const Result<Beneath> reached = Beneath::Open(project, project + "/" + path);
  if (!reached &&
      (reached.error().code == Code::kConflict || reached.error().code == Code::kNotFound))
    return OptionalEntry();
  Result<ManifestEntry> now = EntryNow(project, path);
  if (now) return OptionalEntry(*std::move(now));
  if (now.error().code == Code::kNotFound) return OptionalEntry();
  return std::unexpected(now.error());
}

class Putting {
 public:
  explicit Putting(const PutBackWish& wish) : wish_(wish), done_(wish.lines.size()) {}

  std::vector<PutBackLine> Run() {
    order_.resize(wish_.lines.size());
    std::iota(order_.begin(), order_.end(), 0U);
    std::ranges::sort(order_, {}, [&](std::size_t i) { return wish_.lines[i].path; });
    Each(&Putting::CheckUntouched);
    // What is in a folder goes before it, and comes after it.
    std::ranges::reverse(order_);
    Each(&Putting::Clear);
    std::ranges::reverse(order_);
    Each(&Putting::Make);
    std::ranges::reverse(order_);
    Each(&Putting::SetFolderMode);
    Each(&Putting::Verify);
    return std::move(done_);
  }

 private:
  using Step = Status (Putting::*)(const UndoLine&);

  /// Of those that did not fail before.
  void Each(Step step) {
    for (const std::size_t i : order_) {
      if (!done_[i].why.empty()) continue;
      const Status done = (this->*step)(wish_.lines[i]);
      if (!done) done_[i].why = done.error().Text();
      done_[i].restored = done && step == &Putting::Verify;
    }
  }

  [[nodiscard]] Result<Beneath> PlaceOf(const UndoLine& line) const {
    return Beneath::Open(wish_.project, wish_.project + "/" + line.path);
  }

  Status CheckUntouched(const UndoLine& line) {
    ASSIGN_OR_RETURN(const OptionalEntry now, Now(wish_.project, line.path));
    const bool same = now && line.now ? now->LooksLike(*line.now) && now->target == line.now->target
                                      : !now && !line.now;
    if (!same) return Fail(Code::kConflict, "it was changed just now");
    return CanPutBack(wish_, line);
  }

  /// Takes away what is in the way: all that is not of the kind that is wanted.
  Status Clear(const UndoLine& line) {
    if (!line.now) return {};
    if (line.wanted && line.wanted->kind == line.now->kind &&
        line.now->kind != ManifestKind::kLink) {
      if (line.now->kind != ManifestKind::kFolder ||
          (line.now->mode & kOwnerMayChange) == kOwnerMayChange)
        return {};
      ASSIGN_OR_RETURN(const Beneath place, PlaceOf(line));
      return place.SetMode(line.now->mode | kOwnerMayChange);
    }
    ASSIGN_OR_RETURN(const Beneath place, PlaceOf(line));
    const Status gone = IsFolder(line.now) ? place.RemoveFolder() : place.Remove();
    if (gone || gone.error().code == Code::kNotFound) return {};
    if (gone.error().code == Code::kConflict)
      return Fail(Code::kConflict, "there is something in it that is not of this session's undo");
    return gone;
  }

  Status Make(const UndoLine& line) {
    if (!line.wanted) return {};
    const ManifestEntry& wanted = *line.wanted;
    ASSIGN_OR_RETURN(const Beneath place, PlaceOf(line));
    if (wanted.kind == ManifestKind::kFolder) {
      RETURN_IF_ERROR(place.MakeFolder());
      return place.SetMode(wanted.mode | kOwnerMayChange);
    }
    if (wanted.kind == ManifestKind::kLink) return place.MakeLink(wanted.target);
    ASSIGN_OR_RETURN(const std::string bytes, wish_.content(wanted.kept));
    // The same content is not written again: the file may have other names.
    const auto now = place.Read();
    // Under a name that it did not have then, the file is another one, whose other names stay.
    const bool another = line.now && line.now->kind == ManifestKind::kFile &&
                         line.now->inode != wanted.inode && now && now->stat.links > 1;
    if (another) RETURN_IF_ERROR(place.Remove());
    if (another || !now || now->bytes != bytes)
      RETURN_IF_ERROR(place.Write(bytes, kUnfinishedMode));
    return place.SetMode(wanted.mode);
  }

  Status SetFolderMode(const UndoLine& line) {
    if (!IsFolder(line.wanted)) return {};
    ASSIGN_OR_RETURN(const Beneath place, PlaceOf(line));
    return place.SetMode(line.wanted->mode);
  }

  Status Verify(const UndoLine& line) {
    ASSIGN_OR_RETURN(const OptionalEntry now, Now(wish_.project, line.path));
    const auto fail = [] { return Fail(Code::kConflict, "it is not as it was, after all"); };
    if (!now || !line.wanted) return now || line.wanted ? fail() : Status();
    if (now->kind != line.wanted->kind || now->target != line.wanted->target) return fail();
    if (now->kind == ManifestKind::kLink) return {};
    if (now->mode != line.wanted->mode) return fail();
    if (now->kind == ManifestKind::kFolder) return {};
    ASSIGN_OR_RETURN(const std::string wanted, wish_.content(line.wanted->kept));
    ASSIGN_OR_RETURN(const Beneath place, PlaceOf(line));
    ASSIGN_OR_RETURN(const Beneath::Content content, place.Read(wanted.size()));
    return content.bytes == wanted ? Status() : fail();
  }

  const PutBackWish& wish_;
  std::vector<PutBackLine> done_;
  std::vector<std::size_t> order_;
};

}  // namespace

Status CanPutBack(const PutBackWish& wish, const UndoLine& line) {
  if (!line.wanted || line.wanted->kind != ManifestKind::kFile) return {};
  if (line.wanted->kept.in == Kept::In::kNowhere)
    return Fail(Code::kNotFound, "its content before is not kept");
  if (const auto content = wish.content(line.wanted->kept); !content)
    return Fail(Code::kNotFound, "its content before is not kept any more");
  return {};
}

std::vector<PutBackLine> PutBack(const PutBackWish& wish) { return Putting(wish).Run(); }

}  // namespace stet::tool
