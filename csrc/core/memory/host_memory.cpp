#include "core/memory/host_memory.h"

#include "core/error.h"
#include "core/memory/queue.h"

#include <mutex>
#include <new>
#include <utility>

namespace ferrule {
namespace {

constexpr std::align_val_t alignment{64};
constexpr uint64_t address_space = uint64_t{1} << 52;  // bytes; no processor has a larger one

// Size of a class of pieces, and how many of them exist at most before a request waits.
struct Class {
  uint64_t size;
  std::size_t most;
};
constexpr std::array<Class, 3> classes{{{4096, 64}, {65536, 32}, {HostMemory::piece_size, 8}}};

std::size_t class_of(uint64_t size) {
  std::size_t number = 0;
  while (number + 1 < classes.size() && classes[number].size < size) ++number;
  return number;
}

}  // namespace

// Shared with the pieces in use: abandoned work keeps its piece, and with it the pool, forever.
struct HostMemory::Pool {
  mutable BriefMutex mutex;  // guards the members below
  std::array<std::vector<std::byte*>, classes.size()> free;
  std::array<std::size_t, classes.size()> made{};
};

HostMemory::HostMemory(Device& device) : device_(device), pool_(std::make_shared<Pool>()) {
  for (std::size_t i = 0; i < classes.size(); ++i) pool_->free[i].reserve(classes[i].most);
}

HostMemory::~HostMemory() { trim(); }

bool HostMemory::is_of_device() {
  Giver giver = giver_.load(std::memory_order_acquire);
  if (giver != Giver::unknown) return giver == Giver::device;
  void* memory = nullptr;
  fe_error* error = nullptr;
  if (device_.table().host_allocate) error = device_.table().host_allocate(device_.open(), 64, &memory);
  if (memory) device_.table().host_free(device_.handle(), memory);
  giver = memory ? Giver::device : Giver::core;
  if (error && code_of(error) != FE_UNSUPPORTED) device_.check(error);
  release(error);
  giver_.store(giver, std::memory_order_release);
  return giver == Giver::device;
}

std::byte* HostMemory::allocate_plain(uint64_t size) {
  if (!is_of_device()) {
    void* const memory = ::operator new(size, alignment, std::nothrow);
    if (!memory) fail(FE_OUT_OF_MEMORY, "the host has no {} bytes", size);
    return static_cast<std::byte*>(memory);
  }
  void* memory = nullptr;
  device_.check(device_.table().host_allocate(device_.open(), size, &memory));
  if (!memory) fail(FE_INTERNAL, "{}: its module returned neither host memory nor an error", device_.name());
  return static_cast<std::byte*>(memory);
}

void HostMemory::free_plain(void* pointer) const noexcept {
  if (giver_.load(std::memory_order_acquire) != Giver::device) return ::operator delete(pointer, alignment);
  if (!device_.belongs_to_parent()) device_.table().host_free(device_.handle(), pointer);
}

std::byte* HostMemory::allocate(uint64_t size, DeviceUse use) {
  if (size > address_space) fail(FE_OUT_OF_MEMORY, "no machine has {} bytes", size);
  std::map<uintptr_t, Block> one;
  one.emplace(0, Block{size, std::move(use)});
  auto node = one.extract(one.begin());
  std::byte* const memory = allocate_plain(size);
  node.key() = reinterpret_cast<uintptr_t>(memory);
  decltype(allocated_)::insert_return_type inserted;  // destroyed after unlocking
  const std::scoped_lock lock(mutex_);
  inserted = allocated_.insert(std::move(node));
  return memory;
}

bool HostMemory::free(void* pointer) noexcept {
  decltype(allocated_)::node_type freed;  // keeps the device open until the end
  {
    const std::scoped_lock lock(mutex_);
    freed = allocated_.extract(reinterpret_cast<uintptr_t>(pointer));
  }
  if (freed.empty()) return false;
  free_plain(pointer);
  return true;
}

bool HostMemory::has(const void* pointer, uint64_t size) const {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const std::scoped_lock lock(mutex_);
  const auto behind = allocated_.upper_bound(address);
  if (behind == allocated_.begin()) return false;
  const auto& [begin, block] = *std::prev(behind);
  return address - begin <= block.size && size <= block.size - (address - begin);
}

// A separate allocation; ordinary host memory if the device has none left.
std::shared_ptr<std::byte> HostMemory::single(uint64_t size) {
  try {
    return {allocate(size), [this](std::byte* memory) { free(memory); }};
  } catch (const Error& error) {
    if (error.code() != FE_OUT_OF_MEMORY) throw;
  }
  trim();
  void* const memory = size > address_space ? nullptr : ::operator new(size, alignment, std::nothrow);
  if (!memory) fail(FE_OUT_OF_MEMORY, "the host has no {} bytes", size);
  return {static_cast<std::byte*>(memory), [](std::byte* mine) { ::operator delete(mine, alignment); }};
}

std::shared_ptr<std::byte> HostMemory::stage(uint64_t size, DeviceQueue& queue, const Cancel& cancel) {
  if (size > piece_size) return single(size);  // the caller could not divide it
  const std::size_t number = class_of(size);
  std::byte* memory = nullptr;
  for (;;) {
    {
      const std::scoped_lock lock(pool_->mutex);
      if (!pool_->free[number].empty()) {
        memory = pool_->free[number].back();
        pool_->free[number].pop_back();
        break;
      }
      if (pool_->made[number] < classes[number].most) {
        ++pool_->made[number];
        break;
      }
    }
    // Pieces of other queues come back at an unknown time.
    if (!queue.wait_for_oldest(cancel)) return single(size);
  }
  try {
    if (!memory) memory = allocate_plain(classes[number].size);
  } catch (const Error& error) {
    {
      const std::scoped_lock lock(pool_->mutex);
      --pool_->made[number];
    }
    if (error.code() != FE_OUT_OF_MEMORY) throw;
    return single(size);
  }
  return {memory, [pool = pool_, number](std::byte* mine) {
            const std::scoped_lock lock(pool->mutex);
            pool->free[number].push_back(mine);  // within the reserved capacity
          }};
}

void HostMemory::trim() noexcept {
  for (std::size_t i = 0; i < classes.size(); ++i)
    for (;;) {
      std::byte* memory = nullptr;
      {
        const std::scoped_lock lock(pool_->mutex);
        if (pool_->free[i].empty()) break;
        memory = pool_->free[i].back();
        pool_->free[i].pop_back();
        --pool_->made[i];
      }
      free_plain(memory);
    }
}

}  // namespace ferrule
