// Matrix products of int8 and uint8 by matrix instructions (compute capability 8.0), modulo 2^32. Signed and unsigned
// products have the same last byte, and sums are exact, so any tile and any order of additions gives the same bits.
//
// Limits: matrix instructions for large matrices; bytes of B for few rows. An operand that is contiguous along the
// other axis than K is transposed in registers: they load the words of one step, while the step before is multiplied.
#pragma once

#include "kernels/async_copies.h"
#include "kernels/linear_algebra/matmul_shapes.h"
#include "kernels/linear_algebra/matmul_tiles.h"
#include "kernels/matrix_instructions.h"

namespace ferrule::cuda {

struct alignas(16) Bytes {
  uint32_t of[4];
};

// OUTER x DEPTH bytes of an operand in shared memory, in rows along K; `outer` is M or N. The chunks of a row are
// permuted by the row's number, so that eight rows of one column of chunks lie in different banks.
template <int OUTER, int DEPTH, int THREADS>
class ByteTile {
 public:
  static constexpr uint32_t chunks = DEPTH / 16, size = OUTER * chunks;

  __device__ __forceinline__ ByteTile(const uint8_t* first, uint32_t outer_count, int64_t outer_stride,
                                      int64_t k_stride)
      : outer_count_(outer_count), outer_stride_(outer_stride), k_stride_(k_stride), next_(first) {
    if (k_stride == 1 && outer_stride % 16 == 0 && is_aligned(first, 16))
      layout_ = along_k;
    else if (outer_stride == 1 && k_stride % 4 == 0 && is_aligned(first, 4) && outer_count % 4 == 0)
      layout_ = along_outer;
    else
      layout_ = any;
  }

  // Words of a transposed copy that are on their way: of the parts of four rows and 16 items that a thread has.
  static constexpr uint32_t parts = size / 4 < THREADS ? 1 : size / 4 / THREADS;
  struct Loaded {
    uint32_t words[parts][16];
  };

  // Starts to copy the next part, of which `left` items along K exist, with zeros outside of the matrix. finish_copy()
  // stores what is in `loaded`.
  __device__ __forceinline__ void start_copy(Bytes* tile, uint32_t left, Loaded& loaded) {
    if (layout_ == along_k) {
#pragma unroll 2
      for (uint32_t i = threadIdx.x; i < size; i += THREADS) {
        const uint32_t row = i / chunks, chunk = i % chunks;
        const uint32_t rest = row >= outer_count_ || left < chunk * 16 ? 0 : left - chunk * 16;
        cp_async_16(tile + chunk_at(row, chunk), next_ + row * outer_stride_ + chunk * 16, rest < 16 ? rest : 16);
      }
    } else if (layout_ == along_outer) {
#pragma unroll
      for (uint32_t i = 0; i < parts; ++i) load_words(loaded.words[i], threadIdx.x + i * THREADS, left);
    } else {
#pragma unroll 1
      for (uint32_t i = threadIdx.x; i < size; i += THREADS) {
        const uint32_t row = i % OUTER, chunk = i / OUTER;
        Bytes bytes{};
#pragma unroll
        for (uint32_t j = 0; j < 16; ++j)
          if (row < outer_count_ && chunk * 16 + j < left)
            bytes.of[j / 4] |= static_cast<uint32_t>(next_[row * outer_stride_ + (chunk * 16 + j) * k_stride_])
                               << j % 4 * 8;
        tile[chunk_at(row, chunk)] = bytes;
      }
    }
    next_ += DEPTH * k_stride_;
  }
  __device__ __forceinline__ void finish_copy(Bytes* tile, const Loaded& loaded) const {
    if (layout_ != along_outer) return;
#pragma unroll
    for (uint32_t i = 0; i < parts; ++i) store_transposed(tile, threadIdx.x + i * THREADS, loaded.words[i]);
  }

  // The registers of m16n8k32: 16 x 32 bytes of A from row `outer` on.
  __device__ __forceinline__ static void read_a(uint32_t (&to)[4], const Bytes* tile, uint32_t outer, uint32_t k) {
    const uint32_t lane = threadIdx.x % 32;
    ldmatrix_x4(to, tile + chunk_at(outer + lane % 16, k / 16 + lane / 16));
  }
  // Registers for two instructions: 32 x 16 bytes of B from column `outer` on. The first two registers hold the first
  // eight columns.
  __device__ __forceinline__ static void read_b(uint32_t (&to)[4], const Bytes* tile, uint32_t outer, uint32_t k) {
    const uint32_t lane = threadIdx.x % 32;
    ldmatrix_x4(to, tile + chunk_at(outer + lane / 16 * 8 + lane % 8, k / 16 + lane / 8 % 2));
  }

