// The C++ side of the SDK: a backend in one file. Derive from Backend and KernelDevice (or HostDevice, or Device), end
// the file with FERRULE_BACKEND(YourBackend), and call ferrule_add_module on it. An exception becomes an error inside
// the module; nothing throws across its boundary. Header-only, C++20.
//
// tests/foreign/module/mine.cpp is a whole backend in fifty lines; csrc/backends/null/ shows queues, events and
// options.
#ifndef FERRULE_BACKEND_HPP
#define FERRULE_BACKEND_HPP

#include <ferrule/module.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace ferrule::sdk {

// ---- errors and the host -------------------------------------------------------------------------------------------

class Error : public std::runtime_error {
 public:
  Error(fe_code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  fe_code code() const noexcept { return code_; }

 private:
  fe_code code_;
};

// What the core offers; set before anything of the module runs.
inline const fe_host* host = nullptr;

// Runs `function`; what it throws comes back as an error of the core.
template <class Function>
fe_error* guarded(Function&& function) noexcept {
  try {
    std::forward<Function>(function)();
    return nullptr;
  } catch (const Error& error) {
    return host->error_create(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return host->error_create(FE_OUT_OF_MEMORY, "out of host memory");
  } catch (const std::exception& error) {
    return host->error_create(FE_INTERNAL, error.what());
  } catch (...) {
    return host->error_create(FE_INTERNAL, "an exception that is no std::exception");
  }
}

// Throws an error that the core returned.
inline void check(fe_error* error) {
  if (!error) return;
  const Error copy(host->error_code(error), host->error_message(error));
  host->error_release(error);
  throw copy;
}

// fn(begin, end, thread) over [0, n) on the core's threads, in ranges that begin at multiples of `grain`.
template <class Function>
void parallel_for(int64_t n, int64_t grain, uint32_t limit, Function&& function) {
  using Callable = std::remove_reference_t<Function>;
  const auto call = [](void* argument, int64_t begin, int64_t end, uint32_t thread) -> fe_error* {
    return guarded([&] { (*static_cast<Callable*>(argument))(begin, end, thread); });
  };
  check(host->parallel_for(n, grain, limit, call, const_cast<std::remove_const_t<Callable>*>(&function)));
}

// ---- the graph that a device is asked about
// --------------------------------------------------------------------------

// A value of a graph view, copied, so that a kernel may keep it: dtype, shape, strides, and where its bytes will be.
class Operand {
 public:
  Operand(const fe_graph_view& view, uint32_t index) {
    const fe_value& value = *view.values[index];
    const fe_storage& storage = *view.storages[value.storage];
    dtype_ = value.dtype;
    rank_ = value.rank;
    std::copy_n(value.shape, rank_, shape_.begin());
    std::copy_n(value.strides, rank_, strides_.begin());
    kind_ = static_cast<fe_storage_kind>(storage.kind);
    prepared_ = storage.prepared != 0;
    binding_ = storage.binding;
    storage_offset_ = storage.offset;
    offset_ = value.offset;
    offset_slot_ = value.offset_slot;
  }

  fe_dtype dtype() const { return dtype_; }
  bool is(const char* dtype) const { return dtype_ == host->dtype_id(dtype); }
  size_t item_size() const { return host->dtype_size(dtype_); }
  int rank() const { return rank_; }
  std::span<const int64_t> shape() const { return {shape_.data(), static_cast<size_t>(rank_)}; }
  std::span<const int64_t> strides() const { return {strides_.data(), static_cast<size_t>(rank_)}; }  // in elements
  bool is_constant() const { return kind_ == FE_STORAGE_CONSTANT; }
  bool is_prepared() const { return prepared_; }
  int64_t count() const {
    int64_t product = 1;
    for (const int64_t size : shape()) product *= size;
    return product;
  }
  bool is_contiguous() const {
    int64_t expected = 1;
    for (int axis = rank_ - 1; axis >= 0; --axis) {
      const auto at = static_cast<size_t>(axis);
      if (shape_[at] != 1 && strides_[at] != expected) return count() == 0;
      expected *= shape_[at];
    }
    return true;
  }

 private:
  friend class Launch;
  fe_dtype dtype_;
  int32_t rank_;
  std::array<int64_t, FE_MAX_RANK> shape_{};
  std::array<int64_t, FE_MAX_RANK> strides_{};
  fe_storage_kind kind_;
  bool prepared_;
  uint32_t binding_;
  uint64_t storage_offset_;
  int64_t offset_;
  int32_t offset_slot_;
};

// A node of a graph view, valid as long as the view.
class Node {
 public:
  Node(const fe_graph_view& view, uint32_t index) : view_(&view), node_(view.nodes[index]) {}

  fe_op id() const { return node_->op; }
  std::string_view op() const { return host->op_name(node_->op); }
  uint32_t revision() const { return node_->revision; }
  uint32_t input_count() const { return node_->input_count; }
  uint32_t output_count() const { return node_->output_count; }
  Operand input(uint32_t index) const { return {*view_, node_->inputs[index]}; }
  Operand output(uint32_t index) const { return {*view_, node_->outputs[index]}; }
  const fe_body* body() const { return node_->body; }  // NULL unless fused
  // The op's struct of ferrule/ops.h.
  template <class Attributes>
  const Attributes& attributes() const {
    return *static_cast<const Attributes*>(node_->attributes);
  }

 private:
  const fe_graph_view* view_;
  const fe_node* node_;
};

// ---- what an author derives from
// -------------------------------------------------------------------------------------

// Memory of a device.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual void* host_pointer() { return nullptr; }
};

// The work given to a queue so far.
class Event {
 public:
  virtual ~Event() = default;
  virtual bool done() = 0;
  // Throws the error of that work, if any; FE_TIMEOUT when `timeout_ns` >= 0 passes.
  virtual void wait(int64_t timeout_ns) = 0;
};

class Queue {
 public:
  virtual ~Queue() = default;
  virtual std::unique_ptr<Event> record() = 0;
  virtual void reset() {}  // forgets an error
};

// One execution: finds the bytes of an operand on a device whose buffers are host memory.
class Launch {
 public:
  explicit Launch(const fe_execution& execution) : execution_(&execution) {}

