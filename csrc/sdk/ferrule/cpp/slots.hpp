// The slots that FERRULE_BACKEND puts in the fe_backend table: they check arguments and call the classes of device.hpp.
// See ferrule/backend.hpp.
#ifndef FERRULE_CPP_SLOTS_HPP
#define FERRULE_CPP_SLOTS_HPP

#include <ferrule/cpp/check.hpp>
#include <ferrule/cpp/device.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace ferrule::sdk {

namespace slots {

// A backend with the descriptions that the core reads.
struct Opened {
  std::unique_ptr<Backend> backend;
  std::vector<DeviceDescription> devices;
  std::vector<OptionDescription> options;
  bool has_queues;
};

struct OpenedDevice {
  std::unique_ptr<Device> device;
  bool has_queues;
};

// A string that `supports` returns; it lives until the same thread calls `supports` again. It is a plain array, because
// a thread-local variable with a destructor would prevent the module from being unloaded.
template <size_t capacity>
struct AnswerText {
  char text[capacity];

  // Text that is too long is truncated between two UTF-8 characters.
  const char* keep(std::string_view whole) noexcept {
    if (whole.empty()) return nullptr;
    constexpr std::string_view ellipsis = "...";
    size_t size = whole.size();
    if (size >= capacity) {
      size = capacity - 1 - ellipsis.size();
      while (size > 0 && (static_cast<unsigned char>(whole[size]) & 0xc0u) == 0x80u) --size;
    }
    whole.copy(text, size);
    if (size < whole.size()) {
      std::memcpy(text + size, ellipsis.data(), ellipsis.size());
      size += ellipsis.size();
    }
    text[size] = '\0';
    return text;
  }
};
struct Answer {
  AnswerText<256> kernel;
  AnswerText<2048> reason;
};
inline thread_local Answer last_answer;

// The bindings that an execution of a graph needs, and the limits of its dynamic offsets.
struct Demands {
  struct OffsetRange {
    uint32_t slot;
    int64_t lowest, highest;
  };
  std::vector<uint64_t> bindings;  // size of each in bytes
  uint32_t scalars = 0, offsets = 0;
  uint64_t workspace = 0;
  std::vector<OffsetRange> offset_ranges;
};

// An executable with its demands.
struct OpenedExecutable {
  std::unique_ptr<Executable> executable;
  Demands demands;
  bool has_queues;
};

struct BufferSize {
  static std::unique_ptr<Buffer> set(std::unique_ptr<Buffer> buffer, uint64_t size) {
    if (buffer) buffer->size_ = size;
    return buffer;
  }
};

template <class Object, class Handle>
Object& object(Handle* handle, const char* what) {
  return *reinterpret_cast<Object*>(checks::present(handle, what));
}
inline Opened& opened(fe_module_backend* handle) { return object<Opened>(handle, "the backend"); }
inline OpenedDevice& opened(fe_module_device* handle) { return object<OpenedDevice>(handle, "the device"); }
inline Device& cast(fe_module_device* handle) { return *opened(handle).device; }
inline Buffer& cast(fe_module_buffer* handle) { return object<Buffer>(handle, "the buffer"); }
inline Event& cast(fe_module_event* handle) { return object<Event>(handle, "the event"); }
inline OpenedExecutable& opened(fe_module_executable* handle) {
  return object<OpenedExecutable>(handle, "the executable");
}
inline Queue& cast(fe_module_queue* handle) { return object<Queue>(handle, "the queue"); }
// The queue of a call; null if the backend has no queues. Throws if a queue is missing or unexpected.
inline Queue* queue_of(fe_module_queue* handle, bool has_queues) {
  if (has_queues) return &cast(handle);
  if (handle != nullptr) checks::refuse("a queue was given to a backend that has none");
  return nullptr;
}

// Returns the buffer; throws unless it has `size` bytes from `offset` on.
inline Buffer& range_of(fe_module_buffer* handle, uint64_t offset, uint64_t size, const char* what) {
  Buffer& buffer = object<Buffer>(handle, what);
  if (offset > buffer.size() || size > buffer.size() - offset)
    checks::refuse(std::string(what) + " has " + std::to_string(buffer.size()) + " bytes, too few for " +
                   std::to_string(size) + " from byte " + std::to_string(offset));
  return buffer;
}
inline void check_binding(const fe_binding* given, uint64_t size, const char* what) {
  const fe_binding& binding = checks::whole(given);
  range_of(binding.buffer, binding.offset, size, what);
}

template <class Handle, class Object>
void hand_over(Handle** out, std::unique_ptr<Object> object) {
  *out = reinterpret_cast<Handle*>(object.release());
}

// Fills the caller's struct up to its struct_size.
template <class Struct>
void fill(Struct* out, const Struct& from) {
  const size_t size = std::clamp(out->struct_size, sizeof(size_t), sizeof(Struct));
  std::memcpy(reinterpret_cast<char*>(out) + sizeof(size_t), reinterpret_cast<const char*>(&from) + sizeof(size_t),
              size - sizeof(size_t));
}

// A copy of the caller's struct up to its struct_size; the rest is zero.
template <class Struct>
Struct known_part(const Struct* given) {
  Struct known{};
  std::memcpy(&known, given, std::clamp(given->struct_size, sizeof(size_t), sizeof(Struct)));
  return known;
}

// Null does nothing.
template <class Object, class Handle>
void release(Handle* handle) {
  delete reinterpret_cast<Object*>(handle);
}

inline void close(fe_module_backend* backend) { release<Opened>(backend); }

inline uint32_t device_count(fe_module_backend* backend) {
  return backend ? static_cast<uint32_t>(opened(backend).devices.size()) : 0;
}

inline const DeviceDescription& device_at(fe_module_backend* backend, uint32_t index) {
  const auto& devices = opened(backend).devices;
  if (index >= devices.size())
    throw Error(FE_NOT_FOUND, checks::number("there is no device", index) + " of " + std::to_string(devices.size()));
  return devices[index];
}

inline fe_error* device_properties(fe_module_backend* backend, uint32_t index, fe_device_properties* out) {
  return guarded([&] {
    const DeviceDescription& device = device_at(backend, index);
    fe_device_properties properties{};
    properties.kind = device.kind;
    properties.flags = device.flags;
    properties.name = device.name.c_str();
    properties.description = device.description.empty() ? nullptr : device.description.c_str();
    properties.total_memory = device.total_memory;
    properties.max_allocation = device.max_allocation;
    properties.borrow_alignment = device.borrow_alignment;
    properties.uuid = device.uuid ? device.uuid->data() : nullptr;
    properties.pci_address = device.pci_address.empty() ? nullptr : device.pci_address.c_str();
    properties.queue_kinds = device.queue_kinds;
    fill(checks::present(out, "the properties to fill"), properties);
  });
}

inline fe_error* device_option(fe_module_backend* backend, uint32_t index, fe_option_info* out) {
  return guarded([&] {
    const auto& options = opened(backend).options;
    if (index >= options.size()) throw Error(FE_NOT_FOUND, "there are " + std::to_string(options.size()) + " options");
    fill(checks::present(out, "the option to fill"),
         {sizeof(fe_option_info), options[index].key, options[index].type, options[index].doc});
  });
}

// Throws for an unknown key, with a message that lists the known ones.
inline void check_keys(const Opened& opened, const Options& options) {
  for (const auto& [key, value] : options.all()) {
    const auto known = [&key = key](const OptionDescription& option) { return key == option.key; };
    if (std::any_of(opened.options.begin(), opened.options.end(), known)) continue;
    std::string message = "'" + key + "' is not an option of this device; it knows";
    for (const OptionDescription& option : opened.options) message += std::string(" ") + option.key;
    throw Error(FE_INVALID_ARGUMENT, opened.options.empty() ? message + " none" : message);
  }
}

inline fe_error* device_open(fe_module_backend* backend, uint32_t index, const fe_option* given, uint32_t count,
                             fe_module_device** out) {
  return guarded([&] {
    checks::present(out, "the place for the device");
    device_at(backend, index);
    if (count > 0) checks::present(given, "the list of options");
    const Opened& found = opened(backend);
    const Options options(given, count);
    check_keys(found, options);
    hand_over(out,
              std::unique_ptr<OpenedDevice>(new OpenedDevice{found.backend->open(index, options), found.has_queues}));
  });
}

inline void device_close(fe_module_device* device) { release<OpenedDevice>(device); }

inline fe_error* device_memory(fe_module_device* device, uint64_t* free_bytes, uint64_t* total_bytes) {
  return guarded([&] {
    checks::present(free_bytes, "the place for the free bytes");
    checks::present(total_bytes, "the place for all bytes");
    std::tie(*free_bytes, *total_bytes) = cast(device).memory();
  });
}

inline fe_error* buffer_allocate(fe_module_device* device, uint64_t size, uint64_t alignment, fe_module_buffer** out) {
  return guarded([&] {
    checks::present(out, "the place for the buffer");
    if (alignment == 0 || (alignment & (alignment - 1)) != 0)
      checks::refuse("an alignment of " + std::to_string(alignment) + ", which is not a power of two");
    hand_over(out, BufferSize::set(cast(device).allocate(size, alignment), size));
  });
}

inline fe_error* buffer_borrow(fe_module_device* device, void* pointer, uint64_t size, fe_access access,
                               fe_module_buffer** out) {
  return guarded([&] {
    checks::present(out, "the place for the buffer");
    if (size > 0) checks::present(pointer, "the memory to borrow");
    hand_over(out, BufferSize::set(cast(device).borrow(pointer, size, access), size));
  });
}

inline void buffer_free(fe_module_buffer* buffer) { release<Buffer>(buffer); }

inline void* buffer_host_pointer(fe_module_buffer* buffer) { return buffer ? cast(buffer).host_pointer() : nullptr; }

inline fe_error* buffer_native(fe_module_buffer* buffer, fe_native_memory* out) {
  return guarded([&] { fill(checks::present(out, "the memory to describe"), cast(buffer).native()); });
}

inline fe_error* buffer_import(fe_module_device* device, const fe_native_memory* from, uint64_t size, fe_access access,
                               fe_module_buffer** out) {
  return guarded([&] {
    checks::present(out, "the place for the buffer");
    const fe_native_memory& memory = checks::whole(from);
    if (size > 0) checks::present(memory.pointer, "the address of the memory to import");
    hand_over(out, BufferSize::set(cast(device).import(memory, size, access), size));
  });
}

inline fe_error* host_allocate(fe_module_device* device, uint64_t size, void** out) {
  return guarded([&] {
    checks::present(out, "the place for the memory");
    *out = cast(device).host_allocate(size);
  });
}

inline void host_free(fe_module_device* device, void* pointer) {
  if (device == nullptr || pointer == nullptr) return;
  if (fe_error* const error = guarded([&] { cast(device).host_free(pointer); }); error) host->error_release(error);
}

inline fe_error* queue_create(fe_module_device* device, fe_queue_kind kind, fe_module_queue** out) {
  return guarded([&] {
    checks::present(out, "the place for the queue");
    if (kind != FE_QUEUE_COMPUTE && kind != FE_QUEUE_UPLOAD && kind != FE_QUEUE_DOWNLOAD)
      checks::refuse("a queue of kind " + std::to_string(static_cast<int>(kind)));
    hand_over(out, cast(device).create_queue(kind));
  });
}

inline fe_error* queue_wait_event(fe_module_queue* queue, fe_module_event* event) {
  return guarded([&] { cast(queue).wait_for(cast(event)); });
}

inline fe_error* queue_native(fe_module_queue* queue, void** out) {
  return guarded([&] {
    checks::present(out, "the place for the stream");
    *out = cast(queue).native();
  });
}

inline fe_error* native_wait_event(fe_module_device* device, void* stream, fe_module_event* event) {
  return guarded([&] { cast(device).let_native_wait(stream, cast(event)); });
}

inline void queue_destroy(fe_module_queue* queue) { release<Queue>(queue); }

inline fe_error* queue_reset(fe_module_queue* queue) {
  return guarded([&] { cast(queue).reset(); });
}

inline fe_error* copy_from_host(fe_module_device* device, fe_module_queue* queue, fe_module_buffer* to,
                                uint64_t to_offset, const void* from, uint64_t size) {
  return guarded([&] {
    OpenedDevice& on = opened(device);
    if (size > 0) checks::present(from, "the memory to copy from");
    Buffer& target = range_of(to, to_offset, size, "the buffer to copy to");
    on.device->copy_from_host(queue_of(queue, on.has_queues), target, to_offset, from, size);
  });
}

inline fe_error* copy_to_host(fe_module_device* device, fe_module_queue* queue, void* to, fe_module_buffer* from,
                              uint64_t from_offset, uint64_t size) {
  return guarded([&] {
    OpenedDevice& on = opened(device);
    if (size > 0) checks::present(to, "the memory to copy to");
    Buffer& source = range_of(from, from_offset, size, "the buffer to copy from");
    on.device->copy_to_host(queue_of(queue, on.has_queues), to, source, from_offset, size);
  });
}

inline fe_error* copy(fe_module_device* device, fe_module_queue* queue, fe_module_buffer* to, uint64_t to_offset,
                      fe_module_buffer* from, uint64_t from_offset, uint64_t size) {
  return guarded([&] {
    OpenedDevice& on = opened(device);
    Buffer& target = range_of(to, to_offset, size, "the buffer to copy to");
    Buffer& source = range_of(from, from_offset, size, "the buffer to copy from");
    on.device->copy(queue_of(queue, on.has_queues), target, to_offset, source, from_offset, size);
  });
}

inline fe_error* copy_peer(fe_module_device* device, fe_module_queue* queue, fe_module_buffer* to, uint64_t to_offset,
                           fe_module_device* from_device, fe_module_buffer* from, uint64_t from_offset, uint64_t size) {
  return guarded([&] {
    OpenedDevice& on = opened(device);
    Device& source_device = cast(from_device);
    Buffer& target = range_of(to, to_offset, size, "the buffer to copy to");
    Buffer& source = range_of(from, from_offset, size, "the buffer to copy from");
    on.device->copy_peer(queue_of(queue, on.has_queues), target, to_offset, source_device, source, from_offset, size);
  });
}

// Returns the buffer; throws unless all items of a strided copy are inside it. Sizes must not be negative.
inline Buffer& strided_range_of(fe_module_buffer* handle, uint64_t offset, std::span<const int64_t> shape,
                                std::span<const int64_t> strides, uint32_t item_size, const char* what) {
  Buffer& buffer = object<Buffer>(handle, what);
  const auto refuse = [&] { checks::refuse(std::string("strides that lead out of ") + what); };
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return buffer;
  if (offset > buffer.size() || item_size > buffer.size() - offset) refuse();
  uint64_t before = 0, after = 0;  // bytes from the first item
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const auto steps = static_cast<uint64_t>(shape[axis]) - 1;
    const uint64_t stride =
        strides[axis] < 0 ? 0 - static_cast<uint64_t>(strides[axis]) : static_cast<uint64_t>(strides[axis]);
    if (steps > 0 && stride > buffer.size() / steps) refuse();
    (strides[axis] < 0 ? before : after) += steps * stride;
    if (before > offset || after > buffer.size() - offset - item_size) refuse();
  }
  return buffer;
}

