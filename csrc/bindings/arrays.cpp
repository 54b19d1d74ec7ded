// Arrays: conversion from and to NumPy, recording, evaluation.
#include "environment.h"
#include "graphs.h"
#include "numpy_array.h"
#include "python_references.h"
#include "text.h"
#include "values.h"

#include <nanobind/stl/pair.h>

#include <algorithm>
#include <array>

#include "module_parts.h"

namespace ferrule::python {
namespace {

// Address and size of the mapping that contains the memory.
using Mapped = std::pair<uintptr_t, uint64_t>;

ArrayPointer array_from_numpy_memory(const Device& device, const NumpyArray& source, fe_dtype dtype,
                                     const std::vector<int64_t>& shape, const std::vector<int64_t>& strides,
                                     bool writable, int copy, Mapped mapped = {}) {
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
  fe_array* out = nullptr;
  check(without_gil_reading_environment_once(device.was_used(),
                                             [&] { return fe_array_from_host(device.get(), &memory, &out); }));
  drain();
  return array_of(out);
}

// An array from a contiguous or strided NumPy array, which is aligned and has native byte order. `copy` and `mapped` as
// in fe_host_memory.
ArrayPointer from_numpy(const Device& device, const NumpyArray& source, bool writable, int copy, Mapped mapped) {
  return array_from_numpy_memory(device, source, dtype_of(source.dtype()), source.shape(), source.strides(), writable,
                                 copy, mapped);
}

// An array of a block dtype from a NumPy uint8 array whose last axis has the bytes of the blocks.
ArrayPointer from_packed(const Device& device, const NumpyArray& source, nb::handle dtype, bool writable, int copy) {
  const fe_dtype id = dtype_of(dtype);
  const fe_dtype_info& info = *fe_dtype_info_get(id);
  std::vector<int64_t> shape = source.shape(), strides = source.strides();
  if (info.dtype_class != FE_CLASS_BLOCK) raise(FE_INVALID_ARGUMENT, std::string(info.name) + " is not a block dtype");
  if (shape.empty() || source.item_size() != 1 || shape.back() % info.block_bytes != 0 ||
      (shape.back() > 1 && strides.back() != 1))
    raise(FE_INVALID_ARGUMENT, std::string("the bytes of ") + info.name + " are whole blocks of " +
                                   std::to_string(info.block_bytes) + ", one after the other");
  shape.back() = shape.back() / info.block_bytes * info.block_elements;
  strides.back() = info.block_bytes;
  return array_from_numpy_memory(device, source, id, shape, strides, writable, copy);
}

// A NumPy uint8 array over memory of fe_host_allocate, which it frees.
NumpyArray host_memory(const nb::object& owner_device, uint64_t size) {
  const Device& device = nb::cast<const Device&>(owner_device);
  struct Block {
    nb::object device;
    void* memory;
  };
  auto made = std::make_unique<Block>(Block{owner_device, nullptr});
  nb::capsule owner(made.get(), [](void* freed) noexcept {
    const std::unique_ptr<Block> mine(static_cast<Block*>(freed));
    fe_error_release(fe_host_free(nb::cast<const Device&>(mine->device).get(), mine->memory));
  });
  Block& block = *made.release();  // owned by the capsule from here on
  check(without_gil_reading_environment_once(device.was_used(),
                                             [&] { return fe_host_allocate(device.get(), size, &block.memory); }));
  const int64_t shape[] = {static_cast<int64_t>(size)};
  return numpy_view(numpy_dtype(fe_dtype_by_name("uint8")), shape, {}, block.memory, true, std::move(owner));
}

// An array over bytes at an address, which `owner` keeps alive.
ArrayPointer from_address(const Device& device, uintptr_t address, uint64_t size, bool writable,
                          const nb::object& owner) {
  fe_array* out = nullptr;
  void* const reference = hold_reference(owner);
  check(without_gil_reading_environment_once(device.was_used(), [&] {
    return fe_buffer_from_host_ptr(device.get(), reinterpret_cast<void*>(address), size,
                                   writable ? FE_ACCESS_READ_WRITE : FE_ACCESS_READ, UINT64_MAX, release_reference,
                                   reference, &out);
  }));
  drain();
  return array_of(out);
}

ArrayPointer cut(Array& array, uint64_t byte_offset, nb::handle dtype, nb::handle sizes) {
  const std::vector<int64_t> shape = shape_of(sizes);
  fe_array* out = nullptr;
  const fe_dtype id = dtype_of(dtype);
  check(without_gil([&] {
    return fe_array_cut(array.get(), byte_offset, id, static_cast<int32_t>(shape.size()), shape.data(), &out);
  }));
  return array_of(out);
}

ArrayPointer full(const Device& device, nb::handle sizes, nb::handle value, nb::handle dtype) {
  const std::vector<int64_t> shape = shape_of(sizes);
  const fe_dtype id = dtype_of(dtype);
  const fe_scalar scalar = scalar_of(value, id);
  fe_array* out = nullptr;
  check(without_gil_reading_environment_once(device.was_used(), [&] {
    return fe_array_full(device.get(), static_cast<int32_t>(shape.size()), shape.data(), id, scalar, &out);
  }));
  return array_of(out);
}

ArrayPointer scalar(const Device& device, nb::handle value, nb::handle dtype) {
  const fe_dtype id = dtype_of(dtype);
  fe_array* out = nullptr;
  check(fe_array_scalar(device.get(), id, scalar_of(value, id), &out));
  return array_of(out);
}

// The operands of an op: arrays and Python numbers.
class Operands {
 public:
  Operands(const char* op, const nb::list& operands) {
    arrays_.reserve(operands.size());
    handles_.reserve(operands.size());
    numbers_.reserve(operands.size());
    for (const nb::handle operand : operands) add(op, operand);
  }
  fe_array* const* handles() const { return handles_.data(); }
  const fe_number* numbers() const { return has_number_ ? numbers_.data() : nullptr; }
  std::size_t size() const { return handles_.size(); }

