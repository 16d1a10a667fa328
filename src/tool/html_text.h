// HtmlText: a web page as readable text. Not a browser: tags are read as they come, whatever their
// nesting; nothing is fetched and nothing is run.
#pragma once

#include <string>
#include <string_view>

namespace stet::tool {

/// Headings get marks, list items dashes, links their address in parentheses, code keeps its line
/// ends; scripts, styles and what is no content are left out. Any bytes are accepted; the result is
/// valid UTF-8 and at most a few times as long as `html`.
std::string HtmlText(std::string_view html);

/// The text of a character reference without & and ;, such as "amp" or "#x4e2d"; empty when there
/// is no such thing.
std::string CharacterOf(std::string_view reference);

}  // namespace stet::tool
