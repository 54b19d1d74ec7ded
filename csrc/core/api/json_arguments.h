// Arguments that travel as JSON text.
#pragma once

#include "ops/row.h"

#include <nlohmann/json.hpp>

namespace ferrule {

// The object in `text`; empty for NULL and "". Throws invalid_argument with the parser's place.
nlohmann::json parse_object(const char* function, const char* text);
// JSON that holds text of others, names of files and devices, which may be no UTF-8: what is not is replaced.
template <class Json>
std::string json_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}
// The attributes of a call, typed by the op's row.
std::vector<ops::NamedAttribute> parse_attributes(const ops::Row& op, const char* text);

}  // namespace ferrule
