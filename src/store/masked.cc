#include "store/masked.h"

#include <map>

#include <fcntl.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/plain_file.h"
#include "base/secrets.h"
#include "base/text.h"
#include "base/utf8.h"
#include "log/blobs.h"
#include "log/line.h"
#include "log/scan.h"
#include "protocol/ids.h"

namespace stet::store {
namespace {

/// Old name to new.
using Renamed = std::map<std::string, std::string>;

Status MaskBlobs(const std::string& folder, Renamed& renamed) {
  const Result<std::vector<DirEntry>> blobs = ListDir(folder);
  if (!blobs) return {};
  for (const DirEntry& blob : *blobs) {
    const std::string path = folder + "/" + blob.name;
    ASSIGN_OR_RETURN(const std::string content, ReadPlainFile(path));
    if (!IsValidUtf8(content)) continue;
    const std::string masked = MaskSecrets(content);
    if (masked == content) continue;
    const std::string name = Sha256Hex(masked);
    RETURN_IF_ERROR(ReplaceFile(folder + "/" + name, masked, Durable::kNo));
    RETURN_IF_ERROR(Remove(path));
    renamed[blob.name] = name;
  }
  return {};
}

std::string WithNames(std::string line, const Renamed& renamed) {
  for (const auto& [from, to] : renamed) line = Replaced(line, from, to);
  return line;
}

Status MaskLog(const std::string& path, const Renamed& renamed) {
  ASSIGN_OR_RETURN(const Fd in, OpenPlainFile(path, O_RDONLY));
  const std::string out_path = path + ".masked";
  ASSIGN_OR_RETURN(const Fd out, OpenFile(out_path, O_WRONLY | O_CREAT | O_TRUNC, 0600));
  log::LineScanner scanner(in.get(), 0);
  log::ScannedLine line;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, scanner.Next(&line));
    if (!more) break;
    std::string text(line.text);
    if (log::CheckLine(text)) {
      text = MaskSecrets(WithNames(log::Unsealed(text), renamed));
      log::SealLine(text, 0);
    } else {
      (text = MaskSecrets(text)) += '\n';  // Not sealed: it stays a damaged line.
    }
    RETURN_IF_ERROR(WriteAll(out.get(), text));
  }
  return Rename(out_path, path);
}

}  // namespace

Status MaskCopy(const log::Paths& copy) {
  Renamed renamed;
  RETURN_IF_ERROR(MaskBlobs(copy.blobs(), renamed));
  RETURN_IF_ERROR(MaskLog(copy.events(), renamed));
  if (const Result<std::string> summary = ReadPlainFile(copy.summary()))
    RETURN_IF_ERROR(ReplaceFile(copy.summary(), MaskSecrets(*summary), Durable::kNo));
  if (const Result<std::vector<DirEntry>> agents = ListDir(copy.agents())) {
    for (const DirEntry& agent : *agents)
      RETURN_IF_ERROR(MaskCopy({copy.agents() + "/" + agent.name}));
  }
  return {};
}

}  // namespace stet::store
