#include "core/json_object.h"

#include "base/error.h"

#include <algorithm>
#include <vector>

namespace ferrule {
namespace {

using nlohmann::json;

// Valid files nest less deeply. The limit matters because printing and destroying a value take a stack
// frame for each level.
constexpr std::size_t deepest = 16;
constexpr std::size_t longest_shown = 200;  // bytes

std::string beginning_of(std::string text) {
  if (text.size() <= longest_shown) return text;
  // Do not cut inside a character of several bytes.
  std::size_t end = longest_shown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

// Removes all children, because nlohmann's destructor of a container with children allocates memory.
void clear_children(json& value) noexcept {
  if (!value.is_structured()) return;
  for (json& child : value) clear_children(child);
  value.clear();
}

// Builds the value in its final place. nlohmann's own builder destroys its partial value when out of memory, and that
// destructor allocates.
class Reader {
 public:
  explicit Reader(json& root) : root_(root) {}

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(json::number_integer_t value) { return add(value); }
  bool number_unsigned(json::number_unsigned_t value) { return add(value); }
  bool number_float(json::number_float_t value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(json::binary_t&) { return false; }  // JSON has none
  bool start_object(std::size_t) { return open(json::value_t::object); }
  bool start_array(std::size_t) { return open(json::value_t::array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    check_depth();
    json& object = *open_.back();
    // Readers of JSON disagree about which value of a duplicate key counts.
    if (object.contains(name)) fail_argument("its JSON has the key {} twice in one object", shown(name));
    member_ = &object[name];
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const json::exception& error) {
    // The message is "[json.exception.parse_error.101] parse error at line 1, ...". The first word is removed. The end
    // quotes all that was read of a value, which may be long.
    const std::string message = error.what();
    fail_argument("it is not JSON: {}", beginning_of(message.substr(std::min(message.find("] ") + 2, message.size()))));
  }

 private:
  void check_depth() const {
    if (open_.size() > deepest) fail_argument("its JSON nests deeper than {} levels", deepest);
  }
  // The place of the next value. Only the innermost container grows, so the others stay where they are.
  json& place() {
    check_depth();
    if (open_.empty()) return root_;
    if (open_.back()->is_array()) return open_.back()->emplace_back(nullptr);
    return *member_;
  }
  template <class Value>
  bool add(Value value) {
    place() = json(std::move(value));
    return true;
  }
  bool open(json::value_t type) {
    json& container = place();
    container = json(type);
    open_.push_back(&container);
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  json& root_;
  std::vector<json*> open_;
  json* member_ = nullptr;
};

}  // namespace

JsonDocument::~JsonDocument() { clear_children(value_); }

JsonDocument parse_json(std::string_view text) {
  JsonDocument document;
  Reader reader(*document);
  json::sax_parse(text, &reader);
  return document;
}

std::string shown(const json& value) {
  return beginning_of(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace ferrule
