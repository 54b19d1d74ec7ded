// Many texts in a row, such as the vocabulary of a model: each has its length before it.
#include "bound_classes.h"
#include "errors.h"

#include "module_parts.h"

#include <cstdint>
#include <memory>

namespace ferrule::python {
namespace {

// Appends up to `count` texts to `texts`: each a little-endian uint64, its number of bytes, and UTF-8. The first begins
// at byte `place` of `data`. Stops at one that is not whole in `data` or not UTF-8. Returns where the next begins.
std::size_t read_texts(const py::object& data, std::size_t place, std::size_t count, const py::list& texts) {
  Py_buffer view;
  if (PyObject_GetBuffer(data.ptr(), &view, PyBUF_SIMPLE) != 0) raise_python_error();
  const std::unique_ptr<Py_buffer, decltype(&PyBuffer_Release)> release(&view, &PyBuffer_Release);
  const auto* const bytes = static_cast<const char*>(view.buf);
  const auto size = static_cast<std::size_t>(view.len);
  constexpr std::size_t prefix = sizeof(uint64_t);
  for (; count > 0 && place <= size && size - place >= prefix; --count) {
    uint64_t length = 0;
    for (std::size_t i = 0; i < prefix; ++i)
      length |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[place + i])) << 8 * i;
    if (length > size - place - prefix) break;
    PyObject* const text = PyUnicode_DecodeUTF8(bytes + place + prefix, static_cast<Py_ssize_t>(length), "strict");
    if (text == nullptr) {
      if (PyErr_ExceptionMatches(PyExc_UnicodeDecodeError) == 0) raise_python_error();
      PyErr_Clear();
      break;
    }
    const auto owned = py::reinterpret_steal<py::object>(text);
    if (PyList_Append(texts.ptr(), text) != 0) raise_python_error();
    place += prefix + length;
  }
  return place;
}

}  // namespace

void bind_length_prefixed_texts(py::module_& module) {
  module.def("read_texts", &read_texts, argument("data"), argument("place"), argument("count"), argument("texts"));
}

}  // namespace ferrule::python
