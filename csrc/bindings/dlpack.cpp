// DLPack export and import. Exports are read-only; a consumer whose version has no flag for that gets a copy.
#include "dlpack.h"

#include "array_handle.h"
#include "dtype_table.h"
#include "environment.h"
#include "python_references.h"
#include "values.h"

#include "module_parts.h"

#if defined(_WIN32)
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#endif

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace ferrule::python {
namespace {

constexpr const char* versioned_name = "dltensor_versioned";
constexpr const char* unversioned_name = "dltensor";
constexpr uint64_t largest_offset = uint64_t{1} << 48;  // no memory is larger

// The DLPack type of a dtype; nullopt for a dtype that DLPack does not have.
std::optional<dlpack::DataType> type_of(const fe_dtype_info& dtype) {
  const int code = dlpack_code_of(dtype.name);
  if (code < 0) return std::nullopt;
  return dlpack::DataType{static_cast<uint8_t>(code), static_cast<uint8_t>(8 * dtype.block_bytes), 1};
}

dlpack::DataType type_of(fe_dtype dtype) {
  const fe_dtype_info& info = *fe_dtype_info_get(dtype);
  const std::optional<dlpack::DataType> type = type_of(info);
  if (!type) {
    PyErr_SetString(PyExc_BufferError, (std::string("DLPack has no type for ") + info.name).c_str());
    raise_python_error();
  }
  return *type;
}

fe_dtype dlpack_dtype_of(dlpack::DataType type) {
  for (fe_dtype dtype = 1; const fe_dtype_info* const info = fe_dtype_info_get(dtype); ++dtype)
    if (const auto own = type_of(*info);
        own && own->code == type.code && own->bits == type.bits && own->lanes == type.lanes)
      return dtype;
  raise(FE_INVALID_ARGUMENT, "from_dlpack: a dtype of code " + std::to_string(type.code) + ", " +
                                 std::to_string(type.bits) + " bits and " + std::to_string(type.lanes) +
                                 " lanes is not supported");
}

// The owner of an exported tensor: the array, or a copy of its bytes.
struct Export {
  Export() = default;
  Export(const Export&) = delete;
  Export& operator=(const Export&) = delete;
  ~Export() {
    if (array != nullptr && !is_finalizing()) fe_array_release(array);
  }
  fe_array* array = nullptr;
  std::vector<char> copy;
  std::vector<int64_t> shape, strides;
};

void end_export(void* context) { delete static_cast<Export*>(context); }

// The deleter of an exported tensor. Any thread may call it, without the GIL.
template <class Managed>
void delete_managed(Managed* managed) {
  end_export(managed->context);
  delete managed;
}

template <class Managed>
void delete_unused(PyObject* capsule, const char* name) {
  if (PyCapsule_IsValid(capsule, name) == 0) return;  // a consumer has taken and renamed it
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

template <class Managed>
Managed* make_managed(const dlpack::Tensor& tensor, std::unique_ptr<Export> context) {
  auto* const result = new Managed{};
  result->tensor = tensor;
  result->context = context.release();
  result->deleter = delete_managed<Managed>;
  return result;
}

// The capsule of a tensor, which owns `context`. `is_own`: the consumer has the memory to itself.
py::object capsule_of(dlpack::Tensor& tensor, std::unique_ptr<Export> context, bool versioned, bool is_own) {
  tensor.shape = context->shape.data();
  tensor.strides = context->strides.data();
  PyObject* capsule = nullptr;
  if (versioned) {
    auto* const result = make_managed<dlpack::ManagedTensorVersioned>(tensor, std::move(context));
    result->version = {dlpack::major_version, dlpack::minor_version};
    result->flags = is_own ? dlpack::flag_is_copied : dlpack::flag_read_only;
    capsule = PyCapsule_New(result, versioned_name, [](PyObject* object) {
      delete_unused<dlpack::ManagedTensorVersioned>(object, versioned_name);
    });
  } else {
    capsule = PyCapsule_New(make_managed<dlpack::ManagedTensor>(tensor, std::move(context)), unversioned_name,
                            [](PyObject* object) { delete_unused<dlpack::ManagedTensor>(object, unversioned_name); });
  }
  if (capsule == nullptr) raise_python_error();
  return py::reinterpret_steal<py::object>(capsule);
}

// Exports a computed array of a host device. A copy is C-contiguous and belongs to the consumer.
py::object to_dlpack(Array& array, bool versioned, bool copy) {
  if (!array.is_computed()) raise(FE_INVALID_ARGUMENT, "the array is not computed");
  const fe_array_info info = array.info();
  auto context = std::make_unique<Export>();
  context->shape.assign(info.shape, info.shape + info.rank);
  dlpack::Tensor tensor{nullptr, {dlpack::device_cpu, 0}, info.rank, type_of(info.dtype), nullptr, nullptr, 0};
  if (copy) {
    context->copy.resize(static_cast<std::size_t>(info.nbytes) + 1);
    const auto size = static_cast<uint64_t>(info.nbytes);
    if (size > 0) check(without_gil([&] { return fe_array_read(array.get(), context->copy.data(), size); }));
    tensor.data = context->copy.data();
    context->strides.resize(context->shape.size());
    int64_t stride = 1;
    for (std::size_t axis = context->shape.size(); axis-- > 0; stride *= context->shape[axis])
      context->strides[axis] = stride;
  } else {
    check(without_gil([&] { return fe_array_host_pointer(array.get(), &tensor.data); }));
    context->strides.assign(info.strides, info.strides + info.rank);
    fe_array_retain(array.get());
    context->array = array.get();
  }
  return capsule_of(tensor, std::move(context), versioned, copy);
}

// Exports the array's device memory. `wait` as in fe_array_native. `is_own`: the consumer has the array to itself.
py::object to_native_dlpack(Array& array, bool versioned, bool is_own, int wait, uintptr_t stream) {
  fe_native_array native{};
  native.struct_size = sizeof native;
  check(without_gil([&] { return fe_array_native(array.get(), wait, reinterpret_cast<void*>(stream), &native); }));
  const fe_array_info info = array.info();
  auto context = std::make_unique<Export>();
  context->shape.assign(info.shape, info.shape + info.rank);
  context->strides.assign(info.strides, info.strides + info.rank);
  fe_array_retain(array.get());
  context->array = array.get();
  dlpack::Tensor tensor{
      native.pointer,    {native.device_type, native.device_id}, info.rank, type_of(info.dtype), nullptr, nullptr,
      native.byte_offset};
  return capsule_of(tensor, std::move(context), versioned, is_own);
}

// (DLPack device type, device id, stream or 0); None if the device's memory cannot be shared.
py::object native_device(const Device& device) {
  fe_native_device native{};
  native.struct_size = sizeof native;
  fe_error* const error = without_gil_reading_environment_once(
      device.was_used(), [&] { return fe_native_device_get(device.get(), &native); });
  if (error != nullptr && fe_error_code(error) == FE_UNSUPPORTED) {
    fe_error_release(error);
    return py::none();
  }
  check(error);
  return py::make_tuple(native.device_type, native.device_id, reinterpret_cast<uintptr_t>(native.stream));
}

template <class Managed>
void return_to_producer(void* argument) {
  auto* const managed = static_cast<Managed*>(argument);
  if (managed->deleter != nullptr) managed->deleter(managed);
}
template <class Managed>
void end_import(void* argument) {
  with_gil_later(return_to_producer<Managed>, argument);  // the producer's deleter may need the GIL
}

[[noreturn]] void refuse_capsule(const std::string& problem) { raise(FE_INVALID_ARGUMENT, "from_dlpack: " + problem); }

std::string shown_place(dlpack::Device device) {
  return "(" + std::to_string(device.type) + ", " + std::to_string(device.id) + ")";
}

// Checks the fields that the core does not know; fe_array_from_host checks the others. `place`: where the producer said
// that the memory is. Numbers of host memory are not compared: libraries number parts of it, and it is one memory.
void check_fields(const dlpack::Tensor& tensor, dlpack::Device place) {
  const dlpack::Device is = tensor.device;
  const bool is_there = is.type == place.type && (is.type == dlpack::device_cpu ? is.id >= 0 : is.id == place.id);
  if (!is_there)
    refuse_capsule("the capsule has memory of DLPack's device " + shown_place(is) + ", where memory of " +
                   shown_place(place) + " was expected");
  if (tensor.ndim < 0 || tensor.ndim > FE_MAX_RANK)
    refuse_capsule("an array has at most " + std::to_string(FE_MAX_RANK) + " dimensions, not " +
                   std::to_string(tensor.ndim));
  if (tensor.ndim > 0 && tensor.shape == nullptr)
    refuse_capsule("a capsule of " + std::to_string(tensor.ndim) + " dimensions has no shape");
  if (tensor.byte_offset > largest_offset ||
      tensor.byte_offset > UINTPTR_MAX - reinterpret_cast<uintptr_t>(tensor.data))
    refuse_capsule("byte_offset " + std::to_string(tensor.byte_offset) + " reaches further than memory");
}

bool has_memory(uintptr_t address) {
#if defined(_WIN32)
  MEMORY_BASIC_INFORMATION found{};
  return VirtualQuery(reinterpret_cast<void*>(address), &found, sizeof found) != 0 && found.State == MEM_COMMIT;
#else
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  return msync(reinterpret_cast<void*>(address - address % page), 1, MS_ASYNC) == 0 || errno != ENOMEM;
#endif
}

std::string hexadecimal(uintptr_t address) {
  std::array<char, 32> shown{};
  std::snprintf(shown.data(), shown.size(), "0x%llx", static_cast<unsigned long long>(address));
  return shown.data();
}

// Refuses the address of host memory where the system has none. Null and addresses in the first pages are the core's.
void check_address(uintptr_t address, uint64_t byte_offset) {
  if (address < 65536 || has_memory(address)) return;
  refuse_capsule("there is no memory at address " + hexadecimal(address) + ": data with byte_offset " +
                 std::to_string(byte_offset) + " reaches further than memory");
}

bool is_empty(const dlpack::Tensor& tensor) {
  const std::span shape(tensor.shape, static_cast<std::size_t>(tensor.ndim));
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

// Refuses elements of which the first or last byte lies where the system has no memory. `address`: of the element with
// all indices 0. `strides`: in bytes; empty if the elements are contiguous. What is larger than memory is the core's.
void check_reach(const dlpack::Tensor& tensor, uintptr_t address, const std::vector<int64_t>& strides, uint64_t item) {
  constexpr uint64_t most = uint64_t{1} << 62;
  uint64_t below = 0, above = item - 1, contiguous = item;
  for (auto axis = static_cast<std::size_t>(tensor.ndim); axis-- > 0;) {
    const auto size = static_cast<uint64_t>(tensor.shape[axis]);
    const int64_t stride = strides.empty() ? static_cast<int64_t>(contiguous) : strides[axis];
    const uint64_t step = stride < 0 ? 0 - static_cast<uint64_t>(stride) : static_cast<uint64_t>(stride);
    if (size > 1 && step > most / (size - 1)) return;
    (stride < 0 ? below : above) += (size - 1) * step;
    if (below > most || above > most) return;
    if (strides.empty()) contiguous *= size;
  }
  if (address < 65536 || below > address || above > UINTPTR_MAX - address) return;
  for (const uintptr_t end : {address - static_cast<uintptr_t>(below), address + static_cast<uintptr_t>(above)})
    if (end != address && !has_memory(end))
      refuse_capsule("the shape and the strides reach to address " + hexadecimal(end) +
                     ", further than memory: there is none");
}

// The strides in bytes, of a tensor whose fields were checked.
std::vector<int64_t> byte_strides_of(const dlpack::Tensor& tensor, fe_dtype dtype) {
  const auto item = static_cast<int64_t>(fe_dtype_info_get(dtype)->block_bytes);
  const std::span shape(tensor.shape, static_cast<std::size_t>(tensor.ndim));
  const bool has_none = is_empty(tensor);
  std::vector<int64_t> strides;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    // Strides of axes with one element, and of arrays without elements, are arbitrary.
    const int64_t stride = has_none || shape[axis] == 1 ? 0 : tensor.strides[axis];
    if (stride > INT64_MAX / item || stride < INT64_MIN / item)
      refuse_capsule("a stride of " + std::to_string(stride) + " elements of axis " + std::to_string(axis) +
                     " reaches further than memory");
    strides.push_back(stride * item);
  }
  return strides;
}

// `writable`: others may write to the memory. flag_read_only forbids it only to the consumer, not to the owner.
template <class Managed>
ArrayPointer import(const Device& device, py::handle capsule, const char* name, const char* used, dlpack::Device place,
                    bool writable, int copy) {
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (managed == nullptr) raise_python_error();
  const dlpack::Tensor& tensor = managed->tensor;
  check_fields(tensor, place);
  fe_host_memory memory{};
  memory.struct_size = sizeof memory;
  memory.dtype = dlpack_dtype_of(tensor.dtype);
  // A null pointer stays null, whatever the offset.
  if (auto address = reinterpret_cast<uintptr_t>(tensor.data); address != 0) {
    address += static_cast<uintptr_t>(tensor.byte_offset);
    memory.pointer = reinterpret_cast<void*>(address);
  }
  memory.rank = tensor.ndim;
  memory.shape = tensor.shape;
  std::vector<int64_t> strides;
  if (tensor.strides != nullptr) {
    strides = byte_strides_of(tensor, memory.dtype);
    memory.strides = strides.data();
  }
  if (tensor.device.type == dlpack::device_cpu && memory.pointer != nullptr && !is_empty(tensor)) {
    const auto address = reinterpret_cast<uintptr_t>(memory.pointer);
    check_address(address, tensor.byte_offset);
    check_reach(tensor, address, strides, fe_dtype_info_get(memory.dtype)->block_bytes);
  }
  memory.access = writable ? FE_ACCESS_READ_WRITE : FE_ACCESS_READ;
  memory.copy = copy;
  memory.release = end_import<Managed>;
  memory.release_argument = managed;
  const dlpack::Device is = tensor.device;                                // the tensor may end in the call
  if (PyCapsule_SetName(capsule.ptr(), used) != 0) raise_python_error();  // owned here from now on
  PyCapsule_SetDestructor(capsule.ptr(), nullptr);
  fe_array* out = nullptr;
  drain_and_check(without_gil_reading_environment_once(device.was_used(), [&] {
    if (is.type == dlpack::device_cpu) return fe_array_from_host(device.get(), &memory, &out);
    return fe_array_from_native(device.get(), &memory, is.type, is.id, &out);
  }));
  return array_of(out);
}

// `place`: the type and number of DLPack's device on which the memory is to be.
ArrayPointer from_dlpack(const Device& device, const py::object& capsule, std::pair<int32_t, int32_t> place, int copy) {
  const dlpack::Device on{place.first, place.second};
  if (PyCapsule_IsValid(capsule.ptr(), versioned_name) != 0) {
    const auto* const managed =
        static_cast<dlpack::ManagedTensorVersioned*>(PyCapsule_GetPointer(capsule.ptr(), versioned_name));
    if (managed->version.major != dlpack::major_version)
      raise(FE_UNSUPPORTED, "from_dlpack: DLPack " + std::to_string(managed->version.major) + " is not known here");
    return import <dlpack::ManagedTensorVersioned>(device, capsule, versioned_name, "used_dltensor_versioned", on,
                                                   (managed->flags & dlpack::flag_is_copied) == 0, copy);
  }
  if (PyCapsule_IsValid(capsule.ptr(), unversioned_name) != 0)
    return import <dlpack::ManagedTensor>(device, capsule, unversioned_name, "used_dltensor", on, true, copy);
  refuse_capsule("__dlpack__() returned no unused DLPack capsule");
}

}  // namespace

void bind_dlpack(py::module_& module) {
  module.def("to_dlpack", &to_dlpack, argument("array"), argument("versioned"), argument("copy"));
  module.def("to_native_dlpack", &to_native_dlpack, argument("array"), argument("versioned"), argument("is_own"),
             argument("wait"), argument("stream"));
  module.def("native_device", &native_device, argument("device"));
  module.def("from_dlpack", &from_dlpack, argument("device"), argument("capsule"), argument("place"), argument("copy"));
}

}  // namespace ferrule::python
