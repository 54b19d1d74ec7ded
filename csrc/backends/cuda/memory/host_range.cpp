#include "memory/host_range.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

namespace ferrule::cuda {
namespace {

constexpr uint64_t page_bytes = 4096;  // bytes

struct Registration {
  uint64_t end = 0;
  uint64_t users = 0;
  int device = 0;  // that was current
  bool is_read_only = false;
};

// The ranges, by their first bytes. The ranges of each map do not overlap.
struct State {
  std::mutex mutex;  // held during calls of the driver, which locks the process's memory itself
  std::map<uint64_t, Registration> registrations;
  std::map<uint64_t, uint64_t> allocations;  // their ends, which are those of pages
};

State& state() {
  static State only;
  return only;
}

void* pointer_to(uint64_t address) { return reinterpret_cast<void*>(address); }

// The first registration that ends behind an address.
auto first_behind(uint64_t address) {
  auto& all = state().registrations;
  auto found = all.upper_bound(address);
  if (found != all.begin() && std::prev(found)->second.end > address) --found;
  return found;
}

bool is_allocated(uint64_t begin, uint64_t end) {
  const auto behind = state().allocations.upper_bound(begin);
  return behind != state().allocations.begin() && std::prev(behind)->second >= end;
}

// The address of a byte for kernels of the current device; 0 if it has none.
uint64_t device_address(uint64_t address) {
  void* found = nullptr;
  if (cudaHostGetDevicePointer(&found, pointer_to(address), 0) == cudaSuccess) return number_of(found);
  cudaGetLastError();
  return 0;
}

// Whether the driver knows all pages, as memory of the host that has addresses in a row for kernels. Asks for each
// page, as no function tells where a registration ends.
bool is_pinned_by_others(uint64_t begin, uint64_t end) {
  const uint64_t first = device_address(begin);
  for (uint64_t at = begin; at < end; at += page_bytes) {
    cudaPointerAttributes is{};
    if (cudaPointerGetAttributes(&is, pointer_to(at)) != cudaSuccess) {
      cudaGetLastError();
      return false;
    }
    if (is.type != cudaMemoryTypeHost || number_of(is.devicePointer) != first + (at - begin)) return false;
  }
  return first != 0;
}

[[noreturn]] void refuse(const OpenDevice& device, const std::string& reason) {
  if (const auto loss = device.loss()) throw *loss;
  throw sdk::Error(FE_UNSUPPORTED, reason);
}

}  // namespace

HostRange::HostRange(OpenDevice& device, void* pointer, uint64_t size, bool is_read_only)
    : begin_(number_of(pointer)), end_(begin_ + size) {
  const std::lock_guard lock(state().mutex);
  const auto first = first_behind(begin_);
  const bool is_new = first == state().registrations.end() || first->first >= end_;
  if (!is_allocated(begin_, end_)) {
    try {
      share(device, is_read_only);
    } catch (...) {
      drop_unused();
      if (!is_new || !is_pinned_by_others(begin_, end_)) throw;
    }
  }
  address_ = device_address(begin_);
  if (address_ != 0) return;
  if (is_counted_)
    for (auto at = first_behind(begin_); at != state().registrations.end() && at->first < end_; ++at)
      --at->second.users;
  drop_unused();
  refuse(device, "the driver has no address of this memory for " + device.name());
}

void HostRange::share(OpenDevice& device, bool is_read_only) {
  auto& all = state().registrations;
  for (uint64_t at = begin_; at < end_;) {
    const auto next = first_behind(at);
    if (next != all.end() && next->first <= at) {
      if (next->second.is_read_only && !is_read_only)
        refuse(device, "another array borrows it for reading alone, and it is registered so");
      at = next->second.end;
      continue;
    }
    if (is_read_only && !device.physical().registers_read_only)
      refuse(device, device.name() + " does not register memory that the process may only read");
    const uint64_t end = next == all.end() ? end_ : std::min(end_, next->first);
    const unsigned flags =
        cudaHostRegisterMapped | cudaHostRegisterPortable | (is_read_only ? cudaHostRegisterReadOnly : 0);
    Registration& made = all[at];  // before the call, as there may be no memory for it
    const cudaError_t error = cudaHostRegister(pointer_to(at), end - at, flags);
    if (error != cudaSuccess) all.erase(at);
    if (device.note(error, "cudaHostRegister"))
      refuse(device, error == cudaErrorHostMemoryAlreadyRegistered
                         ? "another library has registered a part of it"
                         : "the driver does not register this memory (" + text_of(error) + ")");
    made = {.end = end, .device = device.physical().number, .is_read_only = is_read_only};
    at = end;
  }
  const uint64_t address = device_address(begin_);
  for (auto at = first_behind(begin_); at != all.end() && at->first < end_; ++at) {
    if (at->first <= begin_) continue;
    if (device_address(at->first) != address + (at->first - begin_))
      refuse(device, "the addresses of its registrations are not in a row for " + device.name());
    seams_.push_back(at->first - begin_);
  }
  for (auto at = first_behind(begin_); at != all.end() && at->first < end_; ++at) ++at->second.users;
  is_counted_ = true;
}

void HostRange::drop_unused() noexcept {
  auto& all = state().registrations;
  for (auto at = first_behind(begin_); at != all.end() && at->first < end_;) {
    if (at->second.users != 0) {
      ++at;
      continue;
    }
    const DeviceScope scope(at->second.device);
    if (cudaHostUnregister(pointer_to(at->first)) != cudaSuccess) cudaGetLastError();
    at = all.erase(at);
  }
}

HostRange::~HostRange() {
  if (!is_counted_) return;
  const std::lock_guard lock(state().mutex);
  for (auto at = first_behind(begin_); at != state().registrations.end() && at->first < end_; ++at) --at->second.users;
  drop_unused();
}

uint64_t HostRange::copied_at_once(uint64_t offset, uint64_t size) const {
  const auto next = std::upper_bound(seams_.begin(), seams_.end(), offset);
  return next == seams_.end() ? size : std::min(size, *next - offset);
}

bool is_pinned(const void* pointer, uint64_t size) {
  const uint64_t begin = number_of(pointer), end = begin + size;
  const std::lock_guard lock(state().mutex);
  return is_allocated(begin, end) || is_pinned_by_others(begin, end);
}

void add_host_allocation(const void* pointer, uint64_t size) {
  const std::lock_guard lock(state().mutex);
  state().allocations[number_of(pointer)] = (number_of(pointer) + size + page_bytes - 1) / page_bytes * page_bytes;
}

void remove_host_allocation(const void* pointer) noexcept {
  const std::lock_guard lock(state().mutex);
  state().allocations.erase(number_of(pointer));
}

}  // namespace ferrule::cuda
