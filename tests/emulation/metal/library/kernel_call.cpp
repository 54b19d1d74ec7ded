#include "metal/library/kernel_call.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "emulation/block.h"
#include "emulation/environment.h"
#include "metal/library/kernel_text.h"

namespace emulation::metal {
namespace {

Site site_of(const ferrule_place* at) { return {at->function, {source_name, at->line, at->column}}; }

void threadgroup_barrier(const ferrule_place* at) { current_block->wait_at_barrier(site_of(at)); }

unsigned meet(const ferrule_place* at, const void* value, unsigned bytes, void* all) {
  const Meeting::Lanes& lanes = current_thread->warp->meet(0xffffffffU, site_of(at), value, bytes);
  auto* out = static_cast<std::byte*>(all);
  for (const auto& one : lanes.values) {
    if (bytes == 0) break;
    std::memcpy(out, one.data(), bytes);
    out += bytes;
  }
  return lanes.present;
}

void ask(const ferrule_place* at) { poll(site_of(at)); }

// The key of a declaration in the text, for the block's memory.
const void* key_of(std::size_t number) { return reinterpret_cast<const void*>(number); }

void* threadgroup_memory(unsigned declaration, unsigned long bytes) {
  return current_block->shared(key_of(declaration), bytes);
}

void fail(const ferrule_place* at, const char* what) { current_block->fail(site_of(at), what); }

unsigned lane() { return current_thread->lane; }

bool flush_setting() {
  const char* const name = "FERRULE_EMULATION_METAL_FLUSH";
  const char* const value = std::getenv(name);
  if (value == nullptr || std::string_view(value) == "0") return false;
  if (std::string_view(value) != "1") refuse(name, value, "0 or 1");
  return true;
}

KernelCallData::Position position(const Index& index) { return {index.x, index.y, index.z}; }
KernelCallData::Position product(const Index& x, const Index& y) { return {x.x * y.x, x.y * y.y, x.z * y.z}; }

}  // namespace

const ferrule_host& host() {
  static constexpr ferrule_host made = {threadgroup_barrier, meet, ask, threadgroup_memory, fail, lane};
  return made;
}

CallTable::CallTable(const Dispatch& dispatch) : flushes_(flush_setting()) {
  for (unsigned i = 0; i < most_bindings; ++i)
    buffers_[i] = reinterpret_cast<std::uintptr_t>(dispatch.buffers[i].address);
}

KernelCall::KernelCall(const CallTable& table) : flushes_(table.flushes()) {
  data_.buffers = table.buffers().data();
  const Index place = threadIdx, group = blockIdx, size = blockDim, groups = gridDim;
  data_.thread_position_in_threadgroup = position(place);
  data_.threadgroup_position_in_grid = position(group);
  data_.threads_per_threadgroup = position(size);
  data_.threadgroups_per_grid = position(groups);
  data_.threads_per_grid = product(size, groups);
  const KernelCallData::Position first = product(group, size);
  data_.thread_position_in_grid = {first.x + place.x, first.y + place.y, first.z + place.z};
  data_.thread_index_in_threadgroup = current_thread->rank;
  data_.thread_index_in_simdgroup = current_thread->lane;
  data_.simdgroup_index_in_threadgroup = current_thread->rank / warp_size;
  data_.simdgroups_per_threadgroup = (size.x * size.y * size.z + warp_size - 1) / warp_size;
  data_.threads_per_simdgroup = warp_size;
#if defined(__x86_64__)
  constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x40;
  if (flushes_) {
    control_ = _mm_getcsr();
    _mm_setcsr(control_ | flush_to_zero | denormals_are_zero);
  }
#endif
}

KernelCall::~KernelCall() {
#if defined(__x86_64__)
  if (flushes_) _mm_setcsr(control_);
#endif
}

}  // namespace emulation::metal
