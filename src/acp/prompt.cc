#include "acp/prompt.h"

#include <charconv>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/utf8.h"

namespace stet::acp {
namespace {

constexpr std::string_view kFileScheme = "file://";

std::string Unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const char* digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

/// As a person would write it: relative below the working folder, quoted when it has blanks.
std::string Named(std::string_view path, std::string_view cwd) {
  if (path.size() > cwd.size() + 1 && path.starts_with(cwd) && path[cwd.size()] == '/')
    path.remove_prefix(cwd.size() + 1);
  if (path.find_first_of(" \t\"'()<>,;:!?") == std::string_view::npos) return std::string(path);
  return fmt::format("\"{}\"", path);
}

bool EndsInBlank(std::string_view text) {
  return text.empty() || text.back() == ' ' || text.back() == '\n' || text.back() == '\t';
}

class PromptReader {
 public:
  explicit PromptReader(std::string_view cwd) : cwd_(cwd) { send_.how = "send"; }

  Status Take(const JsonView& block) {
    const std::string type = block["type"].StringOr("");
    if (type == "text") return TakeText(block["text"]);
    if (type == "resource_link") return TakeLink(block);
    if (type == "resource") return TakeResource(block["resource"]);
    if (type == "image") return TakeImage(block["data"], block["mimeType"].StringOr(""));
    return Fail(Code::kInvalid, fmt::format("a block of type \"{}\" cannot be sent", type));
  }

  Result<protocol::Send> Finish() {
    send_.text += behind_;
    const bool blank = send_.text.find_first_not_of(" \t\r\n") == std::string::npos;
    if (blank && send_.images.empty())
      return Fail(Code::kInvalid, "prompt: there is nothing to send");
    return std::move(send_);
  }

 private:
  Status TakeText(const JsonView& text) {
    if (!text.is_string()) return Fail(Code::kInvalid, "text must be a string");
    const std::string said = text.StringOr("");
    // Texts around a link are parts of one sentence.
    if (last_was_text_ && !send_.text.empty()) send_.text += "\n\n";
    const bool joins = after_name_ && !said.empty() && said[0] != ' ' && said[0] != '\n' &&
                       std::string_view(".,;:!?)").find(said[0]) == std::string_view::npos;
    if (joins) send_.text += ' ';
    send_.text += said;
    last_was_text_ = true;
    after_name_ = false;
    return {};
  }

  void Insert(std::string_view name) {
    if (!EndsInBlank(send_.text)) send_.text += ' ';
    send_.text += name;
    last_was_text_ = false;
    after_name_ = true;
  }

  Status TakeLink(const JsonView& link) {
    const std::string uri = link["uri"].StringOr("");
    if (uri.empty()) return Fail(Code::kInvalid, "uri must be a string");
    if (const std::string path = PathOfUri(uri); !path.empty()) {
      Insert("@" + Named(path, cwd_));
    } else {
      const std::string name = link["name"].StringOr("");
      Insert(name.empty() ? uri : fmt::format("[{}]({})", name, uri));
    }
    return {};
  }

  Status TakeResource(const JsonView& resource) {
    const std::string uri = resource["uri"].StringOr("");
    if (uri.empty()) return Fail(Code::kInvalid, "resource.uri must be a string");
    const std::string mime = resource["mimeType"].StringOr("");
    if (resource["blob"] && mime.starts_with("image/")) return TakeImage(resource["blob"], mime);
    const std::string path = PathOfUri(uri);
    const std::string name = path.empty() ? uri : Named(path, cwd_);
    Insert(name);
    if (const std::optional<std::string> text = resource["text"].String()) {
      behind_ += fmt::format("\n\n<context from={}>\n{}{}</context>", name, *text,
                             text->ends_with('\n') ? "" : "\n");
    } else if (resource["blob"].is_string()) {
      behind_ += fmt::format("\n\n({} is binary, {}: its content is not shown)", name,
                             mime.empty() ? "of an unknown kind" : mime);
    } else {
      return Fail(Code::kInvalid, "resource needs text or blob");
    }
    return {};
  }

  Status TakeImage(const JsonView& data, std::string media_type) {
    std::string text = data.StringOr("-");
    if (!DecodeBase64(text)) return Fail(Code::kInvalid, "the data of an image is not base64");
    protocol::ImageFile& image = send_.images.emplace_back();
    image.media_type = std::move(media_type);
    image.data = std::move(text);
    last_was_text_ = false;
    return {};
  }

  std::string_view cwd_;
  protocol::Send send_;
  std::string behind_;  // What was embedded.
  bool last_was_text_ = false;
  bool after_name_ = false;
};

}  // namespace

std::string PathOfUri(std::string_view uri) {
  if (!uri.starts_with(kFileScheme)) return uri.starts_with('/') ? std::string(uri) : "";
  uri.remove_prefix(kFileScheme.size());
  uri = uri.substr(0, uri.find_first_of("#?"));
  if (uri.starts_with("localhost/")) uri.remove_prefix(std::string_view("localhost").size());
  if (!uri.starts_with('/')) return "";
  std::string path = Unescaped(uri);
  return path.find('\0') == std::string::npos && IsValidUtf8(path) ? path : "";
}

Result<protocol::Send> ReadPrompt(const JsonView& blocks, std::string_view cwd) {
  if (!blocks.is_array()) return Fail(Code::kInvalid, "prompt must be an array of content blocks");
  PromptReader reader(cwd);
  Status status;
  std::size_t number = 0;
  blocks.ForEach([&](const JsonView& block) {
    if (!status) return;
    status = reader.Take(block);
    if (!status)
      status =
          Fail(status.error().code, fmt::format("prompt[{}]: {}", number, status.error().message));
    ++number;
  });
  RETURN_IF_ERROR(status);
  return reader.Finish();
}

}  // namespace stet::acp
