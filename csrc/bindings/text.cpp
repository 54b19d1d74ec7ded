#include "text.h"

#include <cstring>

namespace ferrule::python {

PyObject* decoded_or_null(const char* text) noexcept {
  return PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "replace");
}

py::str decoded(const char* text) {
  PyObject* const made = decoded_or_null(text);
  if (made == nullptr) raise_python_error();
  return py::reinterpret_steal<py::str>(made);
}

Text text_of(py::handle value) {
  const char* data = nullptr;
  char* bytes = nullptr;
  Py_ssize_t size = 0;
  if (PyUnicode_Check(value.ptr()) != 0) {
    data = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
    if (data == nullptr) {
      PyErr_Clear();
      raise(FE_INVALID_ARGUMENT, py::cast<std::string>(py::repr(value)) + " cannot be encoded as UTF-8");
    }
  } else {
    if (PyBytes_AsStringAndSize(value.ptr(), &bytes, &size) != 0) raise_python_error();
    data = bytes;
  }
  std::string text(data, static_cast<std::size_t>(size));
  if (text.find('\0') != std::string::npos)
    raise(FE_INVALID_ARGUMENT, py::cast<std::string>(py::repr(value)) + " contains a NUL character");
  return Text(std::move(text));
}

}  // namespace ferrule::python
