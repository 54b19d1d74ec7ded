// Python text for the C API, whose strings end at the first NUL.
#pragma once

#include "errors.h"

#include <string>
#include <utility>

namespace ferrule::python {

// A str as UTF-8, or unchanged bytes (file names). It contains no NUL, after which the rest would be ignored.
class Text {
 public:
  Text() = default;
  explicit Text(std::string text) : text_(std::move(text)) {}
  const char* c_str() const noexcept { return text_.c_str(); }
  const std::string& string() const noexcept { return text_; }

 private:
  std::string text_;
};

// Raises invalid_argument for a NUL and for a str that cannot be encoded as UTF-8; TypeError for other types.
Text text_of(nb::handle value);

}  // namespace ferrule::python

// Refuses other types than str and bytes at once; the text is read when the function is called, which may raise.
template <>
struct nanobind::detail::type_caster<ferrule::python::Text> {
  static constexpr auto Name = const_name("str");
  template <class T>
  using Cast = ferrule::python::Text;
  template <class T>
  static constexpr bool can_cast() {
    return true;
  }
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    source_ = source;
    return PyUnicode_Check(source.ptr()) != 0 || PyBytes_Check(source.ptr()) != 0;
  }
  explicit operator ferrule::python::Text() { return ferrule::python::text_of(source_); }

 private:
  handle source_;
};
