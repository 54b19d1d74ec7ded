// Random bits: Philox 4x32 with 10 rounds (Salmon et al. 2011). Each vector lane computes one block of four words, from
// the block's number alone.
#include "op_attributes.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

using Words = Full<uint32_t>;
using Vector = hn::VFromD<Words>;

// The high words of the products of all lanes with `factor`, which is the same in all lanes, and the low words.
struct Product {
  Vector high, low;
};
HWY_INLINE Product product(Words d, Vector x, Vector factor) {
  const Full<uint64_t> wide;
  const auto even = hn::MulEven(x, factor);
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, x))), factor);
  return {hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even))),
          hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even))};
}

struct Generator {
  uint32_t key[2];
  uint32_t stream[2];

  // Writes the blocks that begin at `first`, as many as there are lanes. All have the same upper word of the counter.
  HWY_INLINE void write(uint64_t first, uint32_t* HWY_RESTRICT out) const {
    const Words d;
    const Vector factor0 = hn::Set(d, 0xD2511F53u), factor1 = hn::Set(d, 0xCD9E8D57u);
    Vector c0 = hn::Iota(d, static_cast<uint32_t>(first)), c1 = hn::Set(d, static_cast<uint32_t>(first >> 32));
    Vector c2 = hn::Set(d, stream[0]), c3 = hn::Set(d, stream[1]);
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; ++round) {
      const Product a = product(d, c0, factor0), b = product(d, c2, factor1);
      c0 = hn::Xor(hn::Xor(b.high, c1), hn::Set(d, k0));
      c2 = hn::Xor(hn::Xor(a.high, c3), hn::Set(d, k1));
      c1 = b.low;
      c3 = a.low;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    hn::StoreInterleaved4(c0, c1, c2, c3, d, out);
  }
};

bool accepts(const Call& call) {
  return call.in[0].dtype == DType::u32 && call.in[0].rank == 1 && call.in[0].shape[0] == 2 &&
         call.out[0].dtype == DType::u32;
}

}  // namespace

KERNEL(random_bits, .accepts = accepts) {
  constexpr int64_t lanes = static_cast<int64_t>(lanes_of<uint32_t>), run = 4 * lanes;
  const auto& attributes = attributes_of<fe_random_bits_attributes>(call);
  const auto* const key = reinterpret_cast<const uint32_t*>(call.in[0].data);
  const auto stream = static_cast<uint64_t>(attributes.stream);
  const Generator generator{{key[0], key[call.in[0].strides[0]]},
                            {static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)}};
  auto* const out = reinterpret_cast<uint32_t*>(call.out[0].data);
  // The grain is a multiple of `run`, so every range begins with a whole vector of blocks.
  return parallel(call, call.out[0].shape[0], 16384, [&](int64_t begin, int64_t end) {
    int64_t i = begin;
    for (; i + run <= end; i += run) generator.write(static_cast<uint64_t>(i / 4), out + i);
    if (i < end) {
      alignas(64) uint32_t rest[run];
      generator.write(static_cast<uint64_t>(i / 4), rest);
      __builtin_memcpy(out + i, rest, static_cast<size_t>(end - i) * sizeof(uint32_t));
    }
  });
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
