#include "closed_over.h"

#include <string>

namespace ferrule::python {
namespace {

// The object that is now in a place; null without an exception if there is none.
py::object value_in(PyObject* place, PyObject* name) {
  PyObject* value = nullptr;
  if (PyDict_Check(place)) {
    value = PyDict_GetItemWithError(place, name);
    Py_XINCREF(value);
  } else if (PyList_Check(place) || PyTuple_Check(place)) {
    value = PyObject_GetItem(place, name);
  } else {
    value = PyObject_GetAttr(place, name);
  }
  PyErr_Clear();
  return py::reinterpret_steal<py::object>(value);
}

bool is_unchanged(PyObject* read) {
  static PyObject* const handle_name = PyUnicode_InternFromString("_handle");
  PyObject *const place = PyTuple_GetItem(read, 0), *const name = PyTuple_GetItem(read, 1);
  PyObject *const before = PyTuple_GetItem(read, 2), *const known = PyTuple_GetItem(read, 3);
  if (name == Py_None) return PyObject_Size(place) == PyLong_AsSsize_t(before);
  if (value_in(place, name).ptr() != before) return false;
  if (known == Py_None || PyTuple_Check(known)) return true;  // an object, or a number or text
  if (PyBytes_Check(known))
    return is_numpy_array(before) && sample_of(py::reinterpret_borrow<NumpyArray>(before)).equal(py::handle(known));
  return value_in(before, handle_name).ptr() == known;
}

}  // namespace

bool reads_are_unchanged(PyObject* traced) {
  static PyObject* const attribute = PyUnicode_InternFromString("_watched");
  const auto watched = py::reinterpret_steal<py::object>(PyObject_GetAttr(traced, attribute));
  if (!watched) throw py::error_already_set();
  if (watched.is_none()) return true;
  for (Py_ssize_t i = 0; i < PyTuple_Size(watched.ptr()); ++i)
    if (!is_unchanged(PyTuple_GetItem(watched.ptr(), i))) return false;
  return true;
}

py::bytes sample_of(const NumpyArray& array) {
  constexpr int64_t most = 256;  // elements
  const std::vector<int64_t> shape = array.shape(), strides = array.strides();
  const auto item_size = static_cast<std::size_t>(array.item_size());
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  const int64_t step = count <= most ? 1 : count / (most / 2);
  std::string sample;
  for (int64_t place = 0; place < count; place += step) {
    const auto* element = static_cast<const char*>(array.data());
    int64_t left = place;
    for (std::size_t axis = shape.size(); axis-- > 0; left /= shape[axis])
      element += left % shape[axis] * strides[axis];
    sample.append(element, item_size);
  }
  return {sample.data(), sample.size()};
}

}  // namespace ferrule::python