inline fe_error* copy_strided(fe_module_device* device, fe_module_queue* queue, const fe_strided_copy* given) {
  return guarded([&] {
    OpenedDevice& on = opened(device);
    const fe_strided_copy& copy = checks::whole(given);
    if (copy.rank < 0 || copy.rank > FE_MAX_RANK)
      checks::refuse("a strided copy of " + std::to_string(copy.rank) + " dimensions");
    if (copy.item_size == 0) checks::refuse("a strided copy of items without bytes");
    const auto rank = static_cast<size_t>(copy.rank);
    const auto list = [&](const int64_t* numbers, const char* what) {
      if (rank > 0) checks::present(numbers, what);
      return std::span(numbers, rank);
    };
    const std::span<const int64_t> shape = list(copy.shape, "the shape of a strided copy");
    const std::span<const int64_t> to_strides = list(copy.to_strides, "the strides to copy to");
    const std::span<const int64_t> from_strides = list(copy.from_strides, "the strides to copy from");
    if (std::any_of(shape.begin(), shape.end(), [](int64_t size) { return size < 0; }))
      checks::refuse("a strided copy with a negative size");
    Buffer& to = strided_range_of(copy.to, copy.to_offset, shape, to_strides, copy.item_size, "the buffer to copy to");
    Buffer& from =
        strided_range_of(copy.from, copy.from_offset, shape, from_strides, copy.item_size, "the buffer to copy from");
    on.device->copy_strided(queue_of(queue, on.has_queues), {to, copy.to_offset, from, copy.from_offset, copy.item_size,
                                                             shape, to_strides, from_strides});
  });
}

