// JsonWriter: writes JSON into a string, in the order of the calls, with the commas in their
// places. The same calls give the same bytes. It does not check that keys and ends match: a test of
// the caller does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "json/json.h"

namespace stet {

class JsonWriter {
 public:
  /// `out` must outlive the writer.
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }

  JsonWriter& Key(std::string_view name) {
    Separate();
    AppendJsonString(out_, name);
    out_ += ':';
    need_comma_ = false;
    return *this;
  }

  JsonWriter& String(std::string_view text) {
    Separate();
    AppendJsonString(out_, text);
    return *this;
  }
  JsonWriter& Int(std::int64_t value) {
    Separate();
    AppendJsonInt(out_, value);
    return *this;
  }
  JsonWriter& Bool(bool value) { return Text(value ? "true" : "false"); }
  /// `json` is one valid JSON value and goes in as it is.
  JsonWriter& Text(std::string_view json) {
    Separate();
    out_ += json;
    return *this;
  }

  // A member at once. Text needs all three overloads: a const char* would become a bool.
  JsonWriter& Member(std::string_view name, std::string_view text) {
    return Key(name).String(text);
  }
  JsonWriter& Member(std::string_view name, const char* text) { return Key(name).String(text); }
  JsonWriter& Member(std::string_view name, const std::string& text) {
    return Key(name).String(text);
  }
  JsonWriter& Member(std::string_view name, std::int64_t value) { return Key(name).Int(value); }
  JsonWriter& Member(std::string_view name, int value) { return Key(name).Int(value); }
  JsonWriter& Member(std::string_view name, bool value) { return Key(name).Bool(value); }
  JsonWriter& Member(std::string_view name, const Raw& value) { return Key(name).Text(value.text); }

 private:
  void Separate() {
    if (need_comma_) out_ += ',';
    need_comma_ = true;
  }
  JsonWriter& Open(char bracket) {
    Separate();
    out_ += bracket;
    need_comma_ = false;
    return *this;
  }
  JsonWriter& Close(char bracket) {
    out_ += bracket;
    need_comma_ = true;
    return *this;
  }

  std::string& out_;
  bool need_comma_ = false;
};

}  // namespace stet
