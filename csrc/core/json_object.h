// JSON text that others wrote, read with bounds: what is no JSON, or nests further than anything of ours, is an error.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace ferrule {

// A value that was read. nlohmann's destructor takes memory for the children of an array or an object, and ends the
// process if there is none; this one takes the children away first, and needs none. Copies of a part of the value that
// has children, and values that are built of lists in braces, have nlohmann's destructor: there are none in the core.
class JsonDocument {
 public:
  JsonDocument() = default;
  JsonDocument(JsonDocument&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  JsonDocument& operator=(JsonDocument&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;
  ~JsonDocument();

  nlohmann::json& operator*() { return value_; }
  const nlohmann::json& operator*() const { return value_; }
  const nlohmann::json* operator->() const { return &value_; }

 private:
  nlohmann::json value_;
};

// Throws invalid_argument with what is wrong, as a part of a sentence: "it is not JSON: parse error at line 1, ...".
JsonDocument parse_json(std::string_view text);

// The object in `text`; empty for NULL and "". Throws invalid_argument with the parser's place.
JsonDocument parse_object(const char* function, const char* text);

// A value as it stands in a message: of a long one the beginning.
std::string shown(const nlohmann::json& value);

// The whole number in `value`; nothing when it is none, or does not fit. JSON's own conversion takes 1e308 for an int.
template <class Integer>
std::optional<Integer> whole_number(const nlohmann::json& value) {
  if (value.is_number_unsigned()) {
    if (const auto number = value.get<uint64_t>(); std::in_range<Integer>(number)) return static_cast<Integer>(number);
  } else if (value.is_number_integer()) {
    if (const auto number = value.get<int64_t>(); std::in_range<Integer>(number)) return static_cast<Integer>(number);
  }
  return std::nullopt;
}

}  // namespace ferrule