inline fe_error* fill_memory(fe_module_device* device, fe_module_queue* queue, fe_module_buffer* to, uint64_t to_offset,
                             const void* pattern, uint32_t pattern_size, uint64_t size) {
  return guarded([&] {
    OpenedDevice& on = opened(device);
    Buffer& target = range_of(to, to_offset, size, "the buffer to fill");
    if (pattern_size == 0 || pattern_size > 16 || (pattern_size & (pattern_size - 1)) != 0)
      checks::refuse("a pattern of " + std::to_string(pattern_size) + " bytes");
    if (size % pattern_size != 0 || to_offset % pattern_size != 0)
      checks::refuse("a part to fill that is not a number of whole patterns");
    const auto* const bytes = static_cast<const std::byte*>(checks::present(pattern, "the pattern"));
    on.device->fill(queue_of(queue, on.has_queues), target, to_offset, std::span(bytes, pattern_size), size);
  });
}

inline fe_error* event_record(fe_module_queue* queue, fe_module_event** out) {
  return guarded([&] {
    checks::present(out, "the place for the event");
    hand_over(out, cast(queue).record());
  });
}

inline fe_error* event_wait(fe_module_event* event, int64_t timeout_ns) {
  return guarded([&] { cast(event).wait(timeout_ns); });
}