 private:
  enum Layout : uint32_t { along_k, along_outer, any };

  __device__ __forceinline__ static uint32_t chunk_at(uint32_t row, uint32_t chunk) {
    static_assert(chunks == 4);
    return row * chunks + (chunk ^ (row / 2 % chunks));
  }
  // Part `part` of a tile has sixteen items along K of four rows. Eight lanes read 32 adjacent bytes.
  __device__ __forceinline__ static uint32_t row_of(uint32_t part) { return part / chunks * 4; }
  __device__ __forceinline__ void load_words(uint32_t (&words)[16], uint32_t part, uint32_t left) const {
    const uint32_t row = row_of(part), first = part % chunks * 16;
    const bool exists = row < OUTER && row < outer_count_;
    const uint8_t* from = next_ + first * k_stride_ + row;
#pragma unroll
    for (uint32_t k = 0; k < 16; ++k, from += k_stride_)
      words[k] = exists && first + k < left ? *reinterpret_cast<const uint32_t*>(from) : 0;
  }
  // Lanes of odd groups of rows begin with their second row: the eight lanes that store together are then two rows of
  // different parity, whose chunks are all of the 32 banks.
  __device__ __forceinline__ static void store_transposed(Bytes* tile, uint32_t part, const uint32_t (&words)[16]) {
    const uint32_t row = row_of(part), chunk = part % chunks, is_odd = row / 4 % 2;
    if (row >= OUTER) return;
    const uint32_t even = is_odd != 0 ? 0x7632 : 0x5410, odd = even ^ 0x2222;
    Bytes rows[4];
#pragma unroll
    for (uint32_t j = 0; j < 4; ++j) {
      const uint32_t* const w = words + j * 4;
      const uint32_t low_01 = __byte_perm(w[0], w[1], 0x5140), low_23 = __byte_perm(w[2], w[3], 0x5140);
      const uint32_t high_01 = __byte_perm(w[0], w[1], 0x7362), high_23 = __byte_perm(w[2], w[3], 0x7362);
      rows[0].of[j] = __byte_perm(low_01, low_23, even);
      rows[1].of[j] = __byte_perm(low_01, low_23, odd);
      rows[2].of[j] = __byte_perm(high_01, high_23, even);
      rows[3].of[j] = __byte_perm(high_01, high_23, odd);
    }
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) tile[chunk_at(row + (i ^ is_odd), chunk)] = rows[i];
  }

  uint32_t outer_count_;
  int64_t outer_stride_, k_stride_;
  const uint8_t* next_;
  uint32_t layout_;
};

// A tile of M x N by WARPS_M x WARPS_N warps, in steps of 64 along K.
template <int M, int N, int WARPS_M, int WARPS_N, int STAGES>
struct ByteProduct {
  static constexpr ByteShape shape = {M, N, WARPS_M, WARPS_N, STAGES};
  static constexpr uint32_t threads = shape.threads(), depth = ByteShape::depth, shared_bytes = shape.shared_bytes();
  static constexpr int own_m = M / WARPS_M, own_n = N / WARPS_N, tiles_m = own_m / 16, pairs_n = own_n / 16;
  using TileA = ByteTile<M, depth, threads>;
  using TileB = ByteTile<N, depth, threads>;

  // Item: of the result. Stores 16 rows of a warp at a time by way of shared memory, so that the code that stores
  // exists once, and a thread stores eight neighbours.
  template <class Item>
  __device__ __forceinline__ static void store(const MatmulParameters& p, const TilePlace& place,
                                               const int32_t (&sums)[tiles_m][pairs_n * 2][4], uint32_t* buffer,
                                               uint32_t first_m, uint32_t first_n) {
    using Rows = SumRows<own_n>;
    constexpr uint32_t in_row = own_n / 8;
    static_assert(WARPS_M * WARPS_N * 16 * Rows::pitch * 4 <= shared_bytes);
    const uint32_t lane = threadIdx.x % 32;
#pragma unroll 1
    for (uint32_t tile = 0; tile < tiles_m; ++tile) {
#pragma unroll
      for (uint32_t i = 0; i < tiles_m; ++i) {
        if (i != tile) continue;
#pragma unroll
        for (uint32_t j = 0; j < pairs_n * 2; ++j)
#pragma unroll
          for (uint32_t r = 0; r < 4; ++r)
            buffer[Rows::place(lane / 4 + r / 2 * 8, j * 8 + lane % 4 * 2) + r % 2] =
                static_cast<uint32_t>(sums[i][j][r]);
      }
      __syncwarp();
#pragma unroll 1
      for (uint32_t i = lane; i < 16 * in_row; i += 32) {
        const uint32_t row = i / in_row, column = i % in_row * 8;
        store_sums<Item>(p, place, first_m + tile * 16 + row, first_n + column, Rows::read(buffer, row, column));
      }
      __syncwarp();
    }
  }

