#include "emulation/tile_copies.h"

#include <algorithm>
#include <cstring>

#include "emulation/block.h"
#include "emulation/thread_sanitizer.h"
#include "emulation/warpgroup_matrix.h"

namespace emulation {
namespace {

constexpr unsigned most_bytes = (1U << 20) - 1;  // that a phase may expect

AsyncBarrier& barrier_at(const void* address, const Site& site) {
  AsyncBarriers& all = current_block->async_barriers;
  const auto found = all.find(address);
  if (found == all.end()) current_block->fail(site, "no mbarrier was made at this address");
  return found->second;
}

AsyncBarrier& awaited_at(const void* address, unsigned parity, const Site& site) {
  AsyncBarrier& barrier = barrier_at(address, site);
  if (parity > 1) current_block->fail(site, "the parity of a phase is 0 or 1");
  return barrier;
}

void land(const TileCopy& copy) {
  for (std::size_t at = 0; at < copy.bytes.size(); at += 16) {
    const auto to = swizzled(reinterpret_cast<std::uintptr_t>(copy.to) + at, copy.swizzle);
    std::memcpy(reinterpret_cast<void*>(to), copy.bytes.data() + at, 16);
    std::memcpy(current_block->published(reinterpret_cast<void*>(to)), copy.bytes.data() + at, 16);
  }
}

void end_phase_if_complete(AsyncBarrier& barrier) {
  if (barrier.pending != 0 || barrier.bytes != 0) return;
  for (const TileCopy& copy : barrier.copies) land(copy);
  barrier.copies.clear();
  barrier.pending = barrier.count;
  ++barrier.phase;
  for (GpuThread* thread : barrier.waiting) thread->state = GpuThread::State::ready;
  barrier.waiting.clear();
}

void arrive(void* address, unsigned bytes, const Site& site) {
  const Unseen unseen;
  AsyncBarrier& barrier = barrier_at(address, site);
  if (barrier.pending == 0)
    current_block->fail(site, "the phase has its " + std::to_string(barrier.count) + " arrivals already");
  if (bytes > most_bytes) current_block->fail(site, std::to_string(bytes) + " bytes are more than a phase can expect");
  release(&barrier.turns[barrier.phase % 2]);
  --barrier.pending;
  barrier.bytes += bytes;
  end_phase_if_complete(barrier);
}

const TensorMap& checked(const void* map, unsigned axes, const Site& site) {
  const auto& known = *static_cast<const TensorMap*>(map);
  if (known.magic != TensorMap::right_magic) current_block->fail(site, "the tensor map was not encoded");
  if (known.axes != axes)
    current_block->fail(site,
                        "the tensor map has " + std::to_string(known.axes) + " axes, not " + std::to_string(axes));
  return known;
}

// The box, with zeros outside of the tensor.
std::vector<std::byte> box_of(const TensorMap& map, const std::int32_t* coordinates) {
  std::size_t rows = 1;
  for (unsigned axis = 1; axis < map.axes; ++axis) rows *= map.box[axis];
  const std::size_t row_bytes = std::size_t{map.box[0]} * map.item_bytes;
  std::vector<std::byte> bytes(rows * row_bytes);
  for (std::size_t row = 0; row < rows; ++row) {
    std::size_t rest = row;
    std::uint64_t address = map.address;
    bool exists = true;
    for (unsigned axis = 1; axis < map.axes; ++axis) {
      const std::int64_t place = coordinates[axis] + static_cast<std::int64_t>(rest % map.box[axis]);
      rest /= map.box[axis];
      exists = exists && place >= 0 && static_cast<std::uint64_t>(place) < map.sizes[axis];
      address += static_cast<std::uint64_t>(place) * map.strides[axis - 1];
    }
    if (!exists) continue;
    const std::int64_t first = std::max<std::int64_t>(coordinates[0], 0);
    const std::int64_t end =
        std::min<std::int64_t>(std::int64_t{coordinates[0]} + map.box[0], static_cast<std::int64_t>(map.sizes[0]));
    if (first >= end) continue;
    const auto at = static_cast<std::size_t>(first - coordinates[0]) * map.item_bytes;
    std::memcpy(bytes.data() + row * row_bytes + at,
                reinterpret_cast<const void*>(address + static_cast<std::uint64_t>(first) * map.item_bytes),
                static_cast<std::size_t>(end - first) * map.item_bytes);
  }
  return bytes;
}

}  // namespace

std::string text(const AsyncBarrier& barrier) {
  std::string lacks;
  if (barrier.pending > 0) lacks = std::to_string(barrier.pending) + (barrier.pending == 1 ? " arrival" : " arrivals");
  if (barrier.bytes != 0) lacks += (lacks.empty() ? "" : " and ") + std::to_string(barrier.bytes) + " bytes";
  return "phase " + std::to_string(barrier.phase) + " lacks " + lacks;
}

void mbarrier_init(void* barrier, unsigned count, Source at) {
  const Unseen unseen;
  const Site site{"mbarrier.init", at};
  if (reinterpret_cast<std::uintptr_t>(barrier) % 8 != 0 || !current_block->is_shared(barrier, 8))
    current_block->fail(site, "an mbarrier is 8 aligned bytes of shared memory");
  if (count == 0 || count > most_bytes) current_block->fail(site, std::to_string(count) + " arrivals");
  AsyncBarrier& made = current_block->async_barriers[barrier];
  if (made.count != 0) current_block->fail(site, "there is an mbarrier at this address already");
  made.count = count;
  made.pending = count;
  made.not_fenced = current_thread;
}

void mbarrier_arrive(void* barrier, Source at) { arrive(barrier, 0, {"mbarrier.arrive", at}); }

void mbarrier_arrive_expect_tx(void* barrier, unsigned bytes, Source at) {
  arrive(barrier, bytes, {"mbarrier.arrive.expect_tx", at});
}

void mbarrier_wait(void* address, unsigned parity, Source at) {
  const Unseen unseen;
  const Site site{"mbarrier.try_wait", at};
  AsyncBarrier& barrier = awaited_at(address, parity, site);
  while (barrier.phase % 2 == parity) {
    GpuThread& self = *current_thread;
    barrier.waiting.push_back(&self);
    self.state = GpuThread::State::waits;
    self.awaited = &barrier;
    current_block->wait(site, 0);
    self.awaited = nullptr;
  }
  acquire(&barrier.turns[parity]);
}

void fence_proxy_async() {
  const Unseen unseen;
  for (auto& [address, barrier] : current_block->async_barriers)
    if (barrier.not_fenced == current_thread) barrier.not_fenced = nullptr;
  current_block->publish_shared();
}

void copy_tile(void* shared, const void* map, const std::int32_t* coordinates, unsigned axes, void* barrier,
               Source at) {
  const Unseen unseen;
  const Site site{"cp.async.bulk.tensor", at};
  AsyncBarrier& reported = barrier_at(barrier, site);
  if (reported.not_fenced != nullptr)
    current_block->fail(site, "the thread that made the mbarrier has not called fence.proxy.async since");
  const TensorMap& known = checked(map, axes, site);
  TileCopy copy{static_cast<std::byte*>(shared), known.swizzle, box_of(known, coordinates)};
  // The rows that permute chunks repeat after eight rows of the swizzle.
  const std::size_t alignment = std::max<std::size_t>(128, std::size_t{8} * known.swizzle);
  if (reinterpret_cast<std::uintptr_t>(shared) % alignment != 0)
    current_block->fail(site, "the target is not a multiple of " + std::to_string(alignment) + " bytes");
  if (!current_block->is_shared(shared, copy.bytes.size()))
    current_block->fail(site, "the target is not in shared memory");
  if (is_read_by_wgmma(shared, copy.bytes.size()))
    current_block->fail(site, "a wgmma that has not ended for all of its warps reads the target");
  std::memset(shared, 0xff, copy.bytes.size());
  std::memset(current_block->published(shared), 0xff, copy.bytes.size());
  current_block->started_copies.push_back({std::move(copy), &reported});
}

void land_copy(std::size_t number) {
  const Unseen unseen;
  std::vector<StartedCopy>& started = current_block->started_copies;
  auto [copy, barrier] = std::move(started[number]);
  started.erase(started.begin() + static_cast<std::ptrdiff_t>(number));
  barrier->bytes -= static_cast<std::int64_t>(copy.bytes.size());
  barrier->copies.push_back(std::move(copy));
  end_phase_if_complete(*barrier);
}

}  // namespace emulation
