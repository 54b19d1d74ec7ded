// Matrix products of bfloat16, and of bytes, by the tile registers of AMX. Only variants with AMX have it.
//
// The instructions take subnormal numbers for zeros, in A, in B and in sums. A sum of normal numbers loses at most
// 2^-126 with each product, which is less than by rounding if no product or the result is smaller than 2^-102. So
// packing notes the smallest magnitude of each row of A and column of B, and an element for which they and the result
// are too small is computed again without AMX.
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
  static constexpr uint32_t no_note = 0x7fff;  // of the least magnitude
  static constexpr uint16_t flip_a = 0, flip_b = 0;

  explicit AmxBfloat16(const Call&) {}

  // The bits of the magnitude. A zero makes no small product.
  static HWY_INLINE GroupWords with_b(GroupWords least, GroupWords words) {
    const auto bits = hn::Set(Full<uint32_t>(), no_note), zero = hn::Zero(Full<uint32_t>());
    const auto magnitude = [&](GroupWords x) {
      const auto found = hn::And(x, bits);
      return hn::IfThenElse(hn::Eq(found, zero), bits, found);
    };
    return hn::Min(least, hn::Min(magnitude(words), magnitude(hn::ShiftRight<16>(words))));
  }
  static HWY_INLINE GroupWords with_a(GroupWords least, GroupWords words) { return with_b(least, words); }
  static uint32_t note_of(GroupWords least) { return hn::GetLane(hn::MinOfLanes(Full<uint32_t>(), least)); }

  static void multiply(Tiles& tiles, const char* a, const char* b, int64_t steps, int64_t rows, float* sums) {
    multiply_rows<Bfloat16Instruction>(tiles, a, b, steps, rows, sums);
  }

  using Panels = GroupedPanels<AmxBfloat16>;
  static void correct(const Panels& panels, char* a, char* b, int64_t k, int64_t rows, int64_t columns, float* sums) {
    const uint32_t *of_a = panels.notes(a), *of_b = panels.notes(b);
    uint32_t least_of_b = no_note;
    for (int64_t j = 0; j < columns; ++j) least_of_b = of_b[j] < least_of_b ? of_b[j] : least_of_b;
    for (int64_t i = 0; i < rows; ++i) {
      if (!is_lossy(of_a[i], least_of_b, 0)) continue;
      for (int64_t j = 0; j < columns; ++j)
        if (float& sum = sums[i * block + j]; is_lossy(of_a[i], of_b[j], sum)) {
          sum = 0;
          for (int64_t q = 0; q < k; ++q)
            sum += widen(BFloat16{Panels::of_row(a, i, q)}) * widen(BFloat16{Panels::of_column(b, j, q)});
        }
    }
  }
  static bool is_lossy(uint32_t a, uint32_t b, float sum) {
    const uint32_t of_a = a >> 7, of_b = b >> 7;  // biased exponents, which are 0 for subnormal numbers
    return of_a == 0 || of_b == 0 || (of_a + of_b < 2 * 127 - 102 && __builtin_fabsf(sum) < 0x1p-102f);
  }

  static void put(const float* sums, int64_t count, BFloat16* out) {
    for (int64_t j = 0; j < count; ++j) out[j] = narrow_bf16(sums[j]);
  }
  static void put(const float* sums, int64_t count, float* own) {
    memcpy(own, sums, static_cast<size_t>(count) * sizeof(float));
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
