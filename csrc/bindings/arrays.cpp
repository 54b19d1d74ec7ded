// Arrays: conversion from and to NumPy, recording, evaluation.
#include "arrays.h"

#include "array_objects.h"
#include "environment.h"
#include "graphs.h"
#include "module_parts.h"
#include "python_references.h"
#include "text.h"
#include "values.h"

#include <algorithm>
#include <array>
#include <vector>

namespace ferrule::python {
namespace {

// Address and size of the mapping that contains the memory.
using Mapped = std::pair<uintptr_t, uint64_t>;

ArrayPointer array_from_numpy_memory(const Device& device, const NumpyArray& source, fe_dtype dtype,
                                     const std::vector<int64_t>& shape, const std::vector<int64_t>& strides,
                                     bool writable, int copy, Mapped mapped = {},
                                     const char* copied_because = nullptr) {
  fe_host_memory memory{};
  memory.struct_size = sizeof memory;
  memory.pointer = const_cast<void*>(source.data());
  memory.dtype = dtype;
  memory.rank = static_cast<int32_t>(shape.size());
  memory.shape = shape.data();
  memory.strides = strides.data();
  memory.access = writable ? FE_ACCESS_READ_WRITE : FE_ACCESS_READ;
  memory.copy = copy;
  memory.release = release_reference;
  memory.release_argument = hold_reference(source);
  memory.mapped = reinterpret_cast<void*>(mapped.first);
  memory.mapped_size = mapped.second;
  memory.copied_because = copied_because;
  fe_array* out = nullptr;
  drain_and_check(without_gil_reading_environment_once(
      device.was_used(), [&] { return fe_array_from_host(device.get(), &memory, &out); }));
  return array_of(out);
}

// An array from a contiguous or strided NumPy array, which is aligned and has native byte order. `copy`, `mapped` and
// `copied_because` as in fe_host_memory.
ArrayPointer from_numpy(const Device& device, const NumpyArray& source, bool writable, int copy, Mapped mapped,
                        const char* copied_because) {
  return array_from_numpy_memory(device, source, dtype_of(source.dtype()), source.shape(), source.strides(), writable,
                                 copy, mapped, copied_because);
}

// An array of a block dtype from a NumPy uint8 array whose last axis has the bytes of the blocks.
ArrayPointer from_packed(const Device& device, const NumpyArray& source, py::handle dtype, bool writable, int copy) {
  const fe_dtype id = dtype_of(dtype);
  const fe_dtype_info& info = *fe_dtype_info_get(id);
  std::vector<int64_t> shape = source.shape(), strides = source.strides();
  if (info.dtype_class != FE_CLASS_BLOCK) raise(FE_INVALID_ARGUMENT, std::string(info.name) + " is not a block dtype");
  // The strides of arrays without elements are arbitrary; NumPy's are 0.
  const bool is_empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  if (shape.empty() || source.item_size() != 1 || shape.back() % info.block_bytes != 0 ||
      (!is_empty && shape.back() > 1 && strides.back() != 1))
    raise(FE_INVALID_ARGUMENT, std::string("the bytes of ") + info.name + " are whole blocks of " +
                                   std::to_string(info.block_bytes) + ", one after the other");
  shape.back() = shape.back() / info.block_bytes * info.block_elements;
  strides.back() = info.block_bytes;
  return array_from_numpy_memory(device, source, id, shape, strides, writable, copy);
}

// A NumPy uint8 array over memory of fe_host_allocate, which it frees.
NumpyArray host_memory(const py::object& owner_device, uint64_t size) {
  const Device& device = py::cast<const Device&>(owner_device);
  struct Block {
    py::object device;
    void* memory;
  };
  auto made = std::make_unique<Block>(Block{owner_device, nullptr});
  py::capsule owner(made.get(), [](void* freed) noexcept {
    const std::unique_ptr<Block> mine(static_cast<Block*>(freed));
    fe_error_release(fe_host_free(py::cast<const Device&>(mine->device).get(), mine->memory));
  });
  Block& block = *made.release();  // owned by the capsule from here on
  check(without_gil_reading_environment_once(device.was_used(),
                                             [&] { return fe_host_allocate(device.get(), size, &block.memory); }));
  const int64_t shape[] = {static_cast<int64_t>(size)};
  return numpy_view(numpy_dtype(fe_dtype_by_name("uint8")), shape, {}, block.memory, true, std::move(owner));
}

// An array over the bytes of a mapped file, which `owner` keeps mapped.
ArrayPointer from_mapped_file(const Device& device, uintptr_t address, uint64_t size, const py::object& owner) {
  fe_array* out = nullptr;
  void* const reference = hold_reference(owner);
  drain_and_check(without_gil_reading_environment_once(device.was_used(), [&] {
    return fe_buffer_from_host_ptr(device.get(), reinterpret_cast<void*>(address), size, FE_ACCESS_READ_FILE,
                                   UINT64_MAX, release_reference, reference, &out);
  }));
  return array_of(out);
}

ArrayPointer cut(Array& array, uint64_t byte_offset, py::handle dtype, py::handle sizes) {
  const std::vector<int64_t> shape = shape_of(sizes);
  fe_array* out = nullptr;
  const fe_dtype id = dtype_of(dtype);
  check(without_gil([&] {
    return fe_array_cut(array.get(), byte_offset, id, static_cast<int32_t>(shape.size()), shape.data(), &out);
  }));
  return array_of(out);
}

ArrayPointer full(const Device& device, py::handle sizes, py::handle value, py::handle dtype) {
  const std::vector<int64_t> shape = shape_of(sizes);
  const fe_dtype id = dtype_of(dtype);
  const fe_scalar scalar = scalar_of(value, id);
  fe_array* out = nullptr;
  check(without_gil_reading_environment_once(device.was_used(), [&] {
    return fe_array_full(device.get(), static_cast<int32_t>(shape.size()), shape.data(), id, scalar, &out);
  }));
  return array_of(out);
}

ArrayPointer scalar(const Device& device, py::handle value, py::handle dtype) {
  const fe_dtype id = dtype_of(dtype);
  fe_array* out = nullptr;
  check(fe_array_scalar(device.get(), id, scalar_of(value, id), &out));
  return array_of(out);
}

// The operands of an op: arrays and Python numbers.
class Operands {
 public:
  Operands(const char* op, const py::list& operands) {
    arrays_.reserve(operands.size());
    handles_.reserve(operands.size());
    numbers_.reserve(operands.size());
    for (const py::handle operand : operands) add(op, operand);
  }
  fe_array* const* handles() const { return handles_.data(); }
  const fe_number* numbers() const { return has_number_ ? numbers_.data() : nullptr; }
  std::size_t size() const { return handles_.size(); }

