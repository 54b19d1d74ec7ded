#include "core/json_object.h"

#include "ops/error.h"

#include <algorithm>
#include <set>
#include <vector>

namespace ferrule {
namespace {

using nlohmann::json;

// Nothing of ours nests further; printing a value in a message takes a stack frame for each level.
constexpr int deepest = 16;
constexpr std::size_t longest_shown = 200;  // bytes

std::string beginning_of(std::string text) {
  if (text.size() <= longest_shown) return text;
  // Not within a character of several bytes.
  std::size_t end = longest_shown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

}  // namespace

json parse_json(std::string_view text) {
  try {
    using Event = json::parse_event_t;
    std::vector<std::set<std::string>> keys;  // of each object that is open
    return json::parse(text, [&](int depth, Event event, const json& value) {
      if (depth > deepest) fail_argument("its JSON nests deeper than {} levels", deepest);
      if (event == Event::object_start) keys.emplace_back();
      if (event == Event::object_end) keys.pop_back();
      // Of a key that stands there twice, two readers may see two values.
      if (event == Event::key && !keys.back().insert(value.get<std::string>()).second)
        fail_argument("its JSON has the key {} twice in one object", shown(value));
      return true;
    });
  } catch (const json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, ...": the first word is for nobody who reads this. It
    // ends with all that the parser had read of a value, each blank written out.
    const std::string message = error.what();
    fail_argument("it is not JSON: {}", beginning_of(message.substr(std::min(message.find("] ") + 2, message.size()))));
  }
}

json parse_object(const char* function, const char* text) {
  if (text == nullptr || *text == '\0') return json::object();
  json parsed;
  try {
    parsed = parse_json(text);
  } catch (const Error& error) {
    fail_argument("{}: {}", function, error.what());
  }
  if (!parsed.is_object()) fail_argument("{}: its JSON is no object: {}", function, shown(parsed));
  return parsed;
}

std::string shown(const json& value) { return beginning_of(json_text(value)); }

}  // namespace ferrule
