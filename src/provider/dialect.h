// Dialects: four wires, one meaning. Each dialect is one file that writes a Request as its server
// wants it and reads the server's events into a ReplyBuilder.
//
// Writing is deterministic: the same model and request give the same bytes. Reading takes any
// bytes: what makes no sense fails the builder with kProtocol, what is merely unknown is passed
// over.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "provider/model.h"
#include "provider/reply_builder.h"
#include "provider/request.h"
#include "provider/wire_parts.h"

namespace stet::provider {

struct WireRequest {
  std::string url;
  Headers headers;   // Without the key.
  std::string body;  // JSON.
  std::vector<WirePart> parts;
};

/// Reads one reply. Fed with whole server-sent events, whose data is valid UTF-8.
class Decoder {
 public:
  virtual ~Decoder() = default;
  /// `event` is the event's name, often empty; `data` its data.
  virtual void On(std::string_view event, std::string_view data) = 0;
  /// The body ended. Ends the builder if the reply was complete, else fails it with kTruncated.
  virtual void Finish() = 0;
};

/// Images go to models that take them. In place of an image, a model that takes none is sent a note
/// that there was one, and so is every model when the image can no longer be read. Fails only for
/// the offline model.
Result<WireRequest> EncodeRequest(const Model& model, const Request& request);

/// The header that carries the key: {"x-api-key", key}, {"authorization", "Bearer " + key}, ...
std::pair<std::string, std::string> KeyHeader(Dialect dialect, std::string_view key);

/// `builder` must outlive the decoder. Null for the offline model, which has no wire.
std::unique_ptr<Decoder> MakeDecoder(const Model& model, ReplyBuilder& builder);

// One pair per dialect, in the file of that name; called by the two functions above only.
namespace anthropic_messages {
Result<WireRequest> Encode(const Model& model, const Request& request);
std::unique_ptr<Decoder> MakeDecoder(ReplyBuilder& builder);
}  // namespace anthropic_messages
namespace openai_completions {
Result<WireRequest> Encode(const Model& model, const Request& request);
std::unique_ptr<Decoder> MakeDecoder(ReplyBuilder& builder);
}  // namespace openai_completions
namespace openai_responses {
Result<WireRequest> Encode(const Model& model, const Request& request);
std::unique_ptr<Decoder> MakeDecoder(ReplyBuilder& builder);
}  // namespace openai_responses
namespace google_generative_ai {
Result<WireRequest> Encode(const Model& model, const Request& request);
std::unique_ptr<Decoder> MakeDecoder(ReplyBuilder& builder);
}  // namespace google_generative_ai

}  // namespace stet::provider
