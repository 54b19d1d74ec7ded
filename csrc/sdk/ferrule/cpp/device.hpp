// The classes that a backend derives from. See ferrule/backend.hpp. A function that throws Error(FE_UNSUPPORTED) by
// default is optional. Sizes and offsets of memory are in bytes.
#ifndef FERRULE_CPP_DEVICE_HPP
#define FERRULE_CPP_DEVICE_HPP

#include <ferrule/cpp/graph.hpp>

#include <array>
#include <charconv>
#include <chrono>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ferrule::sdk {

namespace slots {
struct BufferSize;
}

// Memory of a device; freed by its destructor. Any thread may use it.
class Buffer {
 public:
  virtual ~Buffer() = default;
  // Address in host memory; null if the host cannot access it.
  virtual void* host_pointer() { return nullptr; }
  // The memory in DLPack's terms.
  virtual fe_native_memory native() { throw Error(FE_UNSUPPORTED, "no other library knows this device's memory"); }
  uint64_t size() const { return size_; }  // as requested

 private:
  friend struct slots::BufferSize;
  uint64_t size_ = 0;
};

// A point in a queue, after the work that the queue had been given when it was recorded. Any thread may use it.
class Event {
 public:
  virtual ~Event() = default;
  // Whether that work is done or failed; false if this is unknown.
  virtual bool done() = 0;
  // Waits until it is done; `timeout_ns` < 0 waits without limit. Throws the error of the work since the previous
  // event, and FE_TIMEOUT if it is not done in time.
  virtual void wait(int64_t timeout_ns) = 0;
  // When the queue passed it, in nanoseconds of the host's monotonic clock. Only called when it is done.
  virtual uint64_t time() { throw Error(FE_UNSUPPORTED, "this device does not tell when an event was passed"); }
};

// Work that a device runs in order. One thread at a time uses it.
class Queue {
 public:
  // Waits for the queue's work.
  virtual ~Queue() = default;
  // Records an event after all work that the queue has been given so far.
  virtual std::unique_ptr<Event> record() = 0;
  // Waits for the queue's work. Throws the loss of a lost device, which stays lost; and, without a change, if it cannot
  // make sure that the work is done.
  virtual void reset() = 0;
  // Makes later work wait for the event, which is of a queue of the same backend.
  virtual void wait_for(Event&) { throw Error(FE_UNSUPPORTED, "this queue cannot wait for an event"); }
  // The queue as a DLPack stream.
  virtual void* native() { throw Error(FE_UNSUPPORTED, "no other library knows this device's queues"); }
};

// A copy of items between two strided regions that do not overlap. Offsets are those of the first item. Strides are in
// bytes.
struct StridedCopy {
  Buffer& to;
  uint64_t to_offset;
  Buffer& from;
  uint64_t from_offset;
  uint32_t item_size;
  std::span<const int64_t> shape, to_strides, from_strides;
};

// One execution on a device whose buffers are host memory: finds the bytes of operands.
class Launch {
 public:
  explicit Launch(const fe_execution& execution) : execution_(&execution) {}

  const fe_execution& execution() const { return *execution_; }
  uint32_t thread_limit() const { return execution_->thread_limit; }
  // Address of the operand's element at index (0, ..., 0).
  template <class Item>
  Item* pointer(const Operand& operand) const {
    return reinterpret_cast<Item*>(pointer(operand.place_));
  }
  char* pointer(const ValuePlace& place) const {
    char* const memory = place.is_scalar() ? reinterpret_cast<char*>(const_cast<fe_scalar*>(execution_->scalars))
                                           : host_memory(place.buffer(*execution_));
    // A reduction may read a temporary without elements, for which there is no memory.
    return memory == nullptr ? nullptr : memory + place.offset(*execution_);
  }

 private:
  static char* host_memory(fe_module_buffer* buffer) {
    return buffer == nullptr ? nullptr : static_cast<char*>(reinterpret_cast<Buffer*>(buffer)->host_pointer());
  }
  const fe_execution* execution_;
};

// Time of the host's monotonic clock in nanoseconds.
inline uint64_t monotonic_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// Whether a trace is recorded now, so that event times of new work are needed.
inline bool is_tracing() {
  const fe_host* const core = host;
  return !FE_HAS_SLOT(core, is_tracing) || core->is_tracing() != 0;
}

// Runs the function that computes a node on the calling thread, and reports its times if the execution is traced.
template <class Function>
void run_traced(const fe_execution& execution, uint32_t node, Function run) {
  if (execution.trace == nullptr) return run();
  const uint64_t begin = monotonic_ns();
  run();
  execution.trace(execution.trace_argument, node, begin, monotonic_ns());
}