inline int event_done(fe_module_event* event) {
  if (event == nullptr) return 1;
  bool is_done = false;
  // After an error the event is not known to be done.
  if (fe_error* const error = guarded([&] { is_done = cast(event).done(); }); error) host->error_release(error);
  return is_done ? 1 : 0;
}

inline void event_release(fe_module_event* event) { release<Event>(event); }

inline fe_error* event_time(fe_module_event* event, uint64_t* ns) {
  return guarded([&] {
    checks::present(ns, "the place for the time");
    *ns = cast(event).time();
  });
}

inline void fill_inputs(const fe_requirements& asked, const Support& answer) {
  for (uint32_t i = 0; asked.inputs != nullptr && i < asked.input_count; ++i)
    fill(fe_input_requirement_at(&asked, i),
         {sizeof(fe_input_requirement), static_cast<uint32_t>(answer.layout_of(i)), answer.alignment});
}

// The device's `supports` refuses a node by its answer, by FE_UNSUPPORTED or by an error about the view; any other
// error means that there is no answer.
inline int supports(fe_module_device* device, const fe_graph_view* view, uint32_t node, fe_requirements* out) {
  if (device == nullptr || out == nullptr) return 0;
  Support answer;
  fe_error* const error = guarded([&] {
    check_node(view, node);
    answer = unless_too_young(cast(device).supports(Node(*view, node)), Node(*view, node));
  });
  const fe_code code = error ? host->error_code(error) : FE_OK;
  if (error) answer = {.supported = false};
  const fe_requirements asked = known_part(out);
  fill_inputs(asked, answer);
  fill(out, {sizeof(fe_requirements), asked.inputs, asked.input_count, 0, last_answer.kernel.keep(answer.kernel),
             last_answer.reason.keep(error ? std::string_view(host->error_message(error)) : answer.reason)});
  if (error) host->error_release(error);
  if (code != FE_OK && code != FE_UNSUPPORTED && code != FE_INVALID_ARGUMENT) return -static_cast<int>(code);
  return answer.supported ? 1 : 0;
}