  template <class Item>
  __device__ __forceinline__ static void run(const MatmulParameters& p) {
    if constexpr (has_mma_m16n8k16) {
      constexpr uint32_t stage = TileA::size + TileB::size;
      FERRULE_DYNAMIC_SHARED(Bytes, memory);
      const TilePlace place = place_of_tile<M, N>(p);
      TileA a(pointer<const uint8_t>(p.a) + offset_of(p.a_batches, place.batch) + place.first_m * p.a_row +
                  place.start * p.a_column,
              p.m - place.first_m, p.a_row, p.a_column);
      TileB b(pointer<const uint8_t>(p.b) + offset_of(p.b_batches, place.batch) + place.first_n * p.b_column +
                  place.start * p.b_row,
              p.n - place.first_n, p.b_column, p.b_row);
      const uint32_t warp = threadIdx.x / 32, warp_m = warp / WARPS_N * own_m, warp_n = warp % WARPS_N * own_n;

      uint32_t next_copy = place.start;
      typename TileA::Loaded loaded_a;
      typename TileB::Loaded loaded_b;
      const auto start_copy = [&](uint32_t to) {
        const bool is_part = next_copy < place.stop;
        if (is_part) {
          a.start_copy(memory + to * stage, place.stop - next_copy, loaded_a);
          b.start_copy(memory + to * stage + TileA::size, place.stop - next_copy, loaded_b);
          next_copy += depth;
        }
        cp_async_commit();
        return is_part;
      };
      const auto finish_copy = [&](uint32_t to) {
        a.finish_copy(memory + to * stage, loaded_a);
        b.finish_copy(memory + to * stage + TileA::size, loaded_b);
      };
      int32_t sums[tiles_m][pairs_n * 2][4] = {};
#pragma unroll 1
      for (uint32_t i = 0; i < STAGES - 1; ++i)
        if (start_copy(i)) finish_copy(i);
      cp_async_wait<STAGES - 2>();
      __syncthreads();
      uint32_t slot = 0;
      for (uint32_t k = place.start; k < place.stop; k += depth) {
        // The slot of the step before: its last reader passed the barrier below.
        const uint32_t free_slot = slot == 0 ? STAGES - 1 : slot - 1;
        const bool is_copying = start_copy(free_slot);
        const Bytes* const tile_a = memory + slot * stage;
        const Bytes* const tile_b = tile_a + TileA::size;
#pragma unroll
        for (uint32_t within = 0; within < depth; within += 32) {
          uint32_t of_b[pairs_n][4];
#pragma unroll
          for (uint32_t j = 0; j < pairs_n; ++j) TileB::read_b(of_b[j], tile_b, warp_n + j * 16, within);
#pragma unroll
          for (uint32_t i = 0; i < tiles_m; ++i) {
            uint32_t of_a[4];
            TileA::read_a(of_a, tile_a, warp_m + i * 16, within);
#pragma unroll
            for (uint32_t j = 0; j < pairs_n * 2; ++j) {
              const uint32_t column[2] = {of_b[j / 2][j % 2 * 2], of_b[j / 2][j % 2 * 2 + 1]};
              mma_m16n8k32_s8(sums[i][j], of_a, column);
            }
          }
        }
        if (is_copying) finish_copy(free_slot);
        cp_async_wait<STAGES - 2>();
        __syncthreads();
        slot = slot + 1 == STAGES ? 0 : slot + 1;
      }
      store<Item>(p, place_of_tile<M, N>(p), sums,
                  reinterpret_cast<uint32_t*>(memory) + warp * 16 * SumRows<own_n>::pitch, place.first_m + warp_m,
                  place.first_n + warp_n);
    }
  }
};

}  // namespace ferrule::cuda
