// SHA-256 (FIPS 180-4). Uses the SHA instructions of x86 CPUs that have them.
#pragma once

#include "module_file/file_bytes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>
#define FERRULE_SHA_INSTRUCTIONS 1
#endif

namespace ferrule::module_file {

inline constexpr std::array<uint32_t, 64> sha256_constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

class Sha256 {
 public:
  enum class Method { fastest, portable };
  explicit Sha256(Method method = Method::fastest)
      : with_instructions_(method == Method::fastest && has_instructions) {}

  void update(std::span<const uint8_t> bytes) {
    total_ += bytes.size();
    if (filled_ > 0) {
      const std::size_t taken = std::min(bytes.size(), block_.size() - filled_);
      std::memcpy(block_.data() + filled_, bytes.data(), taken);
      filled_ += taken;
      bytes = bytes.subspan(taken);
      if (filled_ < block_.size()) return;
      compress(block_.data(), 1);
      filled_ = 0;
    }
    compress(bytes.data(), bytes.size() / 64);
    bytes = bytes.subspan(bytes.size() / 64 * 64);
    if (!bytes.empty()) std::memcpy(block_.data(), bytes.data(), bytes.size());
    filled_ = bytes.size();
  }

  // The hash as 64 hexadecimal digits in lower case.
  std::string finish() {
    const uint64_t bits = total_ * 8;
    std::array<uint8_t, 72> padding{0x80};
    const std::size_t zeros = (filled_ < 56 ? 56 : 120) - filled_;
    for (int i = 0; i < 8; ++i)
      padding[zeros + static_cast<std::size_t>(i)] = static_cast<uint8_t>(bits >> (56 - 8 * i));
    update({padding.data(), zeros + 8});
    std::string text;
    for (const uint32_t word : state_)
      for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 15];
    return text;
  }

 private:
  void compress(const uint8_t* data, std::size_t blocks) {
#if defined(FERRULE_SHA_INSTRUCTIONS)
    if (with_instructions_) return compress_with_instructions(data, blocks);
#endif
    for (; blocks > 0; --blocks, data += 64) compress_portably(data);
  }

  void compress_portably(const uint8_t* data) {
    std::array<uint32_t, 64> w;
    for (std::size_t i = 0; i < 16; ++i)
      w[i] = uint32_t{data[4 * i]} << 24 | uint32_t{data[4 * i + 1]} << 16 | uint32_t{data[4 * i + 2]} << 8 |
             data[4 * i + 3];
    for (std::size_t i = 16; i < 64; ++i) {
      const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
      const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (std::size_t i = 0; i < 64; ++i) {
      const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + sha256_constants[i] + w[i];
      const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const std::array<uint32_t, 8> added = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) state_[i] += added[i];
  }

#if defined(FERRULE_SHA_INSTRUCTIONS)
  // Initialised while the program is loaded. A local static could hang in the child of a fork that interrupts its
  // initialisation on another thread.
  inline static const bool has_instructions = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    const bool sse41 = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c >> 19 & 1) != 0 && (c >> 9 & 1) != 0;
    return sse41 && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b >> 29 & 1) != 0;
  }();

  // The instructions keep the state as (a, b, e, f) and (c, d, g, h), and compute two rounds each.
  __attribute__((target("sha,sse4.1,ssse3"))) void compress_with_instructions(const uint8_t* data, std::size_t blocks) {
    const __m128i byte_order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    const __m128i dcba = _mm_loadu_si128(reinterpret_cast<const __m128i*>(&state_[0]));
    const __m128i hgfe = _mm_loadu_si128(reinterpret_cast<const __m128i*>(&state_[4]));
    const __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    for (; blocks > 0; --blocks, data += 64) {
      const __m128i abef_before = abef, cdgh_before = cdgh;
      __m128i w[4];
      for (int i = 0; i < 4; ++i)
        w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(data + 16 * i)), byte_order);
      for (std::size_t i = 0; i < 16; ++i) {  // four rounds each
        const __m128i constants = _mm_loadu_si128(reinterpret_cast<const __m128i*>(&sha256_constants[4 * i]));
        const __m128i sum = _mm_add_epi32(w[0], constants);
        cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
        abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
        const __m128i middle = _mm_add_epi32(_mm_sha256msg1_epu32(w[0], w[1]), _mm_alignr_epi8(w[3], w[2], 4));
        const __m128i next = _mm_sha256msg2_epu32(middle, w[3]);
        w[0] = w[1], w[1] = w[2], w[2] = w[3], w[3] = next;
      }
      abef = _mm_add_epi32(abef, abef_before);
      cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    const __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(&state_[0]), _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(&state_[4]), _mm_alignr_epi8(dchg, feba, 8));
  }
#else
  static constexpr bool has_instructions = false;
#endif

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> block_{};
  std::size_t filled_ = 0;
  uint64_t total_ = 0;
  [[maybe_unused]] bool with_instructions_ = false;
};

// The hash of a whole file; nullopt when it cannot be read to its end.
inline std::optional<std::string> sha256_of(FileBytes& file) {
  if (!file.is_open()) return std::nullopt;
  Sha256 sha;
  std::vector<uint8_t> chunk(32 * 1024);  // fits the L1 cache, so that it stays there between reading and hashing
  std::size_t size = 0;
  for (uint64_t offset = 0; offset < file.size(); offset += size) {
    size = static_cast<std::size_t>(std::min<uint64_t>(chunk.size(), file.size() - offset));
    if (!file.read_now(offset, chunk.data(), size)) return std::nullopt;
    sha.update({chunk.data(), size});
  }
  return sha.finish();
}

inline std::optional<std::string> sha256_of_file(const std::filesystem::path& path) {
  FileBytes file(path);
  return sha256_of(file);
}

}  // namespace ferrule::module_file