// The node of prepare_size and prepare; throws unless it has the input.
inline Node node_with_input(const fe_graph_view* view, uint32_t index, uint32_t input) {
  check_node(view, index);
  const Node node(*view, index);
  if (input >= node.input_count()) checks::refuse(checks::number("the node has no input", input));
  return node;
}

inline fe_error* prepare_size(fe_module_device* device, const fe_graph_view* view, uint32_t node, uint32_t input,
                              uint64_t* size, char* key, size_t key_capacity) {
  return guarded([&] {
    checks::present(size, "the place for the size");
    checks::present(key, "the place for the key");
    const PreparedForm form = cast(device).prepared_form(node_with_input(view, node, input), input);
    if (form.key.size() >= key_capacity)
      throw Error(FE_INTERNAL, "the key of a prepared form is too long: " + form.key);
    *size = form.size;
    std::memcpy(key, form.key.c_str(), form.key.size() + 1);
  });
}

inline fe_error* prepare(fe_module_device* device, const fe_graph_view* view, uint32_t node, uint32_t input,
                         const fe_binding* from, const fe_binding* to) {
  return guarded([&] {
    const Node asked = node_with_input(view, node, input);
    const fe_value& value = *view->values[view->nodes[node]->inputs[input]];
    check_binding(from, view->storages[value.storage]->size, "the constant's buffer");
    check_binding(to, cast(device).prepared_form(asked, input).size, "the buffer of the prepared form");
    cast(device).prepare(asked, input, *from, *to);
  });
}

