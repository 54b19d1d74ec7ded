// The slot copy, within a buffer and between two.
#include "conformance/buffer_bytes.h"

#include <algorithm>
#include <string>

namespace ferrule::conformance {
namespace {

struct Part {
  uint64_t to, from, size;
};
// Apart, side by side, and overlapping in both directions, by one byte or by all but one.
constexpr Part parts[] = {{0, 2048, 1024}, {1031, 7, 1024}, {1024, 0, 1024},  {0, 1024, 1024}, {1, 0, 4095},
                          {0, 1, 4095},    {17, 17, 300},   {300, 100, 1001}, {100, 300, 999}, {1023, 0, 1024},
                          {0, 1023, 1024}, {4095, 0, 1},    {5, 4000, 0},     {2, 1, 3}};

void copies(const Subject& subject, Report& report, const void*) {
  constexpr uint64_t size = 4096;
  const Opened opened(subject);
  const Device& device = opened.device;
  const Buffer first(device, size), second(device, size);
  Bytes wanted = random_bytes(size, subject.seed), others = random_bytes(size, subject.seed + 1);
  write_bytes(device, device.queue(), first, wanted);
  write_bytes(device, device.queue(), second, others);
  const auto copy = [&](const Buffer& to, const Buffer& from, const Part& part, const std::string& what) {
    expect(take(device.backend()->copy(device.handle(), device.queue(), to.handle(), part.to, from.handle(), part.from,
                                       part.size)),
           what);
  };
  const auto moved = [](Bytes& to, const Bytes& from, const Part& part) {
    const Bytes bytes(from.begin() + static_cast<ptrdiff_t>(part.from),
                      from.begin() + static_cast<ptrdiff_t>(part.from + part.size));
    std::copy(bytes.begin(), bytes.end(), to.begin() + static_cast<ptrdiff_t>(part.to));
  };
  for (const Part& part : parts) {
    const std::string what = "copy of " + std::to_string(part.size) + " bytes from byte " + std::to_string(part.from) +
                             " to byte " + std::to_string(part.to);
    const std::string within = what + " of the same buffer", between = what + " of another buffer";
    report.now(within);
    copy(first, first, part, within);
    moved(wanted, wanted, part);
    expect(finish(device, device.queue()), within);
    if (!expect_bytes(report, read_bytes(device, device.queue(), first, size), wanted, within)) return;
    report.now(between);
    copy(second, first, part, between);
    moved(others, wanted, part);
    expect(finish(device, device.queue()), between);
    if (!expect_bytes(report, read_bytes(device, device.queue(), second, size), others, between)) return;
  }
  const std::string what = "copies without waits in between, in the order in which they were given";
  report.now(what);
  for (const Part& part : parts) {
    copy(first, first, part, what);
    moved(wanted, wanted, part);
    copy(second, first, part, what);
    moved(others, wanted, part);
  }
  expect(finish(device, device.queue()), what);
  if (!expect_bytes(report, read_bytes(device, device.queue(), first, size), wanted, what)) return;
  expect_bytes(report, read_bytes(device, device.queue(), second, size), others, what);
}

}  // namespace

void add_copy_checks(Checks& checks) {
  checks.push_back(
      {"copy", "bytes are where they should be, also if the ranges overlap, and no others change", copies});
}

}  // namespace ferrule::conformance
