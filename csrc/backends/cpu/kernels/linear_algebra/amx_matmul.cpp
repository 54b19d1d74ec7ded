// Matrix products of bfloat16, and of bytes, by the tile registers of AMX. Only variants with AMX have it.
//
// The instructions take subnormal numbers for zeros, in A, in B and in sums. A sum loses at most 2^-126 with each
// product of normal numbers, and 2^-126 times the other factor with each subnormal one, which is less than by rounding
// if the result is 2^24 times as large. So packing notes the least and the largest magnitude of each row of A and
// column of B, and an element whose result is too small for these is computed again without AMX.
#include "../../amx_permission.h"
#include "amx_registers.h"
#include "grouped_bytes.h"
#include "grouped_product.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

class SquareTiles : public Tiles {
 public:
  SquareTiles() { set(TileShapes()); }
};

struct Bfloat16Instruction {
  template <int c, int a, int b>
  static HWY_INLINE void run(Tiles& tiles) {
    tiles.add_products_bf16<c, a, b>();
  }
};
struct ByteInstruction {
  template <int c, int a, int b>
  static HWY_INLINE void run(Tiles& tiles) {
    tiles.add_products_of_bytes<c, a, b>();
  }
};

// sums[32][32] = a * b, of which the last 16 rows may be left out.
template <class Instruction, bool has_16_rows>
void multiply_block(Tiles& tiles, const char* a, const char* b, int64_t steps, void* sums) {
  tiles.zero<0>();
  tiles.zero<1>();
  if constexpr (!has_16_rows) {
    tiles.zero<2>();
    tiles.zero<3>();
  }
  for (int64_t step = 0; step < steps; ++step, a += 2 * tile_bytes, b += 2 * tile_bytes) {
    // Few rows wait for the memory of B.
    if constexpr (has_16_rows)
      for (int64_t i = 0; i < 2 * tile_bytes; i += 64) __builtin_prefetch(b + 4 * tile_bytes + i);
    tiles.load<4>(a);
    tiles.load<6>(b);
    tiles.load<7>(b + tile_bytes);
    Instruction::template run<0, 4, 6>(tiles);
    Instruction::template run<1, 4, 7>(tiles);
    if constexpr (!has_16_rows) {
      tiles.load<5>(a + tile_bytes);
      Instruction::template run<2, 5, 6>(tiles);
      Instruction::template run<3, 5, 7>(tiles);
    }
  }
  constexpr int64_t pitch = block * 4, half = tile_rows * 4;
  char* const to = static_cast<char*>(sums);
  tiles.store<0>(to, pitch);
  tiles.store<1>(to + half, pitch);
  if constexpr (!has_16_rows) {
    tiles.store<2>(to + tile_rows * pitch, pitch);
    tiles.store<3>(to + tile_rows * pitch + half, pitch);
  }
}
template <class Instruction>
void multiply_rows(Tiles& tiles, const char* a, const char* b, int64_t steps, int64_t rows, void* sums) {
  rows <= tile_rows ? multiply_block<Instruction, true>(tiles, a, b, steps, sums)
                    : multiply_block<Instruction, false>(tiles, a, b, steps, sums);
}

struct AmxBfloat16 {
  using Element = uint16_t;
  using Sum = float;
  using Result = BFloat16;
  using Own = float;
  using Engine = SquareTiles;
  // A note has in its lower half the bits of the least magnitude but zero, minus 1; in its upper half 0x7fff minus
  // those of the largest.
  static constexpr uint32_t no_note = 0x7fffffff;
  static constexpr uint16_t flip_a = 0, flip_b = 0;

  explicit AmxBfloat16(const Call&) {}

  static HWY_INLINE GroupWords with_b(GroupWords notes, GroupWords words) {
    const Full<uint32_t> d;
    const Full<uint16_t> d16;
    const auto all = hn::Set(d16, 0x7fff), lower = hn::BitCast(d16, hn::Set(d, 0xffff));
    const auto magnitudes = hn::And(hn::BitCast(d16, words), all);
    const auto least = hn::Sub(magnitudes, hn::Set(d16, 1)), largest = hn::Xor(magnitudes, all);
    const auto swapped = hn::RotateRight<16>(hn::BitCast(d, hn::IfVecThenElse(lower, largest, least)));
    const auto both = hn::Min(hn::IfVecThenElse(lower, least, largest), hn::BitCast(d16, swapped));
    return hn::BitCast(d, hn::Min(hn::BitCast(d16, notes), both));
  }
  static HWY_INLINE GroupWords with_a(GroupWords notes, GroupWords words) { return with_b(notes, words); }
  static uint32_t note_of(GroupWords notes) {
    const Full<uint32_t> d;
    const auto least = hn::MinOfLanes(d, hn::And(notes, hn::Set(d, 0xffff)));
    return hn::GetLane(least) | hn::GetLane(hn::MinOfLanes(d, hn::ShiftRight<16>(notes))) << 16;
  }