// `view` has passed check_graph.
inline Demands demands_of(const fe_graph_view& view) {
  Demands demands;
  demands.scalars = view.scalar_count;
  demands.offsets = view.offset_count;
  demands.workspace = view.workspace_size;
  for (uint32_t i = 0; i < view.storage_count; ++i) {
    const fe_storage& storage = *view.storages[i];
    if (storage.kind == FE_STORAGE_SCALAR || storage.kind == FE_STORAGE_TEMPORARY) continue;
    if (storage.binding >= demands.bindings.size()) demands.bindings.resize(storage.binding + size_t{1}, 0);
    uint64_t& bytes = demands.bindings[storage.binding];
    bytes = std::max(bytes, storage.size);
  }
  if (view.offset_count == 0) return demands;
  for (uint32_t i = 0; i < view.value_count; ++i) {
    const fe_value& value = checks::check_value(view, i, false);
    if (value.offset_slot < 0) continue;
    const fe_storage& storage = *view.storages[value.storage];
    const fe_dtype_info& dtype = checks::info_of(value.dtype);
    const int64_t count = checks::count_of(checks::shape_of(value), dtype);
    const checks::Reach reach = checks::reach_of(value, dtype, count);
    if (count == 0 || storage.prepared != 0) continue;
    // Both ends are at block boundaries; an incomplete last block of a storage does not count.
    const int64_t bytes = dtype.block_bytes, elements = dtype.block_elements;
    const int64_t blocks = static_cast<int64_t>(storage.size) / bytes;
    demands.offset_ranges.push_back({static_cast<uint32_t>(value.offset_slot), -reach.first / bytes * elements,
                                     (blocks - reach.end / bytes) * elements});
  }
  return demands;
}

inline fe_error* compile(fe_module_device* device, const fe_graph_view* view, fe_module_executable** out) {
  return guarded([&] {
    checks::present(out, "the place for the executable");
    OpenedDevice& on = opened(device);
    check_graph(view);
    hand_over(out, std::unique_ptr<OpenedExecutable>(
                       new OpenedExecutable{on.device->compile(*view), demands_of(*view), on.has_queues}));
  });
}

inline void executable_release(fe_module_executable* executable) { release<OpenedExecutable>(executable); }

inline uint64_t executable_scratch_size(fe_module_executable* executable) {
  return executable ? opened(executable).executable->scratch_size() : 0;
}

// Throws unless the execution binds what the executable demands.
inline void check_execution(OpenedExecutable& executable, const fe_execution* given) {
  const Demands& demands = executable.demands;
  const fe_execution& execution = checks::whole(given);
  if (!demands.bindings.empty()) checks::whole(execution.bindings);
  for (uint32_t i = 0; i < demands.bindings.size(); ++i)
    check_binding(fe_binding_at(&execution, i), demands.bindings[i], "a bound buffer");
  if (demands.scalars > 0) checks::present(execution.scalars, "the list of scalars");
  if (demands.offsets > 0) checks::present(execution.offsets, "the list of offsets");
  for (const Demands::OffsetRange& range : demands.offset_ranges)
    if (execution.offsets[range.slot] < range.lowest || execution.offsets[range.slot] > range.highest)
      checks::refuse(checks::number("offset", range.slot) + " leads out of its storage");
  if (demands.workspace > 0)
    range_of(execution.workspace, execution.workspace_offset, demands.workspace, "the workspace");
  if (const uint64_t scratch = executable.executable->scratch_size(); scratch > 0)
    range_of(execution.scratch, execution.scratch_offset, scratch, "the scratch memory");
}

