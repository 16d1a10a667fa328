#include "tool/html_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/text.h"
#include "base/utf8.h"

namespace stet::tool {
namespace {

struct NamedEntity {
  std::string_view name;
  std::string_view text;
};

constexpr std::array kNamed = {
    NamedEntity{"amp", "&"},        NamedEntity{"lt", "<"},
    NamedEntity{"gt", ">"},         NamedEntity{"quot", "\""},
    NamedEntity{"apos", "'"},       NamedEntity{"nbsp", " "},
    NamedEntity{"copy", "\u00A9"},  NamedEntity{"reg", "\u00AE"},
    NamedEntity{"trade", "\u2122"}, NamedEntity{"hellip", "\u2026"},
    NamedEntity{"mdash", "\u2014"}, NamedEntity{"ndash", "\u2013"},
    NamedEntity{"lsquo", "\u2018"}, NamedEntity{"rsquo", "\u2019"},
    NamedEntity{"ldquo", "\u201C"}, NamedEntity{"rdquo", "\u201D"},
    NamedEntity{"bull", "\u2022"},  NamedEntity{"middot", "\u00B7"},
    NamedEntity{"times", "\u00D7"}, NamedEntity{"rarr", "\u2192"},
    NamedEntity{"larr", "\u2190"},  NamedEntity{"deg", "\u00B0"},
    NamedEntity{"euro", "\u20AC"},  NamedEntity{"laquo", "\u00AB"},
    NamedEntity{"raquo", "\u00BB"}, NamedEntity{"para", "\u00B6"},
    NamedEntity{"sect", "\u00A7"},
};

constexpr std::array<std::string_view, 9> kSkipped = {
    "script", "style", "noscript", "svg", "template", "iframe", "head", "canvas", "object"};
constexpr std::array<std::string_view, 26> kBlocks = {
    "p",  "div",    "section", "article", "header", "footer", "main",       "nav", "aside",
    "ul", "ol",     "table",   "tr",      "form",   "pre",    "blockquote", "dl",  "dt",
    "dd", "figure", "h1",      "h2",      "h3",     "h4",     "h5",         "h6"};

bool IsHtmlBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

struct Tag {
  std::string name;
  bool closes = false;
  std::string_view attributes;
};

/// The value of an attribute, without its quotes.
std::string_view Attribute(std::string_view attributes, std::string_view name) {
  for (std::size_t at = 0; at + name.size() < attributes.size(); ++at) {
    const bool begins = at == 0 || IsHtmlBlank(attributes[at - 1]);
    if (!begins || Lower(attributes.substr(at, name.size())) != name) continue;
    std::size_t value = at + name.size();
    while (value < attributes.size() && IsHtmlBlank(attributes[value])) ++value;
    if (value >= attributes.size() || attributes[value] != '=') continue;
    ++value;
    while (value < attributes.size() && IsHtmlBlank(attributes[value])) ++value;
    if (value >= attributes.size()) return "";
    const char quote = attributes[value];
    if (quote == '"' || quote == '\'') {
      const std::size_t end = std::min(attributes.find(quote, value + 1), attributes.size());
      return attributes.substr(value + 1, end - value - 1);
    }
    const std::size_t end = std::min(attributes.find_first_of(" \t\r\n", value), attributes.size());
    return attributes.substr(value, end - value);
  }
  return "";
}

class Writer {
 public:
  explicit Writer(std::string_view html) : html_(html) {}

  std::string Write() {
    while (at_ < html_.size()) {
      if (html_[at_] == '<' && TakeMarkup()) continue;
      TakeText();
    }
    while (!out_.empty() && (out_.back() == '\n' || out_.back() == ' ')) out_.pop_back();
    if (!out_.empty()) out_ += '\n';
    return ReplaceInvalidUtf8(out_);
  }

 private:
  [[nodiscard]] std::string_view Rest() const { return html_.substr(at_); }

  /// False when the < is only a character.
  bool TakeMarkup() {
    if (Rest().starts_with("<!--")) {
      const std::size_t end = html_.find("-->", at_ + 4);
      at_ = end == std::string_view::npos ? html_.size() : end + 3;
      return true;
    }
    const std::optional<Tag> tag = ReadTag();
    if (!tag) return false;
    if (!tag->closes && std::ranges::find(kSkipped, tag->name) != kSkipped.end())
      SkipTo(tag->name);
    else
      Apply(*tag);
    return true;
  }

