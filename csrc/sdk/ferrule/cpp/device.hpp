// What an author derives from. See ferrule/backend.hpp.
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
#include <type_traits>
#include <utility>
#include <vector>

namespace ferrule::sdk {

namespace slots {
struct BufferSize;
}

// Memory of a device.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual void* host_pointer() { return nullptr; }
  // The memory as other libraries know it.
  virtual fe_native_memory native() { throw Error(FE_UNSUPPORTED, "no other library knows this device's memory"); }
  uint64_t size() const { return size_; }  // as it was asked for

 private:
  friend struct slots::BufferSize;
  uint64_t size_ = 0;
};

// A point in a queue, behind the work that was given to it before.
class Event {
 public:
  virtual ~Event() = default;
  // Whether that work is over, however it ended; false when that cannot be told.
  virtual bool done() = 0;
  // Throws the error, if any, of the work since the event before; FE_TIMEOUT when `timeout_ns` >= 0 passes.
  virtual void wait(int64_t timeout_ns) = 0;
  // When the queue passed it, if it is done: nanoseconds of the host's monotonic clock.
  virtual uint64_t time() { throw Error(FE_UNSUPPORTED, "this device does not tell when an event was passed"); }
};

class Queue {
 public:
  // Waits for its work.
  virtual ~Queue() = default;
  virtual std::unique_ptr<Event> record() = 0;
  // Waits for its work, and brings a lost device back if it can. Throws, and changes nothing, when it cannot make sure
  // that the work is over.
  virtual void reset() = 0;
  // What is given from now on begins after the event, which is of a queue of the same backend.
  virtual void wait_for(Event&) { throw Error(FE_UNSUPPORTED, "this queue cannot wait for an event"); }
  // As DLPack's `stream` argument has it.
  virtual void* native() { throw Error(FE_UNSUPPORTED, "no other library knows this device's queues"); }
};

