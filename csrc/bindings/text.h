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

// The text of the C API as a str. Invalid UTF-8 is replaced, because names of files and devices may contain any bytes.
py::str decoded(const char* text);
// The same, or null after a Python error.
PyObject* decoded_or_null(const char* text) noexcept;

// Raises invalid_argument for a NUL and for a str that cannot be encoded as UTF-8; TypeError for other types.
Text text_of(py::handle value);

}  // namespace ferrule::python

// Refuses other types than str and bytes at once; the text is read when the function is called, which may raise.
template <>
class pybind11::detail::type_caster<ferrule::python::Text> {
 public:
  static constexpr auto name = const_name("str | bytes");
  template <class>
  using cast_op_type = ferrule::python::Text;
  bool load(handle source, bool) noexcept {
    source_ = source;
    return PyUnicode_Check(source.ptr()) != 0 || PyBytes_Check(source.ptr()) != 0;
  }
  explicit operator ferrule::python::Text() { return ferrule::python::text_of(source_); }

 private:
  handle source_;
};