 private:
  void add(const char* op, nb::handle operand) {
    const fe_number number = number_of(op, operand);
    if (number.kind == FE_NUMBER_NONE) {
      if (!nb::isinstance<ArrayPointer>(operand))
        raise_type_error("apply: an operand is neither an array nor a number");
      arrays_.push_back(nb::borrow<ArrayPointer>(operand));
      handles_.push_back(given(arrays_.back()).get());
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

nb::object number_dtype(const Text& op, nb::handle number, const nb::list& others) {
  const fe_number given = number_of(op.c_str(), number);
  if (given.kind == FE_NUMBER_NONE) raise_type_error("number_dtype: takes a number");
  std::vector<fe_dtype> dtypes;
  dtypes.reserve(others.size());
  for (const nb::handle dtype : others) dtypes.push_back(dtype_of(dtype));
  fe_dtype out = 0;
  check(fe_number_dtype(op.c_str(), &given, dtypes.data(), dtypes.size(), &out));
  return numpy_dtype(out);
}

// Records an op and returns its outputs.
nb::list apply(const Text& op, const nb::list& inputs, const nb::dict& attributes) {
  const Operands operands(op.c_str(), inputs);
  const CallAttributes given(attributes);
  const std::size_t count = std::max<std::size_t>(fe_op_output_count(op.c_str()), 1);  // 0: an unknown op, an error
  std::array<fe_array*, max_outputs> out{};
  check(without_gil([&] {
    return fe_array_apply(op.c_str(), operands.handles(), operands.numbers(), operands.size(), given.data(),
                          given.size(), out.data(), count);
  }));
  nb::list arrays;
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

void eval(const std::vector<ArrayPointer>& arrays) {
  evaluate(arrays);
  drain();
}

void submit_all(const std::vector<ArrayPointer>& arrays) {
  submit(arrays);
  drain();
}

// A read-only view of a computed array's bytes; None if the host cannot access them.
nb::object host_view(const ArrayPointer& self) {
  Array& array = given(self);
  if (!array.is_computed()) raise(FE_INVALID_ARGUMENT, "the array is not computed");
  const fe_array_info info = array.info();
  if (const fe_dtype_info& dtype = *fe_dtype_info_get(info.dtype); dtype.dtype_class == FE_CLASS_BLOCK)
    raise(FE_INVALID_ARGUMENT, std::string("NumPy has no dtype ") + dtype.name +
                                   "; x.astype('float32') has the numbers, ferrule.to_packed(x) the bytes");
  void* pointer = nullptr;
  if (fe_error* const error = fe_array_host_pointer(array.get(), &pointer)) {
    if (fe_error_code(error) != FE_UNSUPPORTED) check(error);
    fe_error_release(error);
    return nb::none();
  }
  const nb::object dtype = numpy_dtype(info.dtype);
  const std::span shape(info.shape, static_cast<std::size_t>(info.rank));
  if (pointer == nullptr || info.nbytes == 0) return new_numpy_array(dtype, shape);
  std::vector<int64_t> strides(info.strides, info.strides + info.rank);
  for (int64_t& stride : strides) stride *= static_cast<int64_t>(fe_dtype_info_get(info.dtype)->block_bytes);
  return numpy_view(dtype, shape, strides, pointer, false, self);
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

}  // namespace

void bind_arrays(nb::module_& module) {
  const nb::object type = module.attr("Array");
  const auto define = [&](const char* name, auto function, auto... arguments) {
    type.attr(name) = nb::cpp_function(function, nb::name(name), nb::scope(type), nb::is_method(), arguments...);
  };
  define("cut", cut, nb::arg("byte_offset"), nb::arg("dtype").none(), nb::arg("shape").none());
  define("to_device", to_device, nb::arg("device"));
  define("alias", alias);
  define("snapshot", snapshot);
  define("read_into", read_into, nb::arg("out"));
  module.def("host_view", &host_view, nb::arg("array").none());
  module.def("from_numpy", &from_numpy, nb::arg("device"), nb::arg("source"), nb::arg("writable"), nb::arg("copy"),
             nb::arg("mapped"));
  module.def("host_memory", &host_memory, nb::arg("device"), nb::arg("size"));
  module.def("from_packed", &from_packed, nb::arg("device"), nb::arg("source"), nb::arg("dtype").none(),
             nb::arg("writable"), nb::arg("copy"));
  module.def("from_address", &from_address, nb::arg("device"), nb::arg("address"), nb::arg("size"), nb::arg("writable"),
             nb::arg("owner").none());
  module.def("full", &full, nb::arg("device"), nb::arg("shape").none(), nb::arg("value").none(),
             nb::arg("dtype").none());
  module.def("scalar", &scalar, nb::arg("device"), nb::arg("value").none(), nb::arg("dtype").none());
  module.def("apply", &apply, nb::arg("op"), nb::arg("inputs"), nb::arg("attributes"));
  module.def("number_dtype", &number_dtype, nb::arg("op"), nb::arg("number").none(), nb::arg("others"));
  module.def("evaluate", &eval, nb::arg("arrays"));
  module.def("submit", &submit_all, nb::arg("arrays"));
}

}  // namespace ferrule::python
