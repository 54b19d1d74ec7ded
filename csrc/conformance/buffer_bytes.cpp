#include "conformance/buffer_bytes.h"

#include <algorithm>
#include <random>

namespace ferrule::conformance {

Bytes random_bytes(uint64_t size, uint64_t seed) {
  std::mt19937_64 generator(seed);
  Bytes bytes(size);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(generator() & 0xff); });
  return bytes;
}

void write_bytes(const Device& device, fe_module_queue* queue, const Buffer& to, std::span<const char> bytes,
                 uint64_t offset) {
  expect(
      take(device.backend()->copy_from_host(device.handle(), queue, to.handle(), offset, bytes.data(), bytes.size())),
      "copy_from_host");
  expect(finish(device, queue), "copy_from_host");
}

Bytes read_bytes(const Device& device, fe_module_queue* queue, const Buffer& from, uint64_t size, uint64_t offset) {
  Bytes bytes(size);
  expect(take(device.backend()->copy_to_host(device.handle(), queue, bytes.data(), from.handle(), offset, size)),
         "copy_to_host");
  expect(finish(device, queue), "copy_to_host");
  return bytes;
}

bool expect_bytes(Report& report, std::span<const char> got, std::span<const char> wanted, const std::string& what) {
  if (got.size() != wanted.size())
    throw Failure{what + ": " + std::to_string(got.size()) + " bytes are compared with " +
                  std::to_string(wanted.size())};
  const auto differs = std::mismatch(got.begin(), got.end(), wanted.begin()).first;
  if (differs == got.end()) return true;
  const auto at = static_cast<size_t>(differs - got.begin());
  const auto number = [](char byte) { return std::to_string(static_cast<unsigned char>(byte)); };
  report.problem(what + ": byte " + std::to_string(at) + " of " + std::to_string(got.size()) + " is " +
                 number(got[at]) + ", and must be " + number(wanted[at]));
  return false;
}

}  // namespace ferrule::conformance
