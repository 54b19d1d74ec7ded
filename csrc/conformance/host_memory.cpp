// The slot host_allocate: host memory of a device, with asynchronous copies from and to it.
#include "conformance/buffer_bytes.h"

#include <algorithm>
#include <cstring>
#include <deque>

namespace ferrule::conformance {
namespace {

class HostMemory {
 public:
  HostMemory(const Device& device, uint64_t size) : device_(&device), size_(size) {
    const std::string what = "host_allocate of " + std::to_string(size) + " bytes";
    const Outcome outcome = take(device.backend()->host_allocate(device.handle(), size, &pointer_));
    if (outcome.code == FE_UNSUPPORTED) throw NotApplicable{"it has no host memory of its own: " + outcome.message};
    expect(outcome, what);
    if (!pointer_) throw Failure{what + " gave neither an error nor memory"};
  }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  ~HostMemory() {
    if (pointer_) device_->backend()->host_free(device_->handle(), pointer_);
  }
  std::span<char> bytes() const { return {static_cast<char*>(pointer_), size_}; }

 private:
  const Device* device_;
  uint64_t size_;
  void* pointer_ = nullptr;
};

// Checks that blocks that live at the same time are distinct memory.
void is_memory(const Device& device, Report& report) {
  constexpr uint64_t sizes[] = {1, 63, 64, 65, 4096, 100'000, 1 << 20};
  constexpr uintptr_t alignment = 64;
  std::deque<HostMemory> pieces;
  char number = 0;
  for (const uint64_t size : sizes) {
    report.now("host_allocate of " + std::to_string(size) + " bytes");
    const std::span<char> bytes = pieces.emplace_back(device, size).bytes();
    if (reinterpret_cast<uintptr_t>(bytes.data()) % alignment != 0)
      report.problem("host_allocate of " + std::to_string(size) + " bytes gives memory at no multiple of 64 bytes");
    std::fill(bytes.begin(), bytes.end(), ++number);
  }
  number = 0;
  for (const HostMemory& piece : pieces) {
    const Bytes wanted(piece.bytes().size(), ++number);
    expect_bytes(report, piece.bytes(), wanted,
                 "what was written to memory of host_allocate, beside other such memory");
  }
}

// Copies pieces from the host to a buffer, to another buffer, and back, and only waits for a last event.
void round_trips(const Device& device, Report& report, uint64_t seed) {
  constexpr int turns = 24;
  constexpr uint64_t size = (uint64_t{1} << 20) + 40;
  const fe_backend& b = device.backend().table();
  const HostMemory sent(device, size), received(device, size);
  const Buffer first(device, size), second(device, size);
  for (int turn = 0; turn < turns; ++turn) {
    const auto pieces = static_cast<uint64_t>(1 + turn % 8), begin = static_cast<uint64_t>(turn % 5);
    const uint64_t piece = (size - begin) / pieces;
    const std::string what = std::to_string(pieces) + " pieces of host memory of " + std::to_string(piece) +
                             " bytes, copied to the device and back";
    report.now(what);
    const Bytes wanted = random_bytes(pieces * piece, seed + static_cast<uint64_t>(turn));
    std::memcpy(sent.bytes().data() + begin, wanted.data(), wanted.size());
    std::memset(received.bytes().data(), 0, size);
    const auto each = [&](auto copy) {
      for (uint64_t i = 0; i < pieces; ++i) expect(take(copy(begin + i * piece)), what);
    };
    each([&](uint64_t at) {
      return b.copy_from_host(device.handle(), device.queue(), first.handle(), at, sent.bytes().data() + at, piece);
    });
    each([&](uint64_t at) {
      return b.copy(device.handle(), device.queue(), second.handle(), at, first.handle(), at, piece);
    });
    each([&](uint64_t at) {
      return b.copy_to_host(device.handle(), device.queue(), received.bytes().data() + at, second.handle(), at, piece);
    });
    const Event behind(device, device.queue());
    expect(behind.wait(), what);
    if (!expect_bytes(report, received.bytes().subspan(begin, wanted.size()), wanted, what)) return;
  }
}

void host_memory(const Subject& subject, Report& report, const void*) {
  const Opened opened(subject);
  if (!FE_HAS_SLOT(&opened.backend.table(), host_allocate)) throw NotApplicable{"it has no slot host_allocate"};
  is_memory(opened.device, report);
  round_trips(opened.device, report, subject.seed);
}

}  // namespace

void add_host_memory_checks(Checks& checks) {
  checks.push_back(
      {"host_allocate", "host memory of the device is memory, and holds what its copies bring", host_memory});
}

}  // namespace ferrule::conformance