// Calls `run(node)` for each node in order, on the calling thread. Polls the caller before each node, and reports its
// times if the execution is traced.
template <class Function>
void run_in_order(const fe_execution& execution, uint32_t node_count, Function run) {
  for (uint32_t node = 0; node < node_count; ++node) {
    if (execution.poll != nullptr) check(execution.poll(execution.poll_argument));
    run_traced(execution, node, [&] { run(node); });
  }
}

// A compiled graph. It may be executed on several queues at once.
class Executable {
 public:
  virtual ~Executable() = default;
  // Bytes of scratch memory that each execution needs beside the workspace.
  virtual uint64_t scratch_size() { return 0; }
  // Runs it in queue order. `queue` is null if the device has no queues: then it has run when this returns.
  virtual void execute(Queue* queue, const fe_execution& execution) = 0;
};

// A set of a node's inputs: {0, 1}, or all().
class Inputs {
 public:
  static constexpr uint32_t most = 64;
  constexpr Inputs() = default;
  constexpr Inputs(std::initializer_list<uint32_t> numbers) {
    for (const uint32_t number : numbers) add(number);
  }
  constexpr void add(uint32_t number) {
    if (number >= most) throw Error(FE_INTERNAL, "an input number must be less than 64");
    bits_ |= uint64_t{1} << number;
  }
  static constexpr Inputs all() {
    Inputs inputs;
    inputs.all_ = true;
    return inputs;
  }
  constexpr bool contains(uint32_t number) const { return all_ || (number < most && (bits_ >> number & 1) != 0); }

 private:
  uint64_t bits_ = 0;
  bool all_ = false;
};

// A device's answer for one node: a refusal with its reason, or the requirements on the operands.
struct Support {
  bool supported = true;
  std::string kernel = {};        // name of the kernel, for the plan
  std::string reason = {};        // of a refusal, as part of a sentence
  Inputs contiguous_inputs = {};  // must be C-contiguous
  Inputs row_inputs = {};         // must have innermost stride 1
  uint32_t alignment = 0;         // of the inputs' first elements, in bytes: a power of two
  // The highest revision of the op, and of the ops in a body, that the kernel implements. Nodes of a higher revision
  // are refused: newer headers may know an attribute that the kernel was not written for.
  uint32_t revision = 1;

  fe_layout layout_of(uint32_t input) const {
    if (contiguous_inputs.contains(input)) return FE_LAYOUT_CONTIGUOUS;
    return row_inputs.contains(input) ? FE_LAYOUT_ROWS : FE_LAYOUT_ANY;
  }
};

// The answer, or a refusal if the node has a higher revision than the kernel implements.
inline Support unless_too_young(Support answer, const Node& node) {
  const uint32_t asked = node.youngest_revision();
  if (!answer.supported || asked <= answer.revision) return answer;
  return {.supported = false,
          .reason = "revision " + std::to_string(asked) + " is younger than its kernel " + answer.kernel +
                    ", which expresses up to " + std::to_string(answer.revision)};
}

// The packed form of a constant operand: its size in bytes (0: none is wanted), and a key that names the layout. Equal
// keys mean equal packed bytes for equal constants.
struct PreparedForm {
  uint64_t size = 0;
  std::string key;
};

// An open device. Several threads may call it at once; functions that take a queue are called by one thread at a time
// per queue. The queue is null if the backend has none: then the work is done when the function returns. Otherwise work
// runs in queue order, and host memory stays valid until the queue has passed it.
class Device {
 public:
  virtual ~Device() = default;

  // A buffer of `size` > 0 bytes, aligned to `alignment` bytes: a power of two, at least 64.
  virtual std::unique_ptr<Buffer> allocate(uint64_t size, uint64_t alignment) = 0;
  // A buffer over host memory, which outlives it; pointer and size are multiples of borrow_alignment.
  virtual std::unique_ptr<Buffer> borrow(void* /*pointer*/, uint64_t /*size*/, fe_access) {
    throw Error(FE_UNSUPPORTED, "this device does not borrow host memory");
  }
  // Free and total bytes; UINT64_MAX and 0 if unknown.
  virtual std::pair<uint64_t, uint64_t> memory() { return {UINT64_MAX, 0}; }
  virtual std::unique_ptr<Queue> create_queue(fe_queue_kind) {
    throw Error(FE_UNSUPPORTED, "this device has no queues");
  }
  // Host memory, aligned to 64 bytes, that queues copy from and to without waiting (page-locked).
  virtual void* host_allocate(uint64_t /*size*/) {
    throw Error(FE_UNSUPPORTED, "this device has no host memory of its own");
  }
  virtual void host_free(void* /*pointer*/) {}

