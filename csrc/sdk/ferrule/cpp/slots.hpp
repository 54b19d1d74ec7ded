// From classes to slots: what FERRULE_BACKEND fills the table of functions with. See ferrule/backend.hpp.
#ifndef FERRULE_CPP_SLOTS_HPP
#define FERRULE_CPP_SLOTS_HPP

#include <ferrule/cpp/device.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace ferrule::sdk {

namespace slots {

// The backend and the descriptions that the core reads of it.
struct Opened {
  std::unique_ptr<Backend> backend;
  std::vector<DeviceDescription> devices;
  std::vector<OptionDescription> options;
};

// A device, and the strings that it gave to the core: they live as long as it does.
struct OpenedDevice {
  std::unique_ptr<Device> device;
  std::mutex mutex = {};
  std::set<std::string, std::less<>> strings = {};

  const char* keep(std::string text) {
    if (text.empty()) return nullptr;
    const std::lock_guard lock(mutex);
    return strings.insert(std::move(text)).first->c_str();
  }
};

inline Opened& cast(fe_module_backend* handle) { return *reinterpret_cast<Opened*>(handle); }
inline OpenedDevice& opened(fe_module_device* handle) { return *reinterpret_cast<OpenedDevice*>(handle); }
inline Device& cast(fe_module_device* handle) { return *opened(handle).device; }
inline Buffer& cast(fe_module_buffer* handle) { return *reinterpret_cast<Buffer*>(handle); }
inline Queue* cast(fe_module_queue* handle) { return reinterpret_cast<Queue*>(handle); }
inline Event& cast(fe_module_event* handle) { return *reinterpret_cast<Event*>(handle); }
inline Executable& cast(fe_module_executable* handle) { return *reinterpret_cast<Executable*>(handle); }

template <class Handle, class Object>
void hand_over(Handle** out, std::unique_ptr<Object> object) {
  *out = reinterpret_cast<Handle*>(object.release());
}

// Fills as much of the caller's struct as it has.
template <class Struct>
void fill(Struct* out, const Struct& from) {
  const size_t size = std::min(out->struct_size, sizeof(Struct));
  std::memcpy(reinterpret_cast<char*>(out) + sizeof(size_t), reinterpret_cast<const char*>(&from) + sizeof(size_t),
              size - sizeof(size_t));
}

inline void close(fe_module_backend* backend) { delete &cast(backend); }

inline uint32_t device_count(fe_module_backend* backend) { return static_cast<uint32_t>(cast(backend).devices.size()); }

inline fe_error* device_properties(fe_module_backend* backend, uint32_t index, fe_device_properties* out) {
  return guarded([&] {
    const DeviceDescription& device = cast(backend).devices.at(index);
    fe_device_properties properties{};
    properties.kind = device.kind;
    properties.flags = device.flags;
    properties.name = device.name.c_str();
    properties.description = device.description.empty() ? nullptr : device.description.c_str();
    properties.total_memory = device.total_memory;
    properties.max_allocation = device.max_allocation;
    properties.borrow_alignment = device.borrow_alignment;
    fill(out, properties);
  });
}

inline fe_error* device_option(fe_module_backend* backend, uint32_t index, fe_option_info* out) {
  return guarded([&] {
    const auto& options = cast(backend).options;
    if (index >= options.size()) throw Error(FE_NOT_FOUND, "there are " + std::to_string(options.size()) + " options");
    fill(out, {sizeof(fe_option_info), options[index].key, options[index].type, options[index].doc});
  });
}

// An unknown key is an error that lists the known ones.
inline void check_keys(const Opened& opened, const Options& options) {
  for (const auto& [key, value] : options.all()) {
    const auto known = [&key = key](const OptionDescription& option) { return key == option.key; };
    if (std::any_of(opened.options.begin(), opened.options.end(), known)) continue;
    std::string message = "'" + key + "' is no option of this device; it knows";
    for (const OptionDescription& option : opened.options) message += std::string(" ") + option.key;
    throw Error(FE_INVALID_ARGUMENT, opened.options.empty() ? message + " none" : message);
  }
}

inline fe_error* device_open(fe_module_backend* backend, uint32_t index, const fe_option* given, uint32_t count,
                             fe_module_device** out) {
  return guarded([&] {
    Opened& opened = cast(backend);
    const Options options(given, count);
    check_keys(opened, options);
    hand_over(out, std::unique_ptr<OpenedDevice>(new OpenedDevice{opened.backend->open(index, options)}));
  });
}

inline void device_close(fe_module_device* device) { delete &opened(device); }

inline fe_error* device_memory(fe_module_device* device, uint64_t* free_bytes, uint64_t* total_bytes) {
  return guarded([&] { std::tie(*free_bytes, *total_bytes) = cast(device).memory(); });
}

inline fe_error* buffer_allocate(fe_module_device* device, uint64_t size, uint64_t alignment, fe_module_buffer** out) {
  return guarded([&] { hand_over(out, cast(device).allocate(size, alignment)); });
}

inline fe_error* buffer_borrow(fe_module_device* device, void* pointer, uint64_t size, fe_access access,
                               fe_module_buffer** out) {
  return guarded([&] { hand_over(out, cast(device).borrow(pointer, size, access)); });
}

inline void buffer_free(fe_module_buffer* buffer) { delete &cast(buffer); }

inline void* buffer_host_pointer(fe_module_buffer* buffer) { return cast(buffer).host_pointer(); }

inline fe_error* queue_create(fe_module_device* device, fe_module_queue** out) {
  return guarded([&] { hand_over(out, cast(device).create_queue()); });
}

inline void queue_destroy(fe_module_queue* queue) { delete cast(queue); }

inline fe_error* queue_reset(fe_module_queue* queue) {
  return guarded([&] { cast(queue)->reset(); });
}

inline fe_error* copy_from_host(fe_module_device* device, fe_module_queue* queue, fe_module_buffer* to,
                                uint64_t to_offset, const void* from, uint64_t size) {
  return guarded([&] { cast(device).copy_from_host(cast(queue), cast(to), to_offset, from, size); });
}

inline fe_error* copy_to_host(fe_module_device* device, fe_module_queue* queue, void* to, fe_module_buffer* from,
                              uint64_t from_offset, uint64_t size) {
  return guarded([&] { cast(device).copy_to_host(cast(queue), to, cast(from), from_offset, size); });
}

inline fe_error* copy(fe_module_device* device, fe_module_queue* queue, fe_module_buffer* to, uint64_t to_offset,
                      fe_module_buffer* from, uint64_t from_offset, uint64_t size) {
  return guarded([&] { cast(device).copy(cast(queue), cast(to), to_offset, cast(from), from_offset, size); });
}

inline fe_error* event_record(fe_module_queue* queue, fe_module_event** out) {
  return guarded([&] { hand_over(out, cast(queue)->record()); });
}

inline fe_error* event_wait(fe_module_event* event, int64_t timeout_ns) {
  return guarded([&] { cast(event).wait(timeout_ns); });
}

inline int event_done(fe_module_event* event) { return cast(event).done() ? 1 : 0; }

inline void event_release(fe_module_event* event) { delete &cast(event); }

inline int supports(fe_module_device* device, const fe_graph_view* view, uint32_t node, fe_requirements* out) {
  Support answer;
  fe_error* const error = guarded([&] { answer = cast(device).supports(Node(*view, node)); });
  if (error) {
    answer = {.supported = false, .reason = host->error_message(error)};
    host->error_release(error);
  }
  fill(out, {sizeof(fe_requirements), answer.contiguous_inputs, answer.innermost_inputs, answer.alignment,
             opened(device).keep(std::move(answer.kernel)), opened(device).keep(std::move(answer.reason))});
  return answer.supported ? 1 : 0;
}

inline fe_error* prepare_size(fe_module_device* device, const fe_graph_view* view, uint32_t node, uint32_t input,
                              uint64_t* size, char* key, size_t key_capacity) {
  return guarded([&] {
    const PreparedForm form = cast(device).prepared_form(Node(*view, node), input);
    if (form.key.size() >= key_capacity)
      throw Error(FE_INTERNAL, "the key of a prepared form is too long: " + form.key);
    *size = form.size;
    std::memcpy(key, form.key.c_str(), form.key.size() + 1);
  });
}

inline fe_error* prepare(fe_module_device* device, const fe_graph_view* view, uint32_t node, uint32_t input,
                         const fe_binding* from, const fe_binding* to) {
  return guarded([&] { cast(device).prepare(Node(*view, node), input, *from, *to); });
}

inline fe_error* compile(fe_module_device* device, const fe_graph_view* view, fe_module_executable** out) {
  return guarded([&] { hand_over(out, cast(device).compile(*view)); });
}

inline void executable_release(fe_module_executable* executable) { delete &cast(executable); }

inline uint64_t executable_scratch_size(fe_module_executable* executable) { return cast(executable).scratch_size(); }

inline fe_error* execute(fe_module_executable* executable, fe_module_queue* queue, const fe_execution* execution) {
  return guarded([&] { cast(executable).execute(cast(queue), *execution); });
}

// The table of a backend: the slots of queues and events are absent unless it has queues.
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
  out->copy_from_host = copy_from_host;
  out->copy_to_host = copy_to_host;
  out->copy = copy;
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
  out->event_record = event_record;
  out->event_wait = event_wait;
  out->event_done = event_done;
  out->event_release = event_release;
}

template <class Derived>
fe_error* init(const fe_host* given, fe_backend* out, const char* name, const char* variant) {
  host = given;
  return guarded([&] {
    auto opened = std::make_unique<Opened>();
    opened->backend = std::make_unique<Derived>();
    opened->devices = opened->backend->devices();
    opened->options = opened->backend->options();
    fe_backend table{};
    table.name = name;
    table.variant = variant;
    table.version = Derived::version;
    fill_table(&table, Derived::has_queues);
    table.self = reinterpret_cast<fe_module_backend*>(opened.release());
    fill(out, table);
    out->struct_size = std::min(out->struct_size, sizeof(table));
  });
}

}  // namespace slots

}  // namespace ferrule::sdk

#endif