  const fe_execution& execution() const { return *execution_; }
  uint32_t thread_limit() const { return execution_->thread_limit; }
  // The operand's element at index (0, ..., 0).
  template <class Item>
  Item* pointer(const Operand& operand) const {
    int64_t elements = operand.offset_;
    if (operand.offset_slot_ >= 0) elements += execution_->offsets[operand.offset_slot_];
    char* const address = storage(operand) + elements * static_cast<int64_t>(operand.item_size());
    return reinterpret_cast<Item*>(address);
  }

 private:
  static char* address(fe_module_buffer* buffer, uint64_t offset) {
    return static_cast<char*>(reinterpret_cast<Buffer*>(buffer)->host_pointer()) + offset;
  }
  char* storage(const Operand& operand) const {
    switch (operand.kind_) {
      case FE_STORAGE_TEMPORARY:
        return address(execution_->workspace, execution_->workspace_offset + operand.storage_offset_);
      case FE_STORAGE_SCALAR:
        return reinterpret_cast<char*>(const_cast<fe_scalar*>(execution_->scalars + operand.binding_));
      default: {
        const fe_binding* const binding = fe_binding_at(execution_, operand.binding_);
        return address(binding->buffer, binding->offset);
      }
    }
  }
  const fe_execution* execution_;
};

class Executable {
 public:
  virtual ~Executable() = default;
  virtual uint64_t scratch_size() { return 0; }
  virtual void execute(Queue* queue, const fe_execution& execution) = 0;
};

// What a device says to one node: a refusal with its reason, or what its operands must be like.
struct Support {
  bool supported = true;
  std::string kernel = {};         // shown in the plan
  std::string reason = {};         // of a refusal, as a part of a sentence
  uint32_t contiguous_inputs = 0;  // bit i: input i must be C-contiguous
  uint32_t innermost_inputs = 0;   // bit i: input i must have innermost stride 1
  uint64_t alignment = 0;          // of the inputs' first elements, in bytes
};

// The packed form of a constant operand: its bytes, and a name that equal layouts share. No bytes: none is wanted.
struct PreparedForm {
  uint64_t size = 0;
  std::string key;
};

// An open device. Any thread may call it, several at once; calls that take a queue come from one thread a queue.
class Device {
 public:
  virtual ~Device() = default;

