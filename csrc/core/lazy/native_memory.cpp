#include "core/lazy/native_memory.h"

#include "core/copy/transfer.h"
#include "core/error.h"
#include "core/lazy/from_host.h"
#include "core/lazy/queued_releases.h"
#include "core/memory/queue.h"
#include "core/sync/mutexes.h"
#include "ops/table.h"

#include <mutex>
#include <optional>

namespace ferrule {
namespace {

// Cached, so that the device is asked once.
struct NativeIdentity {
  explicit NativeIdentity(Device&) {}
  BriefMutex mutex;
  std::optional<NativeDevice> is;
};

void check_is_native(const Device& device) {
  if (device.is_host() || !device.table().buffer_native)
    fail(FE_UNSUPPORTED, "no other library knows the memory of {}", device.name());
}

fe_native_memory native_memory(Device& device, const Storage& storage) {
  fe_native_memory memory{};
  memory.struct_size = sizeof memory;
  device.check(device.table().buffer_native(storage.buffer(), &memory));
  return memory;
}

// Whether DLPack's pointers are handles instead of addresses on this device type: OpenCL, Vulkan, Metal, WebGPU.
bool has_handles(int32_t device_type) {
  return device_type == 4 || device_type == 7 || device_type == 8 || device_type == 15;
}

// Converts nonzero bytes to true.
ArrayPointer as_bools(ArrayPointer bytes) {
  return Array::record(ops::op_named("astype"), {std::move(bytes)}, {}, {{"dtype", DType::boolean}});
}

}  // namespace

NativeDevice native_device(Device& device) {
  device.open();
  check_is_native(device);
  NativeIdentity& identity = device.attached<NativeIdentity>();
  {
    const std::scoped_lock lock(identity.mutex);
    if (identity.is) return *identity.is;
  }
  const std::shared_ptr<Storage> any = Storage::allocate(device.shared_from_this(), 64);
  const fe_native_memory memory = native_memory(device, *any);
  const NativeDevice is{memory.device_type, memory.device_id};
  const std::scoped_lock lock(identity.mutex);
  identity.is = is;
  return is;
}

void* native_stream(Device& device) {
  const DeviceQueue* const queue = queue_of(device, FE_QUEUE_COMPUTE);
  if (!queue || !device.table().queue_native) return nullptr;
  void* stream = nullptr;
  fe_error* const error = device.table().queue_native(queue->handle(), &stream);
  if (error && code_of(error) == FE_UNSUPPORTED) {
    release(error);
    return nullptr;
  }
  device.check(error);
  return stream;
}

NativeArray native_array(const ArrayPointer& array, NativeWait wait, void* stream) {
  const ArrayPointer list[] = {array};
  evaluate(list);
  Device& device = *array->device();
  check_is_native(device);
  array->is_exposed_to_host = true;
  const StridedArray view = array->strided_array();
  const std::shared_ptr<Storage>& storage = view.data.storage;
  if (!storage) return {native_device(device)};
  const WorkPointer write = wait == NativeWait::none ? nullptr : storage->last_write();
  if (write) {
    const std::shared_ptr<QueueEvent> event = write->event();
    bool is_left_to_stream = false;
    if (wait == NativeWait::stream && event && device.table().native_wait_event) {
      fe_error* const error = device.table().native_wait_event(device.open(), stream, event->handle);
      is_left_to_stream = !error;
      if (error && code_of(error) != FE_UNSUPPORTED) device.check(error);
      release(error);
    }
    if (!is_left_to_stream) storage->finish_write();
  }
  const fe_native_memory memory = native_memory(device, *storage);
  return {{memory.device_type, memory.device_id}, memory.pointer, memory.offset + buffer_offset(view)};
}

ArrayPointer array_from_native(const std::shared_ptr<Device>& device, const fe_host_memory& memory, NativeDevice of) {
  const std::shared_ptr<void> owner = owner_of_borrowed_memory(memory.release, memory.release_argument);
  const OutsideMemory outside = describe(memory);
  TensorType type = outside.type;
  if (element_count(type.shape) == 0)
    return Array::computed(type, device, {nullptr, 0, contiguous_strides(type.shape)}, "empty");
  if (has_handles(of.type))
    fail(FE_UNSUPPORTED, "{}: of DLPack's device type {} pointers are handles, and ferrule borrows by addresses",
         to_string(type), of.type);
  if (const NativeDevice own = native_device(*device); own != of)
    fail_argument("{} on DLPack's device ({}, {}) is not memory of {}, which is ({}, {})", to_string(type), of.type,
                  of.id, device->name(), own.type, own.id);
  if (!outside.why_not.empty()) fail(FE_UNSUPPORTED, "{} cannot be borrowed: {}", to_string(type), outside.why_not);
  // Kernels require bools to be 0 or 1; memory from outside may hold any bytes.
  const bool is_bool = type.dtype == DType::boolean;
  if (is_bool) type.dtype = DType::uint8;
  fe_native_memory native{};
  native.struct_size = sizeof native;
  native.device_type = of.type;
  native.device_id = of.id;
  native.pointer = outside.low;
  StridedStorage view{Storage::import(device, native, outside.size, memory.access, owner, type),
                      outside.first_element(), outside.strides};
  if (device->table().queue_create) {  // makes other queues wait for what this one waits for
    Submission work(*device, FE_QUEUE_COMPUTE, {"memory of another library"});
    work.writes(view.storage);
    work.give({}, [](fe_module_queue*) { return static_cast<fe_error*>(nullptr); });
  }
  if (memory.copy == always) {
    const StridedArray copy = copy_to({type, view}, device);
    const ArrayPointer own = Array::computed(type, device, copy.data, "copied: asked for");
    return is_bool ? as_bools(own) : own;
  }
  ArrayPointer borrowed = Array::computed(type, device, std::move(view), "borrowed");
  if (!is_bool) return borrowed;
  if (memory.copy == never) fail_argument("{}: bools are copied, which copy=False forbids", to_string(outside.type));
  return as_bools(std::move(borrowed));
}

}  // namespace ferrule