// Items from one strided place to another; the two do not overlap. Offsets (those of the first item) and strides are
// bytes.
struct StridedCopy {
  Buffer& to;
  uint64_t to_offset;
  Buffer& from;
  uint64_t from_offset;
  uint32_t item_size;
  std::span<const int64_t> shape, to_strides, from_strides;
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
    char* const address = storage(operand) + operand.bytes_of(elements);
    return reinterpret_cast<Item*>(address);
  }

 private:
  // There is no workspace where all temporaries are without elements, which a reduction may read.
  static char* address(fe_module_buffer* buffer, uint64_t offset) {
    if (buffer == nullptr) return nullptr;
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

// The host's monotonic clock.
inline uint64_t monotonic_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// Whether event_time may be asked of what is given now.
inline bool is_tracing() { return !FE_HAS_SLOT(host, is_tracing) || host->is_tracing() != 0; }

// Runs the function that computes a node on the calling thread, and tells who traces the execution when it did.
template <class Function>
void traced(const fe_execution& execution, uint32_t node, Function run) {
  if (execution.trace == nullptr) return run();
  const uint64_t begin = monotonic_ns();
  run();
  execution.trace(execution.trace_argument, node, begin, monotonic_ns());
}

class Executable {
 public:
  virtual ~Executable() = default;
  virtual uint64_t scratch_size() { return 0; }
  virtual void execute(Queue* queue, const fe_execution& execution) = 0;
};

// Some of a node's inputs: {0, 1}, or all of them.
class Inputs {
 public:
  static constexpr uint32_t most = 64;
  constexpr Inputs() = default;
  constexpr Inputs(std::initializer_list<uint32_t> numbers) {
    for (const uint32_t number : numbers) add(number);
  }
  constexpr void add(uint32_t number) {
    if (number >= most) throw Error(FE_INTERNAL, "inputs from 64 on cannot be told by their numbers");
    bits_ |= uint64_t{1} << number;
  }
  // Modules that were written for earlier headers give bits: that is refused with a sentence.
  template <class Number>
  requires std::is_integral_v<Number>
  constexpr Inputs(Number) {
    static_assert(sizeof(Number) == 0, "inputs are told by their numbers, as {0, 1}, and no more by bits, as 0b11");
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

// What a device says to one node: a refusal with its reason, or what its operands must be like.
struct Support {
  bool supported = true;
  std::string kernel = {};        // shown in the plan
  std::string reason = {};        // of a refusal, as a part of a sentence
  Inputs contiguous_inputs = {};  // must be C-contiguous
  Inputs row_inputs = {};         // must have innermost stride 1
  uint32_t alignment = 0;         // of the inputs' first elements, in bytes: a power of two
  // The highest revision of the op, and of those in a body, that the kernel expresses. What is younger is refused for
  // it: headers that know an attribute say nothing of a kernel that was written before it.
  uint32_t revision = 1;

  fe_layout layout_of(uint32_t input) const {
    if (contiguous_inputs.contains(input)) return FE_LAYOUT_CONTIGUOUS;
    return row_inputs.contains(input) ? FE_LAYOUT_ROWS : FE_LAYOUT_ANY;
  }
};

// The answer, unless the node asks for more than the kernel expresses.
inline Support unless_too_young(Support answer, const Node& node) {
  const uint32_t asked = node.youngest_revision();
  if (!answer.supported || asked <= answer.revision) return answer;
  return {.supported = false,
          .reason = "revision " + std::to_string(asked) + " is younger than its kernel " + answer.kernel +
                    ", which expresses up to " + std::to_string(answer.revision)};
}

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
  virtual std::unique_ptr<Queue> create_queue(fe_queue_kind) {
    throw Error(FE_UNSUPPORTED, "this device has no queues");
  }
  // Host memory at a multiple of 64 bytes, which copies to and from the device do not wait for.
  virtual void* host_allocate(uint64_t /*size*/) {
    throw Error(FE_UNSUPPORTED, "this device has no host memory of its own");
  }
  virtual void host_free(void* /*pointer*/) {}

  virtual void copy_from_host(Queue*, Buffer& to, uint64_t to_offset, const void* from, uint64_t size) = 0;
  virtual void copy_to_host(Queue*, void* to, Buffer& from, uint64_t from_offset, uint64_t size) = 0;
  virtual void copy(Queue*, Buffer& to, uint64_t to_offset, Buffer& from, uint64_t from_offset, uint64_t size) = 0;
  // From another device of the backend; the queue is the target's.
  virtual void copy_peer(Queue*, Buffer& /*to*/, uint64_t /*to_offset*/, Device& /*from_device*/, Buffer& /*from*/,
                         uint64_t /*from_offset*/, uint64_t /*size*/) {
    throw Error(FE_UNSUPPORTED, "this device cannot copy from the other one");
  }
  virtual void copy_strided(Queue*, const StridedCopy&) {
    throw Error(FE_UNSUPPORTED, "this device copies no strided items");
  }
  // Repeats the pattern, of 1, 2, 4, 8 or 16 bytes; `size` and the offset are multiples of that.
  virtual void fill(Queue*, Buffer& /*to*/, uint64_t /*to_offset*/, std::span<const std::byte> /*pattern*/,
                    uint64_t /*size*/) {
    throw Error(FE_UNSUPPORTED, "this device does not fill memory");
  }
  // Memory of another library's; it outlives the buffer.
  virtual std::unique_ptr<Buffer> import(const fe_native_memory&, uint64_t /*size*/, fe_access) {
    throw Error(FE_UNSUPPORTED, "this device takes no memory of other libraries");
  }
  // Makes a stream of another library wait for an event.
  virtual void let_native_wait(void* /*stream*/, Event&) {
    throw Error(FE_UNSUPPORTED, "this device knows no streams of other libraries");
  }

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
  // By these the core knows a device that another backend lists, too. A UUID that says which driver it is, as those of
  // software devices do, is none.
  std::optional<std::array<uint8_t, 16>> uuid = {};
  std::string pci_address = {};  // "0000:01:00.0"
  uint32_t queue_kinds = 0;      // bits, 1 << fe_queue_kind: queues that work beside the computing one
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

class Backend {
 public:
  virtual ~Backend() = default;

  // True in a derived class whose devices have queues; without them every call is done when it returns.
  static constexpr bool has_queues = false;
  // Version of the module, free text.
  static constexpr const char* version = "";
  // Higher is preferred among the variants of one name; 0 means it cannot run here.
  static int score() { return 1; }
  // The address of a function that the module offers by name (ferrule/procs.h, or one of its own); null for others.
  static void* proc(std::string_view /*name*/) { return nullptr; }

  // The devices that are there, found without creating a context or taking device memory. Asked once.
  virtual std::vector<DeviceDescription> devices() = 0;
  virtual std::vector<OptionDescription> options() { return {}; }
  virtual std::unique_ptr<Device> open(uint32_t index, const Options& options) = 0;
};

}  // namespace ferrule::sdk

#endif
