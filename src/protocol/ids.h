// Identifiers: opaque random names, never counters. A prefix tells a reader of logs what kind of
// thing is named.
#pragma once

#include <string>
#include <string_view>

#include "base/random.h"

namespace stet::protocol {

/// "ses_" and 16 letters: 80 random bits.
std::string NewSessionId(Random& random);
/// "e_" and 16 letters. Minted before the event is written, so that transients can name it.
std::string NewEventId(Random& random);
std::string NewToolCallId(Random& random);
std::string NewModelCallId(Random& random);
std::string NewTurnId(Random& random);
std::string NewDeviceId(Random& random);
/// Of something asked.
std::string NewRequestId(Random& random);
/// Of something queued.
std::string NewQueueItemId(Random& random);
std::string NewPinId(Random& random);
/// Of something that the model must be told.
std::string NewOwedId(Random& random);
/// Of one client: its face's name (letters, digits, - and _ of it), a dash and 16 letters.
std::string NewClientId(Random& random, std::string_view face);

/// Whether a client or a token may be called so: 1 to 64 of a-z A-Z 0-9 - _ . and none of the names
/// by which a log calls stet itself and what works for it (host, model, hook, ...).
bool IsClientName(std::string_view name);

/// Whether `id` can name a session's folder: 1 to 128 of a-z A-Z 0-9 _ -, not starting with a dash.
bool IsSessionId(std::string_view id);

}  // namespace stet::protocol
