// The slot fill.
#include "conformance/buffer_bytes.h"

#include <algorithm>
#include <string>

namespace ferrule::conformance {
namespace {

// A buffer of known bytes, of which parts are filled.
class Filled {
 public:
  Filled(const Device& device, uint64_t size, uint64_t seed)
      : device_(&device), buffer_(device, size), wanted_(random_bytes(size, seed)) {
    write_bytes(device, device.queue(), buffer_, wanted_);
  }
  // Returns false, with the reason, if the device does not support this fill.
  bool fill(uint64_t offset, const Bytes& pattern, uint64_t count, const std::string& what, std::string& reason) {
    const uint64_t size = count * pattern.size();
    Bytes given = pattern;
    const Outcome outcome = take(device_->backend()->fill(device_->handle(), device_->queue(), buffer_.handle(), offset,
                                                          given.data(), static_cast<uint32_t>(given.size()), size));
    std::fill(given.begin(), given.end(), '\0');  // the slot must have read it already
    if (outcome.code == FE_UNSUPPORTED) {
      reason = outcome.message;
      return false;
    }
    expect(outcome, what);
    for (uint64_t i = 0; i < size; ++i) wanted_[offset + i] = pattern[i % pattern.size()];
    return true;
  }
  // Compares the whole buffer, because other bytes must not change.
  void compare(Report& report, const std::string& what) const {
    expect(finish(*device_, device_->queue()), what);
    expect_bytes(report, read_bytes(*device_, device_->queue(), buffer_, wanted_.size()), wanted_, what);
  }

 private:
  const Device* device_;
  Buffer buffer_;
  Bytes wanted_;
};

constexpr uint64_t small = 4096;
constexpr uint64_t large = (uint64_t{1} << 20) + 48;

void fills(const Subject& subject, Report& report, const void*) {
  const Opened opened(subject);
  const Device& device = opened.device;
  if (!FE_HAS_SLOT(&opened.backend.table(), fill)) throw NotApplicable{"it has no slot fill"};
  bool is_filling = false;
  std::string reason;
  uint64_t seed = subject.seed;
  for (const uint64_t width : {1, 2, 4, 8, 16}) {
    const std::string pattern_text = "fill with a pattern of " + std::to_string(width) + " bytes: ";
    const auto try_part = [&](Filled& filled, uint64_t first, uint64_t count) {
      const std::string what =
          pattern_text + std::to_string(count * width) + " bytes from byte " + std::to_string(first * width);
      report.now(what);
      if (!filled.fill(first * width, random_bytes(width, ++seed), count, what, reason)) return false;
      filled.compare(report, what);
      return true;
    };
    Filled filled(device, small, ++seed);
    for (const uint64_t first : {0, 1, 3, 4, 17})
      for (const uint64_t count : {0, 1, 2, 3, 5, 15, 16, 17, 64, 129}) is_filling |= try_part(filled, first, count);
    is_filling |= try_part(filled, 0, small / width);
    is_filling |= try_part(filled, small / width - 1, 1);
    Filled much(device, large, ++seed);
    is_filling |= try_part(much, 1, large / width - 2);
    // The fills have no waits in between: later fills overwrite earlier ones.
    const std::string what = pattern_text + "parts that overlap, in the order in which they were given";
    report.now(what);
    for (const uint64_t first : {0, 8, 4, 12, 2})
      if (!filled.fill(first * width, random_bytes(width, ++seed), 16, what, reason)) break;
    filled.compare(report, what);
  }
  if (!is_filling) throw NotApplicable{"it does not fill memory: " + reason};
}

}  // namespace

void add_fill_checks(Checks& checks) {
  checks.push_back({"fill", "a pattern is repeated where it should be, and nowhere else", fills});
}

}  // namespace ferrule::conformance
