// Writes JSON text from start to end.
//
// nlohmann's arrays and objects allocate memory when they are destroyed, and terminate the process if that fails. So
// its values are only used here for single strings and numbers, which do not.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>

namespace ferrule {

class JsonText {
 public:
  JsonText& begin_object() { return begin('{'); }
  JsonText& end_object() { return end('}'); }
  JsonText& begin_array() { return begin('['); }
  JsonText& end_array() { return end(']'); }

  // Writes the name of a member of the innermost open object. The next call writes its value.
  JsonText& key(std::string_view name) {
    value(name);
    text_ += ':';
    needs_comma_ = false;
    return *this;
  }

  // Writes a string, number or bool; null for nullptr or an empty optional; or a range of values. Invalid UTF-8 in a
  // string is replaced, because names of files and devices may contain any bytes.
  template <class Value>
  JsonText& value(const Value& value) {
    if constexpr (std::is_same_v<Value, std::nullptr_t>) {
      return scalar(nullptr);
    } else if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
      return scalar(std::string(std::string_view(value)));
    } else if constexpr (std::ranges::range<const Value>) {
      begin_array();
      for (const auto& item : value) this->value(item);
      return end_array();
    } else {
      return scalar(value);
    }
  }
  template <class Value>
  JsonText& value(const std::optional<Value>& maybe) {
    return maybe ? value(*maybe) : value(nullptr);
  }

  template <class Value>
  JsonText& member(std::string_view name, const Value& of) {
    return key(name).value(of);
  }

  std::string take() { return std::move(text_); }

 private:
  JsonText& begin(char bracket) {
    separate();
    text_ += bracket;
    needs_comma_ = false;
    return *this;
  }
  JsonText& end(char bracket) {
    text_ += bracket;
    needs_comma_ = true;
    return *this;
  }
  template <class Scalar>
  JsonText& scalar(Scalar value) {
    separate();
    text_ += nlohmann::json(std::move(value)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    needs_comma_ = true;
    return *this;
  }
  void separate() {
    if (needs_comma_) text_ += ',';
  }

  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace ferrule
