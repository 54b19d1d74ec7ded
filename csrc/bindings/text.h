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
Text text_of(py::handle value);

}  // namespace ferrule::python

template <>
struct pybind11::detail::type_caster<ferrule::python::Text> {
  PYBIND11_TYPE_CASTER(ferrule::python::Text, const_name("str"));
  bool load(handle source, bool) {
    if (PyUnicode_Check(source.ptr()) == 0 && PyBytes_Check(source.ptr()) == 0) return false;
    value = ferrule::python::text_of(source);
    return true;
  }
};
