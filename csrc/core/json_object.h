// Parses untrusted JSON text. Invalid JSON, duplicate keys and deep nesting are errors.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace ferrule {

// A parsed value. nlohmann's destructor allocates memory for the children of an array or object, and terminates the
// process if there is none; this destructor removes the children first and allocates nothing. Do not copy parts of the
// value that have children, or build values from braced lists: these have nlohmann's destructor.
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

// Throws invalid_argument; the message is part of a sentence: "it is not JSON: parse error at line 1, ...".
JsonDocument parse_json(std::string_view text);

// A value as text for a message. A long value is truncated.
std::string shown(const nlohmann::json& value);

// The whole number in `value`; nullopt when it is not one or does not fit. nlohmann's own conversion accepts 1e308 for
// an int.
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
