// Guard zones: known bytes before and after all memory that a module may write in a run, checked afterwards.
#include "core/copy/transfer.h"
#include "core/error.h"
#include "core/executor/observer.h"
#include "core/registry/device.h"

#include <algorithm>
#include <numeric>

namespace ferrule {
namespace {

constexpr uint64_t zone = 256;
// A large negative number as a float32 or float64, and far out of bounds as an index.
constexpr std::byte filler{0xdb};

StridedArray bytes_of(const std::shared_ptr<Storage>& storage, uint64_t offset, uint64_t size) {
  return {{DType::uint8, Shape{static_cast<int64_t>(size)}}, {storage, static_cast<int64_t>(offset), Strides{1}}};
}

// Index of the first changed byte, or `zone` if none. The bytes of a zone before memory are given in reverse.
uint64_t first_change(const std::vector<std::byte>& bytes) {
  const auto found = std::find_if(bytes.begin(), bytes.end(), [](std::byte byte) { return byte != filler; });
  return static_cast<uint64_t>(found - bytes.begin());
}

}  // namespace

WrittenMemory RunObserver::allocate(const std::shared_ptr<Device>& device, uint64_t size, std::string what,
                                    uint64_t unit) {
  const uint64_t before = std::lcm(zone, unit);
  WrittenMemory memory{Storage::allocate(device, before + size + zone), before};
  const std::vector<std::byte> filling(before + size + zone, filler);
  write_from_host(bytes_of(memory.storage, 0, filling.size()), filling.data(), filling.size());
  zones_.push_back({memory, size, std::move(what)});
  return memory;
}

void RunObserver::check_zones() const {
  std::vector<std::byte> bytes(zone);
  for (const Zone& guarded : zones_) {
    const std::string& device = guarded.memory.storage->device()->name();
    const uint64_t begin = guarded.memory.offset;
    read_to_host(bytes_of(guarded.memory.storage, begin - zone, zone), bytes.data(), zone);
    std::reverse(bytes.begin(), bytes.end());
    if (const uint64_t before = first_change(bytes); before < zone)
      fail(FE_INTERNAL, "{}: the module wrote outside {} of {} bytes: byte {} before its start", device, guarded.what,
           guarded.size, before + 1);
    read_to_host(bytes_of(guarded.memory.storage, begin + guarded.size, zone), bytes.data(), zone);
    if (const uint64_t after = first_change(bytes); after < zone)
      fail(FE_INTERNAL, "{}: the module wrote outside {} of {} bytes: byte {} after its end", device, guarded.what,
           guarded.size, after + 1);
  }
}

}  // namespace ferrule