 private:
  void add(const char* op, py::handle operand) {
    const fe_number number = number_of(op, operand);
    if (number.kind == FE_NUMBER_NONE) {
      if (!py::isinstance<ArrayPointer>(operand))
        raise_type_error("apply: an operand is neither an array nor a number");
      arrays_.push_back(py::reinterpret_borrow<ArrayPointer>(operand));
      handles_.push_back(require_array(arrays_.back()).get());
    } else {
      has_number_ = true;
      handles_.push_back(nullptr);
    }
    numbers_.push_back(number);
  }

  std::vector<ArrayPointer> arrays_;  // owned, because `x[key] = value` may replace the handle of x
  std::vector<fe_array*> handles_;
  std::vector<fe_number> numbers_;  // of kind FE_NUMBER_NONE for an array
  bool has_number_ = false;
};

py::object number_dtype(const Text& op, py::handle number, const py::list& others) {
  const fe_number given = number_of(op.c_str(), number);
  if (given.kind == FE_NUMBER_NONE) raise_type_error("number_dtype: takes a number");
  std::vector<fe_dtype> dtypes;
  dtypes.reserve(others.size());
  for (const py::handle dtype : others) dtypes.push_back(dtype_of(dtype));
  fe_dtype out = 0;
  check(fe_number_dtype(op.c_str(), &given, dtypes.data(), dtypes.size(), &out));
  return numpy_dtype(out);
}

// Records an op and returns its outputs.
py::list apply(const Text& op, const py::list& inputs, const py::dict& attributes) {
  const Operands operands(op.c_str(), inputs);
  const CallAttributes given(attributes);
  const std::size_t count = std::max<std::size_t>(fe_op_output_count(op.c_str()), 1);  // 0: an unknown op, an error
  std::vector<fe_array*> out(count);
  check(without_gil([&] {
    return fe_array_apply(op.c_str(), operands.handles(), operands.numbers(), operands.size(), given.data(),
                          given.size(), out.data(), count);
  }));
  py::list arrays;
  for (std::size_t i = 0; i < count; ++i) arrays.append(array_of(out[i]));
  return arrays;
}

ArrayPointer to_device(const Array& array, const Device& device) {
  fe_array* out = nullptr;
  check(without_gil_reading_environment_once(device.was_used(),
                                             [&] { return fe_array_to_device(array.get(), device.get(), &out); }));
  return array_of(out);
}

// Another object for the same array; donating one does not donate the other.
ArrayPointer alias(const Array& array) {
  fe_device* device = nullptr;
  check(fe_array_device(array.get(), &device));
  const DeviceHandle keeps_device(device);
  fe_array* out = nullptr;
  check(fe_array_to_device(array.get(), device, &out));
  return array_of(out);
}

ArrayPointer snapshot(const Array& array) {
  fe_array* out = nullptr;
  check(without_gil([&] { return fe_array_snapshot(array.get(), &out); }));
  return array_of(out);
}

ArrayPointer copy(const Array& array) {
  fe_array* out = nullptr;
  check(without_gil([&] { return fe_array_copy(array.get(), &out); }));
  return array_of(out);
}

void submit_all(const std::vector<ArrayPointer>& arrays) {
  submit(arrays);
  drain();
}

// A read-only view of the bytes at `pointer`, which are those of the array.
py::object view_of(const ArrayPointer& self, const fe_array_info& info, void* pointer) {
  const py::object dtype = numpy_dtype(info.dtype);
  const std::span shape(info.shape, static_cast<std::size_t>(info.rank));
  if (pointer == nullptr || info.nbytes == 0) return new_numpy_array(dtype, shape);
  std::array<int64_t, FE_MAX_RANK> strides{};
  for (int32_t axis = 0; axis < info.rank; ++axis)
    strides[static_cast<std::size_t>(axis)] =
        info.strides[axis] * static_cast<int64_t>(fe_dtype_info_get(info.dtype)->block_bytes);
  return numpy_view(dtype, shape, std::span(strides).first(shape.size()), pointer, false, self);
}

// A read-only view of a computed array's bytes; None if the host cannot access them.
py::object host_view(const ArrayPointer& self) {
  Array& array = require_array(self);
  if (!array.is_computed()) raise(FE_INVALID_ARGUMENT, "the array is not computed");
  const fe_array_info info = array.info();
  if (const fe_dtype_info& dtype = *fe_dtype_info_get(info.dtype); dtype.dtype_class == FE_CLASS_BLOCK)
    raise(FE_INVALID_ARGUMENT, std::string("NumPy has no dtype ") + dtype.name +
                                   "; x.astype('float32') has the numbers, ferrule.to_packed(x) the bytes");
  const std::optional<void*> pointer = array.host_pointer();
  return pointer ? view_of(self, info, *pointer) : py::none();
}

// Copies a computed array to a C-contiguous NumPy array of the same size.
void read_into(const Array& array, const NumpyArray& out) {
  fe_error* error = nullptr;
  void* const to = out.mutable_data();
  const auto size = static_cast<uint64_t>(out.byte_size());
  {
    const WithoutGil no_gil;
    error = fe_array_read(array.get(), to, size);
  }
  check(error);
}

// ---- The functions of the everyday path: without pybind11, whose calls cost more than they do.

void require(Py_ssize_t count, Py_ssize_t wanted, const char* message) {
  if (count != wanted) raise_type_error(message);
}

const Device& device_in(PyObject* object, const char* message) {
  py::detail::make_caster<Device> caster;
  if (!caster.load(object, false)) raise_type_error(message);
  return py::detail::cast_op<const Device&>(caster);
}

int integer_in(PyObject* object) {
  const long number = PyLong_AsLong(object);
  if (number == -1 && PyErr_Occurred() != nullptr) raise_python_error();
  return static_cast<int>(number);
}

PyObject* from_numpy_fast(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return call_guarded([&] {
    constexpr const char* message =
        "from_numpy: takes a device, a NumPy array, a bool, an int, a pair of ints, and a str or None";
    require(count, 6, message);
    const Device& device = device_in(arguments[0], message);
    if (!is_numpy_array(arguments[1]) || PyBool_Check(arguments[2]) == 0 || PyTuple_Check(arguments[4]) == 0)
      raise_type_error(message);
    const auto source = py::reinterpret_borrow<NumpyArray>(arguments[1]);
    const Text reason = arguments[5] == Py_None ? Text() : text_of(arguments[5]);
    return from_numpy(device, source, arguments[2] == Py_True, integer_in(arguments[3]),
                      py::cast<Mapped>(py::handle(arguments[4])), arguments[5] == Py_None ? nullptr : reason.c_str());
  });
}

PyObject* host_view_fast(PyObject*, PyObject* array) {
  return call_guarded([&] {
    if (!ArrayPointer::check_(array)) raise_type_error("host_view: takes an array");
    return host_view(py::reinterpret_borrow<ArrayPointer>(array));
  });
}

// host_view for a ferrule.Array; NotImplemented if it is traced, or not computed, or anything is wrong with it.
PyObject* view_plain(PyObject*, PyObject* object) {
  return call_guarded([&]() -> py::object {
    const ArrayPointer array = handle_in(object);
    if (!array || !array->is_computed()) return not_implemented();
    fe_array* const handle = array->get();
    const fe_array_info info = array->info();
    if (fe_is_ready(&handle, 1) != 1 || fe_dtype_info_get(info.dtype)->dtype_class == FE_CLASS_BLOCK)
      return not_implemented();
    void* pointer = nullptr;
    if (fe_error* const error = fe_array_host_pointer(handle, &pointer)) {
      fe_error_release(error);
      return not_implemented();
    }
    return view_of(array, info, pointer);
  });
}

PyObject* evaluate_fast(PyObject*, PyObject* sequence) {
  return call_guarded([&] {
    evaluate(arrays_in(sequence));
    drain();
    return py::none();
  });
}

PyObject* apply_fast(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return call_guarded([&] {
    constexpr const char* message = "apply: takes the name of an op, a list of operands, and a dict of attributes";
    require(count, 3, message);
    if (PyUnicode_Check(arguments[0]) == 0 || PyList_Check(arguments[1]) == 0 || PyDict_Check(arguments[2]) == 0)
      raise_type_error(message);
    return apply(text_of(arguments[0]), py::reinterpret_borrow<py::list>(arguments[1]),
                 py::reinterpret_borrow<py::dict>(arguments[2]));
  });
}

PyObject* scalar_fast(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return call_guarded([&] {
    constexpr const char* message = "scalar: takes a device, a number, and a dtype";
    require(count, 3, message);
    return scalar(device_in(arguments[0], message), arguments[1], arguments[2]);
  });
}

PyMethodDef fast_functions[] = {
    fast_method("from_numpy", from_numpy_fast, "from_numpy(device, source, writable, copy, mapped, copied_because)"),
    {"host_view", host_view_fast, METH_O, "host_view(array)"},
    {"view_plain", view_plain, METH_O, "view_plain(array): the view of a computed array, else NotImplemented"},
    {"evaluate", evaluate_fast, METH_O, "evaluate(arrays)"},
    fast_method("apply", apply_fast, "apply(op, inputs, attributes)"),
    fast_method("scalar", scalar_fast, "scalar(device, value, dtype)"),
};

}  // namespace

ArrayPointer beside(const Array& other, const NumpyArray& source) {
  fe_device* handle = nullptr;
  check(fe_array_device(other.get(), &handle));
  const Device device(handle);
  device.was_used() = true;  // the other array has memory there, or is computed there
  return from_numpy(device, source, source.is_writable(), 2, {}, nullptr);
}

void bind_arrays(py::module_& module) {
  const py::object type = module.attr("Array");
  const auto define = [&](const char* name, auto function, auto... arguments) {
    type.attr(name) = py::cpp_function(function, py::name(name), py::is_method(type), arguments...);
  };
  define("cut", cut, argument("byte_offset"), argument_or_none("dtype"), argument_or_none("shape"));
  define("to_device", to_device, argument("device"));
  define("alias", alias);
  define("snapshot", snapshot);
  define("copy", copy);
  define("read_into", read_into, argument("out"));
  for (PyMethodDef& function : fast_functions) define_function(module, function);
  module.def("host_memory", &host_memory, argument("device"), argument("size"));
  module.def("from_packed", &from_packed, argument("device"), argument("source"), argument_or_none("dtype"),
             argument("writable"), argument("copy"));
  module.def("from_mapped_file", &from_mapped_file, argument("device"), argument("address"), argument("size"),
             argument_or_none("owner"));
  module.def("full", &full, argument("device"), argument_or_none("shape"), argument_or_none("value"),
             argument_or_none("dtype"));
  module.def("default_dtype", [] { return numpy_dtype(fe_default_dtype()); });
  module.def(
      "set_default_dtype",
      [](const py::object& dtype, bool thread) {
        check(fe_set_default_dtype(dtype.is_none() ? fe_dtype{0} : dtype_of(dtype), thread ? 1 : 0));
      },
      argument_or_none("dtype"), argument("thread"));
  module.def("number_dtype", &number_dtype, argument("op"), argument_or_none("number"), argument("others"));
  module.def("submit", &submit_all, argument("arrays"));
}

}  // namespace ferrule::python