  static void multiply(Tiles& tiles, const char* a, const char* b, int64_t steps, int64_t rows, float* sums) {
    multiply_rows<Bfloat16Instruction>(tiles, a, b, steps, rows, sums);
  }

  using Panels = GroupedPanels<AmxBfloat16>;
  static void correct(const Panels& panels, char* a, char* b, int64_t k, int64_t rows, int64_t columns, float* sums) {
    const uint32_t *of_a = panels.notes(a), *of_b = panels.notes(b);
    uint32_t of_all = no_note;
    for (int64_t j = 0; j < columns; ++j)
      of_all = smaller(of_all & 0xffff, of_b[j] & 0xffff) | smaller(of_all >> 16, of_b[j] >> 16) << 16;
    for (int64_t i = 0; i < rows; ++i) {
      if (lossy_below(of_a[i], of_all) == 0) continue;
      for (int64_t j = 0; j < columns; ++j) {
        const float bound = lossy_below(of_a[i], of_b[j]);
        float& sum = sums[i * block + j];
        if (bound == 0 || __builtin_fabsf(sum) >= bound) continue;  // NaN may be infinity times a subnormal number
        sum = 0;
        for (int64_t q = 0; q < k; ++q)
          sum += widen(BFloat16{Panels::of_row(a, i, q)}) * widen(BFloat16{Panels::of_column(b, j, q)});
      }
    }
  }
  // Results of a smaller magnitude may have lost too much.
  static float lossy_below(uint32_t a, uint32_t b) {
    // Biased exponents: 0 of subnormal numbers.
    const auto least = [](uint32_t note) { return ((note & 0xffff) + 1) >> 7; };
    const auto largest = [](uint32_t note) { return (0x7fff - (note >> 16)) >> 7; };
    constexpr uint32_t bias = 127;
    uint32_t bound = least(a) + least(b) < 2 * bias - 102 ? bias - 102 : 0;
    // A subnormal number times one below 2^(e + 1) loses less than 2^(e + 1 - 126).
    const auto add = [&](uint32_t e) { bound = e > bias - 26 && e - (bias - 26) > bound ? e - (bias - 26) : bound; };
    if (least(a) == 0) add(largest(b));
    if (least(b) == 0) add(largest(a));
    return __builtin_bit_cast(float, bound << 23);
  }

  static void put(const float* sums, int64_t count, BFloat16* out) { narrow_all(sums, count, out); }
  static void put(const float* sums, int64_t count, float* own) {
    for (int64_t j = 0; j < count; ++j) own[j] = sums[j];
  }
};

template <class Result>
struct AmxBytes : ByteFactors<Result> {
  using Engine = SquareTiles;
  using ByteFactors<Result>::ByteFactors;

  static void multiply(Tiles& tiles, const char* a, const char* b, int64_t steps, int64_t rows, uint32_t* sums) {
    multiply_rows<ByteInstruction>(tiles, a, b, steps, rows, sums);
  }
};

bool accepts_bytes(const Call& call) { return may_use_amx() && are_bytes(call); }
bool accepts_bfloat16(const Call& call) {
  return may_use_amx() && call.in_count >= 2 && call.in[1].dtype == DType::bf16 && call.in[0].rank > 0 &&
         call.in[1].rank > 0;
}

}  // namespace

KERNEL(amx_matmul, .op = "matmul", .dtypes = one_of(DType::bf16), .takes_epilogue = true, .accepts = accepts_bfloat16,
       .scratch_size = grouped_scratch_size<AmxBfloat16>, .local_scratch = grouped_local_scratch<AmxBfloat16>,
       .prepare_size = grouped_prepare_size<AmxBfloat16>, .prepare = prepare_groups<AmxBfloat16>) {
  return multiply_groups<AmxBfloat16>(call);
}

KERNEL(amx_byte_matmul, .op = "matmul", .dtypes = byte_dtypes, .takes_epilogue = true, .accepts = accepts_bytes,
       .scratch_size = grouped_scratch_size<AmxBytes<uint8_t>>,
       .local_scratch = grouped_local_scratch<AmxBytes<uint8_t>>,
       .prepare_size = grouped_prepare_size<AmxBytes<uint8_t>>, .prepare = prepare_groups<AmxBytes<uint8_t>>) {
  return multiply_groups<AmxBytes<uint8_t>>(call);
}

KERNEL(amx_byte_matmul_integer, .op = "matmul_integer", .dtypes = byte_dtypes, .takes_epilogue = true,
       .accepts = accepts_bytes, .scratch_size = grouped_scratch_size<AmxBytes<int32_t>>,
       .local_scratch = grouped_local_scratch<AmxBytes<int32_t>>,
       .prepare_size = grouped_prepare_size<AmxBytes<int32_t>>, .prepare = prepare_groups<AmxBytes<int32_t>>) {
  return multiply_groups<AmxBytes<int32_t>>(call);
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
