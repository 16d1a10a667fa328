// Transfer: sessions in and out of a device, as a tar of the folder or as the JSONL alone.
//
// Unless told to reveal them, an export has secrets of known kinds masked.
// Both take a root with its children; a child that is exported alone comes in as a root.
// An export is a consistent prefix of the log even while it is being written: whole lines up to the
// size at the start. An import trusts nothing: it unpacks into a temporary folder, takes only the
// names that a session has (events.jsonl, blobs, agents) and only plain files, checks blobs against
// their names, and then appears in one rename, under the locks of its tree. A tar that is cut or
// holds two roots is refused; what it holds beside a session is left out and told.
#pragma once

#include <string>

#include "base/result.h"
#include "client/sessions.h"
#include "store/session_store.h"

namespace stet::store {

Status Export(const SessionStore& store, const std::string& session_id, client::ExportFormat format,
              const std::string& path, int fd, bool reveal);
Result<client::Imported> Import(const SessionStore& store, const std::string& path, bool new_id);

}  // namespace stet::store
