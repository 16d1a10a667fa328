#include "tool/load.h"

#include <fmt/format.h>

#include "base/beneath.h"
#include "tool/image.h"
#include "tool/paths.h"

namespace stet::tool {

bool IsForEditor(std::string_view path, std::string_view bytes) {
  // An editor has a notebook as cells.
  if (path.ends_with(".ipynb") || !ImageType(bytes).empty()) return false;
  const TextFile file = DecodeText(bytes);
  return file.exact &&
         (file.encoding == Encoding::kUtf8 || file.encoding == Encoding::kUtf8WithMark);
}

namespace {

Result<Beneath::Content> ReadBeneath(const std::string& path, const Workspace& workspace) {
  ASSIGN_OR_RETURN(const Beneath file, Beneath::Open(RootOf(path, workspace), path));
  return file.Read(kMaxTextBytes);
}

}  // namespace

Async<Result<Loaded>> Load(std::string path, Call& call) {
  Loaded loaded;
  Result<Beneath::Content> disk = ReadBeneath(path, call.workspace);
  if (!disk && disk.error().code != Code::kNotFound)
    co_return std::unexpected(std::move(disk).error());
  if (disk) {
    loaded.bytes = std::move(disk->bytes);
    loaded.on_disk = true;
    loaded.stat = disk->stat;
  }
  const std::shared_ptr<Editor> editor = call.editor;
  if (editor && editor->reads() && IsForEditor(path, loaded.bytes)) {
    Result<std::string> text = co_await editor->Read(path, call.cancel);
    // Editors give an empty text for what is no file at all.
    const bool said = text && IsForEditor(path, *text) && (loaded.on_disk || !text->empty());
    if (said) {
      loaded.bytes = *std::move(text);
      loaded.in_editor = true;
    }
  }
  if (!loaded.on_disk && !loaded.in_editor)
    co_return Fail(Code::kNotFound, fmt::format("{} does not exist.", path));
  co_return loaded;
}

}  // namespace stet::tool
