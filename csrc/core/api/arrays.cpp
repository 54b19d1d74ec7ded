// Host API: arrays.
#include "core/api/attributes.h"
#include "core/api/handles.h"
#include "core/copy/transfer.h"
#include "core/lazy/elements.h"
#include "core/lazy/from_host.h"
#include "core/lazy/native_memory.h"
#include "core/lazy/queued_releases.h"
#include "ops/record_call.h"
#include "ops/table.h"

#include <array>
#include <cstring>

using namespace ferrule;

namespace {

void give_array(const char* function, fe_array** out, ArrayPointer array) { give(function, out, std::move(array)); }

// All handles, or none if there is no memory for one of them.
void give_arrays(std::vector<ArrayPointer> arrays, fe_array** out) {
  std::array<std::unique_ptr<fe_array>, ops::max_outputs> handles;
  for (std::size_t i = 0; i < arrays.size(); ++i) handles[i] = std::make_unique<fe_array>(std::move(arrays[i]));
  for (std::size_t i = 0; i < arrays.size(); ++i) out[i] = handles[i].release();
}

// The arrays of the handles; null for operands that are numbers.
std::vector<ArrayPointer> pointers(const char* function, fe_array* const* arrays, size_t count,
                                   const std::vector<ops::OperandNumber>& numbers = {}) {
  if (count > 0) given(arrays, function, "arrays");
  std::vector<ArrayPointer> list;
  list.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const bool is_number = !numbers.empty() && numbers[i].number;
    list.push_back(is_number ? nullptr : array_of(arrays[i], function, "an array"));
  }
  return list;
}

// The indices of an element, one for each axis, which are checked.
std::span<const int64_t> indices_within(const Array& array, const char* function, const int64_t* indices) {
  const Shape& shape = array.type().shape;
  if (shape.rank() > 0) given(indices, function, "indices");
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (indices[axis] < 0 || indices[axis] >= shape[axis])
      fail_argument("{}: {} has no element {} along axis {}", function, to_string(array.type()), indices[axis], axis);
  return {indices, static_cast<std::size_t>(shape.rank())};
}

}  // namespace

std::string fe_array::donated_to() const {
  if (!is_donated()) return {};
  const std::scoped_lock lock(mutex_);
  return donated_to_ ? *donated_to_ : "a call";
}

void fe_array::donate(const char* to, const char* how) noexcept {
  const std::scoped_lock lock(mutex_);
  if (is_donated()) return;
  try {
    donated_to_ = std::make_unique<const std::string>(std::string(to) + how);
  } catch (const std::bad_alloc&) {
    donated_to_ = nullptr;
  }
  is_donated_.store(true, std::memory_order_release);
}

namespace ferrule {
const ArrayPointer& array_of(const fe_array* handle, const char* function, const char* what) {
  const fe_array& of = given(handle, function, what);
  if (of.is_donated())
    fail_argument("{}: {} was donated to {}", function, to_string(of.array->type()), of.donated_to());
  return of.array;
}

// Checks the arguments of a call that borrows memory. If another argument is NULL, the memory is released.
fe_host_memory borrowed_memory(const char* call, const fe_device* device, const fe_host_memory* memory,
                               fe_array** out) {
  const fe_host_memory read = read_struct(call, memory, "memory");
  if (device && out) return read;
  const auto owner = owner_of_borrowed_memory(read.release, read.release_argument);
  fail_argument("{}: {} is NULL", call, device ? "out" : "device");
}
}  // namespace ferrule