  virtual void copy_from_host(Queue*, Buffer& to, uint64_t to_offset, const void* from, uint64_t size) = 0;
  virtual void copy_to_host(Queue*, void* to, Buffer& from, uint64_t from_offset, uint64_t size) = 0;
  virtual void copy(Queue*, Buffer& to, uint64_t to_offset, Buffer& from, uint64_t from_offset, uint64_t size) = 0;
  // Copies from another device of the backend; `queue` is that of this device.
  virtual void copy_peer(Queue*, Buffer& /*to*/, uint64_t /*to_offset*/, Device& /*from_device*/, Buffer& /*from*/,
                         uint64_t /*from_offset*/, uint64_t /*size*/) {
    throw Error(FE_UNSUPPORTED, "this device cannot copy from the other one");
  }
  virtual void copy_strided(Queue*, const StridedCopy&) {
    throw Error(FE_UNSUPPORTED, "this device copies no strided items");
  }
  // Fills memory with a pattern of 1, 2, 4, 8 or 16 bytes; `size` and the offset are multiples of its size.
  virtual void fill(Queue*, Buffer& /*to*/, uint64_t /*to_offset*/, std::span<const std::byte> /*pattern*/,
                    uint64_t /*size*/) {
    throw Error(FE_UNSUPPORTED, "this device does not fill memory");
  }
  // A buffer over device memory of another library, which outlives it.
  virtual std::unique_ptr<Buffer> import(const fe_native_memory&, uint64_t /*size*/, fe_access) {
    throw Error(FE_UNSUPPORTED, "this device takes no memory of other libraries");
  }
  // Makes later work of another library's stream wait for an event.
  virtual void let_native_wait(void* /*stream*/, Event&) {
    throw Error(FE_UNSUPPORTED, "this device knows no streams of other libraries");
  }

  // Whether compile accepts this node.
  virtual Support supports(const Node& node) = 0;
  // Compiles a view, which is valid during the call.
  virtual std::unique_ptr<Executable> compile(const fe_graph_view& view) = 0;

  // The packed form of a constant input that kernels want; the size is 0 for none.
  virtual PreparedForm prepared_form(const Node&, uint32_t /*input*/) { return {}; }
  // Packs the constant at `from` into `to`.
  virtual void prepare(const Node&, uint32_t /*input*/, const fe_binding& /*from*/, const fe_binding& /*to*/) {
    throw Error(FE_INTERNAL, "this device has no prepared forms");
  }
};

// Properties of a device, as fe_device_properties. Unknown numbers are 0 and unknown strings empty.
struct DeviceDescription {
  fe_device_kind kind = FE_DEVICE_CPU;
  uint32_t flags = 0;
  std::string name;
  std::string description = {};
  uint64_t total_memory = 0;
  uint64_t max_allocation = 0;
  uint64_t borrow_alignment = 0;
  // The core uses the UUID and the PCI address to recognise a device that another backend also lists. Leave the UUID
  // out if it identifies only the driver, as that of a software device does.
  std::optional<std::array<uint8_t, 16>> uuid = {};
  std::string pci_address = {};  // "0000:01:00.0"
  uint32_t queue_kinds = 0;      // bits 1 << fe_queue_kind: queues that run beside the compute queue
};

// An option of device_open. `type` is integer, string or boolean; values of another type are refused.
struct OptionDescription {
  const char* key;
  const char* type;
  const char* doc;
};

// The options that a device is opened with. Every key is one that the backend describes. The getters return `otherwise`
// if the option is not given, and throw if its value cannot be parsed.
class Options {
 public:
  Options(const fe_option* options, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      const fe_option* const option = fe_option_at(options, i);
      if (option->key == nullptr || option->value == nullptr)
        throw Error(FE_INVALID_ARGUMENT, "option " + std::to_string(i) + " has no key or no value");
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
  bool boolean(std::string_view key, bool otherwise) const {
    const std::string value = text(key, "");
    if (value.empty()) return otherwise;
    if (value == "true" || value == "1") return true;
    if (value == "false" || value == "0") return false;
    throw Error(FE_INVALID_ARGUMENT, "option " + std::string(key) + " is '" + value + "', and must be true or false");
  }

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

// A backend. Derive from it, and pass the class to FERRULE_BACKEND. The static members are redefined in the derived
// class.
class Backend {
 public:
  virtual ~Backend() = default;

  // Whether the devices have queues. Without queues the work of every call is done when it returns.
  static constexpr bool has_queues = false;
  // Version of the module, free text.
  static constexpr const char* version = "";
  // The variant with the highest score of one name is used; <= 0 means that the module cannot run on this machine.
  static int score() { return 1; }
  // Address of a function that the module offers by name (ferrule/procs.h, or its own); null for other names.
  static void* proc(std::string_view /*name*/) { return nullptr; }

  // Lists the devices without creating a context or taking device memory. Called once.
  virtual std::vector<DeviceDescription> devices() = 0;
  // The options of open.
  virtual std::vector<OptionDescription> options() { return {}; }
  // Opens device `index` of devices().
  virtual std::unique_ptr<Device> open(uint32_t index, const Options& options) = 0;
};

}  // namespace ferrule::sdk

#endif
