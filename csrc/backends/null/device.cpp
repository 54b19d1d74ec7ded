#include "device.h"

#include "executable.h"

#include <new>

namespace ferrule::null {
namespace {

constexpr std::align_val_t host_alignment{64};

Queue& cast(sdk::Queue* queue) { return static_cast<Queue&>(*queue); }

uint64_t natural(const sdk::Options& options, const char* key, int64_t otherwise) {
  const int64_t number = options.integer(key, otherwise);
  if (number < 0)
    throw sdk::Error(FE_INVALID_ARGUMENT, std::string("option ") + key + " is " + std::to_string(number) + ", below 0");
  return static_cast<uint64_t>(number);
}

Pace pace_of(const sdk::Options& options) {
  Pace pace;
  pace.delay = std::chrono::milliseconds(natural(options, "slow_ms", 0));
  pace.held_while = options.text("held_while", "");
  if (pace.delay.count() > 0 || !pace.held_while.empty()) pace.doing = Doing::timed;
  if (options.boolean("threaded", false)) pace.doing = Doing::timed;
  if (options.boolean("late", false)) pace.doing = Doing::late;
  pace.latency_ns = natural(options, "latency_ns", 0);
  pace.execution_ns = natural(options, "execution_ns", 0);
  pace.bytes_per_second = natural(options, "bytes_per_second", 0);
  return pace;
}

}  // namespace

std::vector<sdk::OptionDescription> Device::options() {
  std::vector<sdk::OptionDescription> all = Faults::options();
  const std::initializer_list<sdk::OptionDescription> others = {
      {"slow_ms", "integer", "a thread of the queue does its work, and waits this many ms before each execution"},
      {"held_while", "text", "a thread of the queue does its work, and no execution ends while this file exists"},
      {"threaded", "boolean", "a thread of the queue does its work"},
      {"late", "boolean", "work is done only when something waits for it"},
      {"seed", "integer", "seed of the order of independent late work; 0 = the order of submission"},
      {"latency_ns", "integer", "ns of each piece of work on the device's clock"},
      {"execution_ns", "integer", "ns that each execution adds"},
      {"bytes_per_second", "integer", "speed of copies and fills"},
      {"real_time", "boolean", "the device's clock is the host's, and a wait lasts as long as the work"},
      {"memory", "integer", "bytes of memory; 0 = no limit"},
      {"hidden", "boolean", "the host cannot reach its memory"},
      {"host_memory", "boolean", "it has host memory that its copies do not wait for (default: true)"},
      {"computes_with", "text", "the file of another module, as the CPU's, whose kernels compute its graphs"},
      {"without", "text", "the name of an op that it does not support, so that its decomposition is computed"}};
  all.insert(all.end(), others);
  return all;
}

Device::Device(const sdk::Options& options, uint32_t index, std::shared_ptr<Schedule> schedule)
    : index_(index),
      is_hidden_(options.boolean("hidden", false)),
      has_host_memory_(options.boolean("host_memory", true)),
      without_(options.text("without", "")),
      budget_(std::make_shared<MemoryBudget>(natural(options, "memory", 0))),
      shared_(std::make_shared<Shared>(std::move(schedule), options, pace_of(options))) {
  shared_->schedule->set_seed(natural(options, "seed", 0));
  if (options.boolean("real_time", false)) shared_->schedule->follow_host_clock();
  if (const std::string path = options.text("computes_with", ""); !path.empty())
    computer_ = std::make_shared<Computer>(path);
}

std::unique_ptr<sdk::Buffer> Device::allocate(uint64_t size, uint64_t alignment) {
  if (shared_->faults.allocations.is_due())
    throw sdk::Error(FE_OUT_OF_MEMORY, std::string(shared_->faults.allocations.error().what()) + ", of " +
                                           std::to_string(size) + " bytes");
  return std::make_unique<Memory>(budget_, size, alignment, is_hidden_, index_, computer_);
}

std::unique_ptr<sdk::Buffer> Device::import(const fe_native_memory& from, uint64_t size, fe_access) {
  if (from.device_type != native_type)
    throw sdk::Error(FE_UNSUPPORTED, "null: memory of DLPack's device type " + std::to_string(from.device_type) +
                                         " is not that of a null device");
  return std::make_unique<Memory>(static_cast<char*>(from.pointer) + from.offset, size, is_hidden_, index_, computer_);
}

void* Device::host_allocate(uint64_t size) {
  if (!has_host_memory_) throw sdk::Error(FE_UNSUPPORTED, "null: the option host_memory is off");
  void* const memory = ::operator new(size, host_alignment, std::nothrow);
  if (memory == nullptr) throw sdk::Error(FE_OUT_OF_MEMORY, "the host has no " + std::to_string(size) + " bytes");
  return memory;
}

void Device::host_free(void* pointer) { ::operator delete(pointer, host_alignment); }

void Device::move(sdk::Queue* queue, uint64_t bytes, std::function<void()> effect) {
  const FailingCall& copies = shared_->faults.copies;
  const bool fails = shared_->faults.copies.is_due();
  cast(queue).give(shared_->pace.copy_ns(bytes), [&copies, fails, keeps = shared_, effect = std::move(effect)](auto&) {
    if (fails) throw sdk::Error(copies.error());
    effect();
  });
}

void Device::move(sdk::Queue* queue, void* to, const void* from, uint64_t size) {
  if (size > 0) move(queue, size, [=] { std::memmove(to, from, size); });
}

void Device::copy_from_host(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, const void* from, uint64_t size) {
  move(queue, memory_of(to).bytes() + to_offset, from, size);
}

void Device::copy_to_host(sdk::Queue* queue, void* to, sdk::Buffer& from, uint64_t from_offset, uint64_t size) {
  move(queue, to, memory_of(from).bytes() + from_offset, size);
}

void Device::copy(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, sdk::Buffer& from, uint64_t from_offset,
                  uint64_t size) {
  move(queue, memory_of(to).bytes() + to_offset, memory_of(from).bytes() + from_offset, size);
}

void Device::copy_peer(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, sdk::Device&, sdk::Buffer& from,
                       uint64_t from_offset, uint64_t size) {
  copy(queue, to, to_offset, from, from_offset, size);
}

void Device::copy_strided(sdk::Queue* queue, const sdk::StridedCopy& copy) {
  char* const to = memory_of(copy.to).bytes() + copy.to_offset;
  const char* const from = memory_of(copy.from).bytes() + copy.from_offset;
  std::vector<int64_t> shape(copy.shape.begin(), copy.shape.end());
  std::vector<int64_t> to_strides(copy.to_strides.begin(), copy.to_strides.end());
  std::vector<int64_t> from_strides(copy.from_strides.begin(), copy.from_strides.end());
  uint64_t bytes = copy.item_size;
  for (const int64_t size : shape) bytes *= static_cast<uint64_t>(size);
  move(queue, bytes,
       [to, from, item = copy.item_size, shape = std::move(shape), to_strides = std::move(to_strides),
        from_strides = std::move(from_strides)] { sdk::copy_items(to, to_strides, from, from_strides, shape, item); });
}

void Device::fill(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, std::span<const std::byte> pattern,
                  uint64_t size) {
  char* const begin = memory_of(to).bytes() + to_offset;
  move(queue, size, [begin, size, kept = std::vector<std::byte>(pattern.begin(), pattern.end())] {
    for (uint64_t done = 0; done < size; done += kept.size()) std::memcpy(begin + done, kept.data(), kept.size());
  });
}

sdk::Support Device::supports(const sdk::Node& node) {
  if (node.op() == without_) return {.supported = false, .reason = "the option without names it"};
  if (computer_) return computer_->supports(node);
  return {.kernel = "nothing", .revision = node.youngest_revision()};
}

sdk::PreparedForm Device::prepared_form(const sdk::Node& node, uint32_t input) {
  return computer_ ? computer_->prepared_form(node, input) : sdk::PreparedForm{};
}

void Device::prepare(const sdk::Node& node, uint32_t input, const fe_binding& from, const fe_binding& to) {
  if (!computer_) throw sdk::Error(FE_INTERNAL, "null: nothing is computed, and nothing prepared");
  computer_->prepare(node, input, for_computer(from), for_computer(to));
}

std::unique_ptr<sdk::Executable> Device::compile(const fe_graph_view& view) {
  return std::make_unique<Executable>(view, shared_, computer_);
}

}  // namespace ferrule::null