inline fe_error* execute(fe_module_executable* executable, fe_module_queue* queue, const fe_execution* execution) {
  return guarded([&] {
    OpenedExecutable& found = opened(executable);
    check_execution(found, execution);
    found.executable->execute(queue_of(queue, found.has_queues), *execution);
  });
}

template <class Derived>
void* get_proc(const char* name) {
  void* address = nullptr;
  fe_error* const error = guarded([&] { address = name ? Derived::proc(name) : nullptr; });
  if (error) host->error_release(error);
  return address;
}

// Fills the table of a backend. Without queues, the slots of queues and events are absent.
inline void fill_table(fe_backend* out, bool has_queues) {
  out->close = close;
  out->device_count = device_count;
  out->device_properties = device_properties;
  out->device_option = device_option;
  out->device_open = device_open;
  out->device_close = device_close;
  out->device_memory = device_memory;
  out->buffer_allocate = buffer_allocate;
  out->buffer_borrow = buffer_borrow;
  out->buffer_free = buffer_free;
  out->buffer_host_pointer = buffer_host_pointer;
  out->buffer_native = buffer_native;
  out->buffer_import = buffer_import;
  out->host_allocate = host_allocate;
  out->host_free = host_free;
  out->copy_from_host = copy_from_host;
  out->copy_to_host = copy_to_host;
  out->copy = copy;
  out->copy_peer = copy_peer;
  out->copy_strided = copy_strided;
  out->fill = fill_memory;
  out->supports = supports;
  out->prepare_size = prepare_size;
  out->prepare = prepare;
  out->compile = compile;
  out->executable_release = executable_release;
  out->executable_scratch_size = executable_scratch_size;
  out->execute = execute;
  if (!has_queues) return;
  out->queue_create = queue_create;
  out->queue_destroy = queue_destroy;
  out->queue_reset = queue_reset;
  out->queue_wait_event = queue_wait_event;
  out->queue_native = queue_native;
  out->native_wait_event = native_wait_event;
  out->event_record = event_record;
  out->event_wait = event_wait;
  out->event_done = event_done;
  out->event_release = event_release;
  out->event_time = event_time;
}

// The name of the first slot that this wrapper and its users need and the core lacks; NULL if there is none.
inline const char* missing_slot(const fe_host& given) {
#define FE_CHECK_SLOT(slot) \
  if (!FE_HAS_SLOT(&given, slot)) return #slot;
  FE_CHECK_SLOT(log)
  FE_CHECK_SLOT(op_id)
  FE_CHECK_SLOT(op_name)
  FE_CHECK_SLOT(dtype_id)
  FE_CHECK_SLOT(dtype_name)
  FE_CHECK_SLOT(dtype_info)
  FE_CHECK_SLOT(parallel_for)
  FE_CHECK_SLOT(thread_count)
#undef FE_CHECK_SLOT
  return nullptr;
}

template <class Derived>
fe_error* init(const fe_host* given, fe_backend* out, const char* name, const char* variant) {
  if (const char* const slot = missing_slot(*given); slot) {
    const std::string sentence = std::string("this core is too old for the module: it lacks ") + slot;
    return given->error_create(FE_ABI_MISMATCH, sentence.c_str());
  }
  const fe_host* const before = host;
  host = given;
  fe_error* const error = guarded([&] {
    if (checks::present(out, "the table to fill")->struct_size < offsetof(fe_backend, version) + sizeof(out->version))
      throw Error(FE_ABI_MISMATCH, "this core is too old for the module: its table has no place for a version");
    auto opened = std::make_unique<Opened>();
    opened->backend = std::make_unique<Derived>();
    opened->devices = opened->backend->devices();
    opened->options = opened->backend->options();
    opened->has_queues = Derived::has_queues;
    fe_backend table{};
    table.name = name;
    table.variant = variant;
    table.version = Derived::version;
    fill_table(&table, Derived::has_queues);
    table.get_proc = get_proc<Derived>;
    table.self = reinterpret_cast<fe_module_backend*>(opened.release());
    fill(out, table);
    out->struct_size = std::min(out->struct_size, sizeof(table));
  });
  if (error && before) host = before;  // keeps the host that the module already uses
  return error;
}

}  // namespace slots

}  // namespace ferrule::sdk

#endif
