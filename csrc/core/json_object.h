// JSON text that others wrote, read with bounds: what is no JSON, or nests further than anything of ours, is an error.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace ferrule {

// Throws invalid_argument with what is wrong, as a part of a sentence: "it is not JSON: parse error at line 1, ...".
nlohmann::json parse_json(std::string_view text);

// The object in `text`; empty for NULL and "". Throws invalid_argument with the parser's place.
nlohmann::json parse_object(const char* function, const char* text);

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

// JSON that holds text of others, names of files and devices, which may be no UTF-8: what is not is replaced.
template <class Json>
std::string json_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace ferrule
