#include "buffers/device_memory.h"

#include <algorithm>
#include <new>

namespace ferrule::vulkan {
namespace {

// No two allocations share a cache line of the host or the device. Vulkan allows nonCoherentAtomSize up to this value.
constexpr uint64_t granularity = 256;

uint64_t rounded_up(uint64_t size) {
  return (std::max<uint64_t>(size, 1) + granularity - 1) / granularity * granularity;
}

}  // namespace

Allocation::~Allocation() {
  if (block_ != nullptr) memory_->give_back(*this);
}

Memory::Memory(const Context& context)
    : context_(context), pools_{Pool{Use::device}, Pool{Use::upload}, Pool{Use::download}, Pool{Use::exchange}} {
  choose_types();
}

Memory::~Memory() = default;

void Memory::choose_types() {
  Block probe(context_, granularity);
  probe.create_buffer(nullptr);
  const uint32_t allowed = probe.requirements().memoryTypeBits;
  const PhysicalDevice& device = context_.physical();
  const bool is_one = is_one_memory(device.properties.deviceType, device.memory);
  for (Pool& pool : pools_) {
    const std::optional<uint32_t> type = choose_memory_type(device.memory, allowed, pool.use, is_one);
    if (!type) throw sdk::Error(FE_UNSUPPORTED, device.description.name + " has no memory that the host can write");
    const uint64_t heap = device.memory.memoryHeaps[device.memory.memoryTypes[*type].heapIndex].size;
    const uint64_t wanted = uint64_t{pool.use == Use::device ? 64u : 8u} << 20;
    pool.type = *type;
    pool.block_size = rounded_up(std::min(wanted, heap / 16));
  }
}

std::unique_ptr<Block> Memory::make_block(const Pool& pool, uint64_t size) const {
  auto block = std::make_unique<Block>(context_, size);
  block->create_buffer(nullptr);
  const VkResult result = block->allocate(block->requirements().size, pool.type, nullptr);
  if (code_of(result) == FE_OUT_OF_MEMORY)
    throw sdk::Error(FE_OUT_OF_MEMORY, context_.physical().description.name + " has no " + std::to_string(size) +
                                           " bytes left (vkAllocateMemory came back with " + name_of(result) + ")");
  check(result, "vkAllocateMemory");
  block->bind();
  if (block->flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) {
    void* host = nullptr;
    check(context_.api().MapMemory(context_.device(), block->memory, 0, VK_WHOLE_SIZE, 0, &host), "vkMapMemory");
    // The host writes to device memory directly only if this needs no flush.
    if (pool.use != Use::device || (block->flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT))
      block->host = static_cast<char*>(host);
  }
  return block;
}

Allocation Memory::allocate(uint64_t size, uint64_t alignment, Use use) {
  const PhysicalDevice& device = context_.physical();
  if (size > device.max_allocation)
    throw sdk::Error(FE_OUT_OF_MEMORY, std::to_string(size) + " bytes are more than the " +
                                           std::to_string(device.max_allocation) + " that a buffer of " +
                                           device.description.name + " can have");
  const std::lock_guard lock(mutex_);
  Pool& pool = pools_[static_cast<size_t>(use)];
  const bool is_large = size >= pool.block_size / 4 || alignment >= pool.block_size / 4;
  try {
    return is_large ? own_block(pool, size, alignment) : shared_block(pool, size, alignment);
  } catch (const sdk::Error& error) {
    if (error.code() != FE_OUT_OF_MEMORY) throw;
  }
  drop_spares();
  return own_block(pool, size, alignment);
}

Allocation Memory::shared_block(Pool& pool, uint64_t size, uint64_t alignment) {
  size = rounded_up(size);
  alignment = std::max(alignment, granularity);
  Block* best = nullptr;
  std::optional<FreeRanges::Fit> best_fit;
  for (const auto& block : pool.blocks) {
    const auto fit = block->free.find(size, alignment, block->address);
    if (!fit || (best_fit && best_fit->spare <= fit->spare)) continue;
    best = block.get();
    best_fit = fit;
  }
  if (best == nullptr) {
    pool.blocks.push_back(make_block(pool, pool.block_size));
    best = pool.blocks.back().get();
    best->pool = static_cast<size_t>(pool.use);
    best->is_shared = true;
    best_fit = best->free.find(size, alignment, best->address);
  }
  return part_of(*best, *best_fit, size);
}

Allocation Memory::own_block(const Pool& pool, uint64_t size, uint64_t alignment) {
  size = std::max<uint64_t>(size, 1);
  // The driver's alignment is nearly always enough; if not, the block gets extra bytes for alignment.
  std::unique_ptr<Block> block = make_block(pool, size);
  if (block->address % alignment != 0) block = make_block(pool, size + alignment);
  return own_block(std::move(block), size, alignment);
}

Allocation Memory::own_block(std::unique_ptr<Block> block, uint64_t size, uint64_t alignment) {
  const auto fit = block->free.find(size, alignment, block->address);
  Allocation out = part_of(*block, *fit, size);
  static_cast<void>(block.release());  // the allocation owns it now
  return out;
}

Allocation Memory::part_of(Block& block, const FreeRanges::Fit& fit, uint64_t size) {
  block.free.take(fit, size);
  Allocation out;
  out.buffer = block.buffer;
  out.offset = fit.offset;
  out.size = size;
  out.address = block.address + fit.offset;
  out.host = block.host != nullptr ? block.host + fit.offset : nullptr;
  out.is_fast_to_read = (block.flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0;
  out.memory_ = this;
  out.block_ = &block;
  return out;
}

void Memory::give_back(const Allocation& allocation) noexcept {
  Block* const block = allocation.block_;
  std::unique_ptr<Block> gone;  // freed without the lock
  if (!block->is_shared) {
    gone.reset(block);
    return;
  }
  const std::lock_guard lock(mutex_);
  try {
    block->free.give_back(allocation.offset, allocation.size);
  } catch (const std::bad_alloc&) {
    return;  // out of memory: the range is free again when the block is freed
  }
  if (!block->free.is_all_free()) return;
  // Keeps one empty block: programs that free and allocate in turns would otherwise call the driver each time.
  auto& blocks = pools_[block->pool].blocks;
  const auto is_other_spare = [&](const auto& other) { return other.get() != block && other->free.is_all_free(); };
  if (std::none_of(blocks.begin(), blocks.end(), is_other_spare)) return;
  const auto place =
      std::find_if(blocks.begin(), blocks.end(), [&](const auto& other) { return other.get() == block; });
  gone = std::move(*place);
  blocks.erase(place);
}

void Memory::drop_spares() {
  for (Pool& pool : pools_) std::erase_if(pool.blocks, [](const auto& block) { return block->free.is_all_free(); });
}

void Memory::invalidate(const Allocation& allocation) const {
  const Block& block = *allocation.block_;
  if (block.flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) return;
  auto range = typed<VkMappedMemoryRange>(VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE);
  range.memory = block.memory;
  range.size = VK_WHOLE_SIZE;  // the whole block: a part would have to obey nonCoherentAtomSize
  check(context_.api().InvalidateMappedMemoryRanges(context_.device(), 1, &range), "vkInvalidateMappedMemoryRanges");
}

std::pair<uint64_t, uint64_t> Memory::free_and_total() const {
  const PhysicalDevice& device = context_.physical();
  const uint64_t total = device.description.total_memory;
  if (!device.has_memory_budget) return {UINT64_MAX, total};
  auto budget =
      typed<VkPhysicalDeviceMemoryBudgetPropertiesEXT>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT);
  auto memory = typed<VkPhysicalDeviceMemoryProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2);
  memory.pNext = &budget;
  context_.instance().api().GetPhysicalDeviceMemoryProperties2(device.handle, &memory);
  uint64_t free = 0;
  for (uint32_t i = 0; i < memory.memoryProperties.memoryHeapCount; ++i)
    if (memory.memoryProperties.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
      free += budget.heapBudget[i] - std::min(budget.heapBudget[i], budget.heapUsage[i]);
  return {std::min(free, total), total};
}

size_t Memory::block_count() const {
  const std::lock_guard lock(mutex_);
  size_t count = 0;
  for (const Pool& pool : pools_) count += pool.blocks.size();
  return count;
}

}  // namespace ferrule::vulkan