extern "C" {

fe_error* fe_array_from_host(fe_device* device, const fe_host_memory* memory, fe_array** out) {
  return guarded([&] {
    const fe_host_memory read = borrowed_memory("array_from_host", device, memory, out);
    give_array("array_from_host", out, array_from_host(device->device, read));
  });
}

fe_error* fe_native_device_get(fe_device* device, fe_native_device* out) {
  return guarded([&] {
    Device& of = *given(device, "native_device", "device").device;
    known_size("native_device", out, "out");  // throws
    const NativeDevice is = native_device(of);
    fill_struct("native_device", out, {0, is.type, is.id, native_stream(of)});
  });
}

fe_error* fe_array_native(fe_array* array, int32_t wait, void* stream, fe_native_array* out) {
  return guarded([&] {
    const ArrayPointer& of = array_of(array, "array_native", "array");
    known_size("array_native", out, "out");  // throws
    if (wait < 0 || wait > 2) fail_argument("array_native: wait is 0, 1 or 2, not {}", wait);
    const NativeArray view = native_array(of, static_cast<NativeWait>(wait), stream);
    fill_struct("array_native", out, {0, view.device.type, view.device.id, view.pointer, view.offset});
  });
}

fe_error* fe_array_from_native(fe_device* device, const fe_host_memory* memory, int32_t device_type, int32_t device_id,
                               fe_array** out) {
  return guarded([&] {
    const fe_host_memory read = borrowed_memory("array_from_native", device, memory, out);
    give_array("array_from_native", out, array_from_native(device->device, read, {device_type, device_id}));
  });
}

fe_error* fe_buffer_from_host_ptr(fe_device* device, void* pointer, uint64_t size, fe_access access,
                                  uint64_t max_view_bytes, fe_release_function release, void* release_argument,
                                  fe_array** out) {
  return guarded([&] {
    const auto owner = owner_of_borrowed_memory(release, release_argument);
    given(device, "buffer_from_host_ptr", "device");
    given(out, "buffer_from_host_ptr", "out");
    if (access != FE_ACCESS_READ && access != FE_ACCESS_READ_WRITE && access != FE_ACCESS_READ_FILE)
      fail_argument("buffer_from_host_ptr: access {} is not read, read and write, or read of a file",
                    static_cast<int>(access));
    const uint64_t max_cut = max_view_bytes == 0 ? UINT64_MAX : max_view_bytes;
    const uint64_t max_bound = device->device->properties().max_allocation;
    if (max_cut != UINT64_MAX && max_bound != 0 && std::min(max_cut, size) > max_bound)
      fail(
          FE_UNSUPPORTED,
          "buffer_from_host_ptr: arrays of up to {} bytes are to be cut from the buffer, but {} takes at most {} bytes",
          std::min(max_cut, size), device->device->name(), max_bound);
    ArrayPointer bytes = array_from_region(device->device, pointer, size, access, owner);
    *out = new fe_array(std::move(bytes), max_cut);
  });
}

fe_error* fe_array_cut(fe_array* array, uint64_t byte_offset, fe_dtype dtype, int32_t rank, const int64_t* shape,
                       fe_array** out) {
  return guarded([&] {
    const ArrayPointer& from = array_of(array, "array_cut", "array");
    given(out, "array_cut", "out");
    const TensorType type{dtype_from("array_cut", dtype), shape_from("array_cut", rank, shape)};
    const auto limit = [&, needed = static_cast<uint64_t>(byte_count(type))](uint64_t most, const std::string& whose) {
      if (needed > most)
        fail_argument("array_cut: {} has {} bytes, more than the {} that {}", to_string(type), needed, most, whose);
    };
    limit(array->max_cut_bytes, "may be cut from the buffer (its max_view_bytes)");
    if (const uint64_t most = from->device()->properties().max_allocation)
      limit(most, from->device()->name() + " takes at most");
    *out = new fe_array(cut_from(from, byte_offset, type), array->max_cut_bytes);
  });
}

fe_error* fe_array_full(fe_device* device, int32_t rank, const int64_t* shape, fe_dtype dtype, fe_scalar value,
                        fe_array** out) {
  return guarded([&] {
    given(device, "array_full", "device");
    const Shape sizes = shape_from("array_full", rank, shape);
    ArrayPointer scalar = Array::scalar(dtype_from("array_full", dtype), device->device, value);
    element_count(sizes);
    if (sizes.empty()) return give_array("array_full", out, std::move(scalar));
    give_array("array_full", out,
               Array::record(ops::op_named("broadcast_to"), {std::move(scalar)}, {},
                             {{"shape", std::vector<int64_t>(sizes.begin(), sizes.end())}}));
  });
}

void fe_array_retain(fe_array* array) {
  if (array) ++array->references;
}
void fe_array_release(fe_array* array) {
  if (array && --array->references == 0) delete array;
}

fe_error* fe_array_info_get(const fe_array* array, fe_array_info* out) {
  return guarded([&] {
    const Array& of = *given(array, "array_info", "array").array;
    const bool is_computed = of.state() == Array::State::computed && !of.is_donated();
    fe_array_info info = info_of(of.type(), is_computed ? of.strides() : contiguous_strides(of.type().shape));
    info.identity = reinterpret_cast<uintptr_t>(&of);
    info.computed = is_computed;
    info.writable = is_computed && of.is_writable();
    fill_struct("array_info", out, info);
  });
}

fe_error* fe_array_device(const fe_array* array, fe_device** out) {
  return guarded([&] {
    const auto& device = given(array, "array_device", "array").array->device();
    give("array_device", out, device);
  });
}

fe_error* fe_array_placement(const fe_array* array, fe_string** out) {
  return guarded([&] {
    const std::string to = given(array, "array_placement", "array").donated_to();
    give_text("array_placement", out, to.empty() ? array->array->placement() : "donated to " + to);
  });
}

fe_error* fe_number_dtype(const char* op, const fe_number* number, const fe_dtype* others, size_t count,
                          fe_dtype* out) {
  return guarded([&] {
    const char* const name = &given(op, "number_dtype", "op");
    const std::optional<ops::Number> of = number_of(name, given(number, "number_dtype", "number"));
    if (!of) fail_argument("number_dtype: number has no value");
    if (count > 0) given(others, "number_dtype", "others");
    std::vector<DType> dtypes;
    dtypes.reserve(count);
    for (size_t i = 0; i < count; ++i) dtypes.push_back(dtype_from("number_dtype", others[i]));
    const ops::Row* const row = ops::find_op(name);
    const DType dtype = row ? ops::dtype_of_number(*row, 0, *of, dtypes)  // all inputs are alike
                            : ops::dtype_of_number(name, *of, dtypes);
    given(out, "number_dtype", "out") = static_cast<fe_dtype>(dtype);
  });
}

fe_error* fe_set_default_dtype(fe_dtype dtype, int this_thread) {
  return guarded([&] {
    const bool is_none = this_thread != 0 && dtype == 0;
    const DType wanted = is_none ? DType::none : dtype_from("set_default_dtype", dtype);
    if (!is_none && wanted != DType::float32 && wanted != DType::float64)
      fail_argument("set_default_dtype: takes float32 or float64, not {}", ferrule::name_of(wanted));
    this_thread != 0 ? ops::set_default_dtype_of_thread(wanted) : ops::set_default_dtype(wanted);
  });
}

fe_dtype fe_default_dtype(void) { return static_cast<fe_dtype>(ops::default_dtype()); }

fe_error* fe_array_apply(const char* op, fe_array* const* inputs, const fe_number* numbers, size_t count,
                         const fe_attribute* attributes, size_t attribute_count, fe_array** outputs,
                         size_t output_count) {
  return guarded([&] {
    const ops::Row& row = ops::op_named(&given(op, "array_apply", "op"));
    check_outputs(row, outputs, output_count);
    const std::vector<ops::OperandNumber> marks = numbers_of(row, numbers, count);
    give_arrays(Array::record_call(row, pointers(row.name, inputs, count, marks), marks,
                                   attributes_of(row, attributes, attribute_count)),
                outputs);
  });
}

fe_error* fe_scalar_from(fe_dtype dtype, double value, fe_scalar* out) {
  return guarded([&] { given(out, "scalar_from", "out") = scalar_of(value, dtype_from("scalar_from", dtype)); });
}

fe_error* fe_array_scalar(fe_device* device, fe_dtype dtype, fe_scalar value, fe_array** out) {
  return guarded([&] {
    given(device, "array_scalar", "device");
    give_array("array_scalar", out, Array::scalar(dtype_from("array_scalar", dtype), device->device, value));
  });
}

fe_error* fe_array_element(const fe_array* array, const int64_t* indices, fe_array** out) {
  return guarded([&] {
    const ArrayPointer& of = array_of(array, "array_element", "array");
    given(out, "array_element", "out") = nullptr;
    if (ArrayPointer element = element_of(*of, indices_within(*of, "array_element", indices)))
      give_array("array_element", out, std::move(element));
  });
}

fe_error* fe_array_number(const fe_array* array, fe_scalar* out, int* is_known) {
  return guarded([&] {
    const ArrayPointer& of = array_of(array, "array_number", "array");
    given(out, "array_number", "out");
    given(is_known, "array_number", "is_known") = 0;
    if (element_count(of->type().shape) != 1)
      fail_argument("array_number: {} has not one element", to_string(of->type()));
    const std::optional<fe_scalar> number = number_of(*of);
    if (!number) return;
    *out = *number;
    *is_known = 1;
  });
}

fe_error* fe_array_with_element(fe_array* array, const int64_t* indices, fe_scalar value, fe_array** out) {
  return guarded([&] {
    const ArrayPointer& of = array_of(array, "array_with_element", "array");
    given(out, "array_with_element", "out") = nullptr;
    const std::span<const int64_t> at = indices_within(*of, "array_with_element", indices);
    if (array->references != 1) return;
    if (ArrayPointer changed = with_element(of, at, value)) give_array("array_with_element", out, std::move(changed));
  });
}

fe_error* fe_array_to_device(fe_array* array, fe_device* device, fe_array** out) {
  return guarded([&] {
    given(array, "to_device", "array");
    given(out, "to_device", "out");
    const ArrayPointer& here = array_of(array, "to_device", "array");
    ArrayPointer there = to_device(here, given(device, "to_device", "device").device);
    const uint64_t max_cut = there == here ? array->max_cut_bytes : UINT64_MAX;
    *out = new fe_array(std::move(there), max_cut);
  });
}

fe_error* fe_array_snapshot(fe_array* array, fe_array** out) {
  return guarded([&] {
    const ArrayPointer& of = array_of(array, "array_snapshot", "array");
    give_array("array_snapshot", out, snapshot(of));
  });
}

fe_error* fe_array_copy(fe_array* array, fe_array** out) {
  return guarded([&] {
    const ArrayPointer& of = array_of(array, "array_copy", "array");
    give_array("array_copy", out, copy_of(of));
  });
}

fe_error* fe_set_cancel(fe_cancel_function cancel, void* argument) {
  return guarded([&] { Cancel::set_for_process({cancel, argument}); });
}

fe_error* fe_submit(fe_array* const* arrays, size_t count, fe_cancel_function cancel, void* argument) {
  return guarded([&] {
    if (count > 0) given(arrays, "eval", "arrays");
    std::vector<ArrayPointer> pending;
    for (size_t i = 0; i < count; ++i) {
      const ArrayPointer& array = array_of(arrays[i], "eval", "an array");  // throws if it was donated
      if (array->state() != Array::State::computed) pending.push_back(array);
    }
    if (!pending.empty()) evaluate(pending, {.cancel = {cancel, argument}});
  });
}

fe_error* fe_eval(fe_array* const* arrays, size_t count, fe_cancel_function cancel, void* argument) {
  if (fe_error* const error = fe_submit(arrays, count, cancel, argument)) return error;
  return guarded([&] {
    for (size_t i = 0; i < count; ++i) {
      const StridedStorage view = array_of(arrays[i], "eval", "an array")->strided_array().data;
      if (view.storage) view.storage->finish_write({cancel, argument});
    }
  });
}

int fe_is_ready(fe_array* const* arrays, size_t count) {
  int answer = 1;
  for (size_t i = 0; i < count; ++i) {
    const fe_array* const handle = arrays ? arrays[i] : nullptr;
    if (!handle || handle->is_donated() || handle->array->state() != Array::State::computed) return 0;
    const std::optional<StridedArray> view = handle->array->strided_array_unless_donated();
    if (!view) return 0;
    if (const Storage* const storage = view->data.storage.get(); storage && storage->has_uses())
      if (const WorkPointer write = storage->last_write()) {
        if (!write->is_over()) return 0;
        if (write->has_failed()) answer = -1;
      }
  }
  return answer;
}

fe_error* fe_array_host_pointer(const fe_array* array, void** out) {
  return guarded([&] {
    const ArrayPointer& pointer = array_of(array, "host_pointer", "array");
    Array& of = *pointer;
    given(out, "host_pointer", "out") = nullptr;
    if (of.state() != Array::State::computed)
      fail_argument("host_pointer: {} is not computed yet", to_string(of.type()));
    of.is_exposed_to_host = true;
    const StridedStorage view = of.strided_array().data;
    if (!view.storage) return;
    view.storage->device()->open();  // throws if it is lost or belongs to the parent process
    view.storage->finish_write();
    void* const base = view.storage->host_pointer();
    if (!base)
      fail(FE_UNSUPPORTED, "host_pointer: {} lies on {}, which the host cannot reach", to_string(of.type()),
           of.device()->name());
    *out = static_cast<std::byte*>(base) + bytes_of(of.type().dtype, view.offset);
  });
}

fe_error* fe_array_read(fe_array* array, void* to, uint64_t size) {
  return guarded([&] {
    const ArrayPointer& from = array_of(array, "array_read", "array");
    if (size > 0) given(static_cast<std::byte*>(to), "array_read", "to");
    const ArrayPointer list[] = {from};
    evaluate(list);
    read_to_host(from->strided_array(), to, size);
  });
}
}
