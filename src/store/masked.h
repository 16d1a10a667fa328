// A copy of a session for others' eyes: secrets of known kinds are masked in its log and blobs.
// Every line is sealed again and every changed blob gets the name of its content, so that what is
// left is a sound session.
#pragma once

#include "base/result.h"
#include "log/log.h"

namespace stet::store {

/// Masks the copy in that folder, which only the caller uses. Blobs may be links to the original's:
/// they are replaced, never written into.
Status MaskCopy(const log::Paths& copy);

}  // namespace stet::store