  std::optional<Tag> ReadTag() {
    std::size_t at = at_ + 1;
    if (at >= html_.size()) return std::nullopt;
    Tag tag;
    tag.closes = html_[at] == '/';
    if (tag.closes) ++at;
    const bool names =
        at < html_.size() && (std::isalpha(static_cast<unsigned char>(html_[at])) != 0 ||
                              html_[at] == '!' || html_[at] == '?');
    if (!names) return std::nullopt;
    const std::size_t name = at;
    while (at < html_.size() && !IsHtmlBlank(html_[at]) && html_[at] != '>' && html_[at] != '/')
      ++at;
    tag.name = Lower(html_.substr(name, at - name));
    const std::size_t attributes = at;
    char quote = 0;
    for (; at < html_.size() && (quote != 0 || html_[at] != '>'); ++at) {
      if (quote == 0 && (html_[at] == '"' || html_[at] == '\''))
        quote = html_[at];
      else if (html_[at] == quote)
        quote = 0;
    }
    tag.attributes = html_.substr(attributes, at - attributes);
    at_ = std::min(at + 1, html_.size());
    return tag;
  }

  /// Over everything up to the end of the element, which is no content.
  void SkipTo(const std::string& name) {
    const std::string end = "</" + name;
    while (at_ < html_.size()) {
      const std::size_t next = html_.find('<', at_);
      if (next == std::string_view::npos) break;
      at_ = next;
      if (Lower(html_.substr(at_, end.size())) == end) {
        const std::size_t close = html_.find('>', at_);
        at_ = close == std::string_view::npos ? html_.size() : close + 1;
        return;
      }
      ++at_;
    }
    at_ = html_.size();
  }

  void Apply(const Tag& tag) {
    if (tag.name == "br") {
      out_ += '\n';
    } else if (tag.name == "li") {
      if (!tag.closes) Line("- ");
    } else if (tag.name == "td" || tag.name == "th") {
      if (tag.closes) out_ += " | ";
    } else if (tag.name == "a") {
      TakeLink(tag);
    } else if (std::ranges::find(kBlocks, tag.name) != kBlocks.end()) {
      Block(tag);
    }
  }

  void Block(const Tag& tag) {
    if (tag.name == "pre") preformatted_ = !tag.closes;
    const bool heading = tag.name.size() == 2 && tag.name[0] == 'h' && tag.name[1] != 'r';
    Paragraph();
    if (heading && !tag.closes)
      out_ += std::string(static_cast<std::size_t>(tag.name[1] - '0'), '#') + ' ';
  }

  void TakeLink(const Tag& tag) {
    if (!tag.closes) {
      link_ = Attribute(tag.attributes, "href");
      return;
    }
    const bool tells =
        link_.starts_with("http://") || link_.starts_with("https://") || link_.starts_with('/');
    if (tells) out_ += " (" + Resolved(link_) + ")";
    link_ = {};
  }

  /// With its character references undone.
  [[nodiscard]] static std::string Resolved(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) AppendCharacter(text, at, out);
    return out;
  }

  static void AppendCharacter(std::string_view text, std::size_t& at, std::string& out) {
    constexpr std::size_t kLongest = 12;
    if (text[at] == '&') {
      const std::size_t end = text.substr(at, kLongest).find(';');
      const std::string meant =
          end == std::string_view::npos ? "" : CharacterOf(text.substr(at + 1, end - 1));
      if (!meant.empty()) {
        out += meant;
        at += end + 1;
        return;
      }
    }
    out += text[at++];
  }

  void TakeText() {
    const std::size_t end = std::min(html_.find('<', at_ + 1), html_.size());
    const std::string text = Resolved(html_.substr(at_, end - at_));
    at_ = end;
    if (preformatted_) {
      out_ += text;
      return;
    }
    for (const char c : text) {
      if (!IsHtmlBlank(c))
        out_ += c;
      else if (!out_.empty() && !IsHtmlBlank(out_.back()))
        out_ += ' ';
    }
  }

  void Line(std::string_view mark) {
    while (out_.ends_with(' ')) out_.pop_back();
    if (!out_.empty() && !out_.ends_with('\n')) out_ += '\n';
    out_ += mark;
  }
  void Paragraph() {
    Line("");
    if (!out_.empty() && !out_.ends_with("\n\n")) out_ += '\n';
  }

  std::string_view html_;
  std::size_t at_ = 0;
  std::string out_;
  std::string_view link_;
  bool preformatted_ = false;
};

}  // namespace

std::string CharacterOf(std::string_view reference) {
  if (!reference.starts_with('#')) {
    const auto* found = std::ranges::find(kNamed, reference, &NamedEntity::name);
    return found == kNamed.end() ? "" : std::string(found->text);
  }
  reference.remove_prefix(1);
  const bool hex = reference.starts_with('x') || reference.starts_with('X');
  if (hex) reference.remove_prefix(1);
  std::uint32_t code = 0;
  const auto read =
      std::from_chars(reference.data(), reference.data() + reference.size(), code, hex ? 16 : 10);
  const bool whole = read.ec == std::errc() && read.ptr == reference.data() + reference.size();
  if (!whole || code == 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return "";
  std::string out;
  AppendUtf8(out, code);
  return out;
}

std::string HtmlText(std::string_view html) { return Writer(html).Write(); }

}  // namespace stet::tool