  virtual std::unique_ptr<Buffer> allocate(uint64_t size, uint64_t alignment) = 0;
  virtual std::unique_ptr<Buffer> borrow(void* /*pointer*/, uint64_t /*size*/, fe_access) {
    throw Error(FE_UNSUPPORTED, "this device does not borrow host memory");
  }
  // Bytes free and in all; free is UINT64_MAX when unknown.
  virtual std::pair<uint64_t, uint64_t> memory() { return {UINT64_MAX, 0}; }
  virtual std::unique_ptr<Queue> create_queue() { throw Error(FE_UNSUPPORTED, "this device has no queues"); }

  virtual void copy_from_host(Queue*, Buffer& to, uint64_t to_offset, const void* from, uint64_t size) = 0;
  virtual void copy_to_host(Queue*, void* to, Buffer& from, uint64_t from_offset, uint64_t size) = 0;
  virtual void copy(Queue*, Buffer& to, uint64_t to_offset, Buffer& from, uint64_t from_offset, uint64_t size) = 0;

  virtual Support supports(const Node& node) = 0;
  virtual std::unique_ptr<Executable> compile(const fe_graph_view& view) = 0;

  virtual PreparedForm prepared_form(const Node&, uint32_t /*input*/) { return {}; }
  virtual void prepare(const Node&, uint32_t /*input*/, const fe_binding& /*from*/, const fe_binding& /*to*/) {
    throw Error(FE_INTERNAL, "this device has no prepared forms");
  }
};

struct DeviceDescription {
  fe_device_kind kind = FE_DEVICE_CPU;
  uint32_t flags = 0;
  std::string name;
  std::string description = {};
  uint64_t total_memory = 0;
  uint64_t max_allocation = 0;
  uint64_t borrow_alignment = 0;
};

// An option of device_open. `type` is what a person would call it: integer, string, boolean.
struct OptionDescription {
  const char* key;
  const char* type;
  const char* doc;
};

// The options a device is opened with; every key is one that the backend describes.
class Options {
 public:
  Options(const fe_option* options, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      const fe_option* const option = fe_option_at(options, i);
      values_.emplace_back(option->key, option->value);
    }
  }
  std::span<const std::pair<std::string, std::string>> all() const { return values_; }
  std::string text(std::string_view key, std::string_view otherwise) const {
    for (const auto& [name, value] : values_)
      if (name == key) return value;
    return std::string(otherwise);
  }
  int64_t integer(std::string_view key, int64_t otherwise) const {
    const std::string value = text(key, "");
    if (value.empty()) return otherwise;
    int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size())
      throw Error(FE_INVALID_ARGUMENT, "option " + std::string(key) + " is '" + value + "', and must be an integer");
    return number;
  }

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

class Backend {
 public:
  virtual ~Backend() = default;

  // True in a derived class whose devices have queues; without them every call is done when it returns.
  static constexpr bool has_queues = false;
  // Version of the module, free text.
  static constexpr const char* version = "";
  // Better among the variants of one name is higher; 0 cannot run here.
  static int score() { return 1; }

  // The devices that are there, found without creating a context or taking device memory. Asked once.
  virtual std::vector<DeviceDescription> devices() = 0;
  virtual std::vector<OptionDescription> options() { return {}; }
  virtual std::unique_ptr<Device> open(uint32_t index, const Options& options) = 0;
};

// ---- devices whose buffers are host memory
// ---------------------------------------------------------------------------

class HostBuffer : public Buffer {
 public:
  HostBuffer(uint64_t size, uint64_t alignment)
      : alignment_(alignment), pointer_(::operator new (size, std::align_val_t{alignment}, std::nothrow)) {
    if (pointer_ == nullptr) throw Error(FE_OUT_OF_MEMORY, "the host has no " + std::to_string(size) + " bytes");
  }
  HostBuffer(void* borrowed) : alignment_(0), pointer_(borrowed) {}
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  ~HostBuffer() override {
    if (alignment_) ::operator delete (pointer_, std::align_val_t{alignment_});
  }
  void* host_pointer() override { return pointer_; }

 private:
  uint64_t alignment_;  // 0: borrowed
  void* pointer_;
};

// Memory, borrowing and copies; what remains to be written is supports and compile. Describe such a device with
// FE_DEVICE_FLAG_HOST_MEMORY and a borrow_alignment of 1.
class HostDevice : public Device {
 public:
  std::unique_ptr<Buffer> allocate(uint64_t size, uint64_t alignment) override {
    return std::make_unique<HostBuffer>(size, alignment);
  }
  std::unique_ptr<Buffer> borrow(void* pointer, uint64_t, fe_access) override {
    return std::make_unique<HostBuffer>(pointer);
  }
  void copy_from_host(Queue*, Buffer& to, uint64_t to_offset, const void* from, uint64_t size) override {
    std::memmove(bytes(to) + to_offset, from, size);
  }
  void copy_to_host(Queue*, void* to, Buffer& from, uint64_t from_offset, uint64_t size) override {
    std::memmove(to, bytes(from) + from_offset, size);
  }
  void copy(Queue*, Buffer& to, uint64_t to_offset, Buffer& from, uint64_t from_offset, uint64_t size) override {
    std::memmove(bytes(to) + to_offset, bytes(from) + from_offset, size);
  }

 protected:
  static char* bytes(Buffer& buffer) { return static_cast<char*>(buffer.host_pointer()); }
};

// A node compiled: what it asks of its operands, and the function that computes it.
struct Kernel {
  Support support;
  std::function<void(const Launch&)> run;
};

inline Kernel refusal(std::string reason) {
  return {.support = {.supported = false, .reason = std::move(reason)}, .run = {}};
}

// A host device that computes node after node. `kernel` is asked both whether a node is supported and for the function
// that computes it, so the two cannot disagree. Nodes with a body are refused unless `kernel_with_body` takes them.
class KernelDevice : public HostDevice {
 public:
  virtual Kernel kernel(const Node& node) = 0;
  virtual Kernel kernel_with_body(const Node&) { return refusal("no kernel takes a fused body"); }

  Support supports(const Node& node) final { return find(node).support; }
  std::unique_ptr<Executable> compile(const fe_graph_view& view) final {
    auto executable = std::make_unique<Sequence>();
    for (uint32_t i = 0; i < view.node_count; ++i) {
      const Node node(view, i);
      Kernel found = find(node);
      if (!found.support.supported) throw Error(FE_UNSUPPORTED, std::string(node.op()) + ": " + found.support.reason);
      executable->kernels.push_back(std::move(found.run));
    }
    return executable;
  }

 private:
  struct Sequence : Executable {
    std::vector<std::function<void(const Launch&)>> kernels;
    void execute(Queue*, const fe_execution& execution) override {
      const Launch launch(execution);
      for (const auto& run : kernels) {
        if (execution.poll) check(execution.poll(execution.poll_argument));
        run(launch);
      }
    }
  };
  Kernel find(const Node& node) { return node.body() ? kernel_with_body(node) : kernel(node); }
};

// ---- from classes to slots
// -------------------------------------------------------------------------------------------

// Everything below is called by FERRULE_BACKEND.
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

// Ends the one source file of a module that says which class its backend is.
#define FERRULE_BACKEND(Derived)                                                                       \
  static int fe_this_module_score() { return Derived::score(); }                                       \
  static fe_error* fe_this_module_init(const fe_host* host, fe_backend* out) {                         \
    return ferrule::sdk::slots::init<Derived>(host, out, FERRULE_MODULE_NAME, FERRULE_MODULE_VARIANT); \
  }                                                                                                    \
  FE_DEFINE_MODULE(fe_this_module_score, fe_this_module_init)

#endif
