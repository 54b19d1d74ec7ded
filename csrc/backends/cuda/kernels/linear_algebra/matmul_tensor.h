// Matrix products of float16 and bfloat16, and of float32 rounded to tf32, with float32 sums, by matrix instructions
// (compute capability 8.0). Tiles of A and B come into shared memory by cp.async, several steps ahead.
//
// The hardware adds the products of an instruction in an order of its own. So all sizes use m16n8k16, or m16n8k8 for
// tf32, with rows of A as its rows, also where few rows leave most of it unused.
//
// Both instructions take the same registers: 32 bytes of each row of A and of each column of B.
//
// Limits: matrix instructions for large matrices; the bytes of B, or of A, for a few rows or columns.
#pragma once

#include <type_traits>

#include "kernels/async_copies.h"
#include "kernels/linear_algebra/matmul_shapes.h"
#include "kernels/linear_algebra/matmul_tiles.h"
#include "kernels/matrix_instructions.h"

namespace ferrule::cuda {

struct [[gnu::may_alias]] alignas(16) Chunk {  // eight items of 2 bytes, or four of 4
  uint32_t words[4];
};

// OUTER x DEPTH items of an operand in shared memory, where `outer` is M or N: rows of chunks, along K or along OUTER
// as in global memory. What a warp reads at once lies in different banks: ldmatrix reads eight rows of one column of
// chunks, and the chunks of a row are permuted by the row's number. It does not transpose items of 4 bytes: a warp
// reads eight items of each of four rows, and rows are two chunks longer.
template <class Bits, int OUTER, int DEPTH, int THREADS, bool ALONG_K>
class OperandTile {
 public:
  static constexpr uint32_t items = 16 / sizeof(Bits);  // of a chunk
  static constexpr uint32_t rows = ALONG_K ? OUTER : DEPTH, chunks = (ALONG_K ? DEPTH : OUTER) / items;
  static constexpr bool has_ldmatrix = ALONG_K || sizeof(Bits) == 2;
  static constexpr uint32_t pitch = chunks + (has_ldmatrix ? 0 : 2), size = rows * pitch;

  // The part of the operand from `first` on, of which `outer_count` rows or columns exist.
  __device__ __forceinline__ OperandTile(const Bits* first, uint32_t outer_count, int64_t outer_stride,
                                         int64_t k_stride)
      : outer_count_(outer_count),
        row_(threadIdx.x / chunks),
        row_stride_(ALONG_K ? outer_stride : k_stride),
        along_(ALONG_K ? k_stride : outer_stride),
        next_(first + row_ * row_stride_ + chunk() * items * along_),
        is_vector_(along_ == 1 && row_stride_ % items == 0 && is_aligned(first, 16)) {}

  // Starts to copy the next part, of which `left` items along K exist, with zeros outside of the matrix.
  __device__ __forceinline__ void copy(Chunk* tile, uint32_t left) {
    static_assert(rows * chunks % THREADS == 0 && THREADS % chunks == 0);
    constexpr uint32_t step = THREADS / chunks;
    const uint32_t row_count = ALONG_K ? outer_count_ : left, length = ALONG_K ? left : outer_count_;
    const uint32_t rest = length < chunk() * items ? 0 : length - chunk() * items, most = rest < items ? rest : items;
    if (is_vector_) {
#pragma unroll
      for (uint32_t i = 0; i < rows * chunks / THREADS; ++i)
        cp_async_16(tile + chunk_at(row_ + i * step, chunk()), next_ + i * (step * row_stride_),
                    row_ + i * step < row_count ? most * sizeof(Bits) : 0);
    } else {
      const Bits* from = next_;
#pragma unroll 1
      for (uint32_t row = row_; row < rows; row += step) {
        Chunk chunk_of_row{};
#pragma unroll
        for (uint32_t j = 0; j < items; ++j)
          if (row < row_count && j < most)
            chunk_of_row.words[j * sizeof(Bits) / 4] |= static_cast<uint32_t>(from[j * along_])
                                                        << 8 * (j * sizeof(Bits) % 4);
        tile[chunk_at(row, chunk())] = chunk_of_row;
        from += step * row_stride_;
      }
    }
    next_ += DEPTH * (ALONG_K ? along_ : row_stride_);
  }

  // The registers of a matrix instruction: 16 rows of A from row `outer` on, two chunks of each.
  __device__ __forceinline__ static void read_a(uint32_t (&to)[4], const Chunk* tile, uint32_t outer, uint32_t k) {
    const uint32_t lane = threadIdx.x % 32;
    if constexpr (ALONG_K) {
      ldmatrix_x4(to, tile + chunk_at(outer + lane % 16, k / items + lane / 16));
    } else if constexpr (has_ldmatrix) {
      ldmatrix_x4_transposed(to, tile + chunk_at(k + lane / 16 * 8 + lane % 8, outer / 8 + lane / 8 % 2));
    } else {
#pragma unroll
      for (uint32_t i = 0; i < 4; ++i) to[i] = word_at(tile, k + i / 2 * 4 + lane % 4, outer + i % 2 * 8 + lane / 4);
    }
  }
  // Registers for two instructions: 16 columns of B from column `outer` on. The first two registers hold the first
  // eight columns.
  __device__ __forceinline__ static void read_b(uint32_t (&to)[4], const Chunk* tile, uint32_t outer, uint32_t k) {
    const uint32_t lane = threadIdx.x % 32;
    if constexpr (ALONG_K) {
      ldmatrix_x4(to, tile + chunk_at(outer + lane / 16 * 8 + lane % 8, k / items + lane / 8 % 2));
    } else if constexpr (has_ldmatrix) {
      ldmatrix_x4_transposed(to, tile + chunk_at(k + lane % 16, outer / 8 + lane / 16));
    } else {
#pragma unroll
      for (uint32_t i = 0; i < 4; ++i) to[i] = word_at(tile, k + i % 2 * 4 + lane % 4, outer + i / 2 * 8 + lane / 4);
    }
  }

 private:
  __device__ __forceinline__ static uint32_t chunk() { return threadIdx.x % chunks; }
  __device__ __forceinline__ static uint32_t chunk_at(uint32_t row, uint32_t chunk) {
    constexpr uint32_t permuted = chunks < 8 ? chunks : 8, rows_of_all_banks = 8 / permuted;
    if constexpr (!has_ldmatrix) return row * pitch + chunk;
    return row * chunks + (chunk ^ (row / rows_of_all_banks % permuted));
  }
  __device__ __forceinline__ static uint32_t word_at(const Chunk* tile, uint32_t k, uint32_t outer) {
    return reinterpret_cast<const uint32_t*>(tile + k * pitch)[outer];
  }

  uint32_t outer_count_, row_;
  int64_t row_stride_, along_;
  const Bits* next_;  // this thread's first chunk of the next part
  bool is_vector_;    // chunks are contiguous and aligned
};

template <int OUTER, int DEPTH, int THREADS, bool ALONG_K>
using HalfTile = OperandTile<uint16_t, OUTER, DEPTH, THREADS, ALONG_K>;

// A tile of M x N by WARPS_M x WARPS_N warps, in steps of 2 DEPTH bytes along K: DEPTH items of Half or BFloat16, or
// half as many of float, which are rounded to tf32.
template <int M, int N, int DEPTH, int WARPS_M, int WARPS_N, int STAGES>
struct TensorTile {
  static constexpr TensorShape shape = {M, N, DEPTH, WARPS_M, WARPS_N, STAGES};
  static constexpr uint32_t threads = shape.threads(), rows = M, columns = N;
  static constexpr int shared_bytes = shape.shared_bytes();         // at least
  static constexpr int own_m = M / WARPS_M, own_n = N / WARPS_N;    // of a warp
  static constexpr int tiles_m = own_m / 16, pairs_n = own_n / 16;  // instructions
  static constexpr int count = tiles_m * pairs_n * 8;               // sums of a thread
  static constexpr int steps_k = DEPTH / 16;
  static_assert(own_m % 16 == 0 && own_n % 16 == 0 && steps_k % 2 == 0 && STAGES >= 3);

  template <class Item, bool A_ALONG_K, bool B_ALONG_K>
  static constexpr int shared_bytes_of = shape.shared_bytes(sizeof(Item) == 2
                                                                ? 0
                                                                : (A_ALONG_K ? 0 : 1) + (B_ALONG_K ? 0 : 1));

  struct Fragments {
    uint32_t a[tiles_m][4], b[pairs_n][4];
  };

  __device__ __forceinline__ static void round_to_tf32(uint32_t (&registers)[4]) {
#pragma unroll
    for (uint32_t& bits : registers) bits = tf32_bits(bits);
  }

  template <class Item>
  __device__ __forceinline__ static void multiply(float (&sums)[count], Fragments& fragments) {
    if constexpr (std::is_same_v<Item, float>) {
#pragma unroll
      for (int i = 0; i < tiles_m; ++i) round_to_tf32(fragments.a[i]);
#pragma unroll
      for (int j = 0; j < pairs_n; ++j) round_to_tf32(fragments.b[j]);
    }
#pragma unroll
    for (int i = 0; i < tiles_m; ++i)
#pragma unroll
      for (int j = 0; j < pairs_n * 2; ++j) {
        float(&sum)[4] = *reinterpret_cast<float(*)[4]>(sums + (i * pairs_n * 2 + j) * 4);
        const uint32_t b[2] = {fragments.b[j / 2][j % 2 * 2], fragments.b[j / 2][j % 2 * 2 + 1]};
        if constexpr (std::is_same_v<Item, float>)
          mma_m16n8k8_tf32(sum, fragments.a[i], b);
        else
          mma_m16n8k16<Item>(sum, fragments.a[i], b);
      }
  }

  // Gives the totals of a warp to `put(row, column, pack)`, 16 rows at a time, by way of shared memory: a thread has
  // neighbours of a row then, and the code for them exists once. Rows and columns count from those of the warp.
  using Rows = SumRows<own_n>;
  static constexpr uint32_t pitch = Rows::pitch;
  __device__ __forceinline__ static Pack<float, 2>* pair_in(float* buffer, uint32_t j) {
    const uint32_t lane = threadIdx.x % 32;
    return reinterpret_cast<Pack<float, 2>*>(buffer + Rows::place(lane / 4 + j % 2 * 8, j / 2 * 8 + lane % 4 * 2));
  }
  template <class Put>
  __device__ __forceinline__ static void hand_out(const MatmulParameters& p, const float (&totals)[count],
                                                  const float (&sums)[count], float* buffer, const Put& put) {
    static_assert(WARPS_M * WARPS_N * 16 * pitch * sizeof(float) <= shared_bytes);
    constexpr uint32_t together = 8, lanes_of_row = own_n / together, rows_at_once = 32 / lanes_of_row;
    const uint32_t lane = threadIdx.x % 32, column = lane % lanes_of_row * together;
#pragma unroll 1
    for (uint32_t tile = 0; tile < tiles_m; ++tile) {
#pragma unroll
      for (uint32_t i = 0; i < tiles_m; ++i) {
        if (i != tile) continue;
#pragma unroll
        for (uint32_t j = 0; j < pairs_n * 4; ++j) {
          const float* const pair = sums + (i * pairs_n * 4 + j) * 2;
          *pair_in(buffer, j) = {{pair[0], pair[1]}};
        }
      }
#pragma unroll 1
      for (uint32_t j = 0; j < pairs_n * 4; ++j) {
        Pack<float, 2>& pair = *pair_in(buffer, j);
        const uint32_t first = (tile * pairs_n * 4 + j) * 2;
        pair = {{total_at(totals, first, p) + pair.of[0], total_at(totals, first + 1, p) + pair.of[1]}};
      }
      __syncwarp();
#pragma unroll 1
      for (uint32_t row = lane / lanes_of_row; row < 16; row += rows_at_once)
        put(tile * 16 + row, column, Rows::read(buffer, row, column));
      __syncwarp();
    }
  }
  template <class Item>
  __device__ __forceinline__ static void store(const MatmulParameters& p, const TilePlace& place,
                                               const float (&totals)[count], const float (&sums)[count], float* buffer,
                                               uint32_t warp_m, uint32_t warp_n) {
    hand_out(p, totals, sums, buffer, [&](uint32_t row, uint32_t column, const Pack<float, 8>& pack) {
      store_sums<Item>(p, place, place.first_m + warp_m + row, place.first_n + warp_n + column, pack);
    });
  }

  // The place of a warp in the tile, and its part of the shared memory for hand_out().
  __device__ __forceinline__ static uint32_t warp_m() { return threadIdx.x / 32 / WARPS_N * own_m; }
  __device__ __forceinline__ static uint32_t warp_n() { return threadIdx.x / 32 % WARPS_N * own_n; }
  __device__ __forceinline__ static float* buffer_of_warp() {
    FERRULE_DYNAMIC_SHARED(float, memory);
    return memory + threadIdx.x / 32 * 16 * pitch;
  }

  template <class Item, bool A_ALONG_K, bool B_ALONG_K>
  __device__ __forceinline__ static void run(const MatmulParameters& p) {
    if constexpr (has_mma_m16n8k16) {
      float sums[count], totals[count];
      add_up<Item, A_ALONG_K, B_ALONG_K>(p, sums, totals);
      store<Item>(p, place_of_tile<M, N>(p), totals, sums, buffer_of_warp(), warp_m(), warp_n());
    }
  }

  // Computes the sums of the last segment, and the totals of those before. Nobody reads the shared memory afterwards.
  template <class Item, bool A_ALONG_K, bool B_ALONG_K>
  __device__ __forceinline__ static void add_up(const MatmulParameters& p, float (&sums)[count],
                                                float (&totals)[count]) {
    if constexpr (has_mma_m16n8k16) {
      using Bits = std::conditional_t<sizeof(Item) == 2, uint16_t, uint32_t>;
      constexpr uint32_t depth = DEPTH * 2 / sizeof(Item), step = depth / steps_k;
      using TileA = OperandTile<Bits, M, depth, threads, A_ALONG_K>;
      using TileB = OperandTile<Bits, N, depth, threads, B_ALONG_K>;
      constexpr int stage = TileA::size + TileB::size;
      static_assert(sizeof(Chunk) * stage * STAGES == shared_bytes_of<Item, A_ALONG_K, B_ALONG_K>);
      FERRULE_DYNAMIC_SHARED(Chunk, memory);

      const TilePlace place = place_of_tile<M, N>(p);
      TileA a(pointer<const Bits>(p.a) + offset_of(p.a_batches, place.batch) + place.first_m * p.a_row +
                  place.start * p.a_column,
              p.m - place.first_m, p.a_row, p.a_column);
      TileB b(pointer<const Bits>(p.b) + offset_of(p.b_batches, place.batch) + place.first_n * p.b_column +
                  place.start * p.b_row,
              p.n - place.first_n, p.b_column, p.b_row);
      const uint32_t own_row = warp_m(), own_column = warp_n();

      uint32_t next_copy = place.start;  // along K
      const auto copy = [&](uint32_t slot) {
        if (next_copy < place.stop) {
          a.copy(memory + slot * stage, place.stop - next_copy);
          b.copy(memory + slot * stage + TileA::size, place.stop - next_copy);
          next_copy += depth;
        }
        cp_async_commit();
      };
      const auto read = [&](Fragments& to, uint32_t slot, uint32_t k) {
        const Chunk* const tile = memory + slot * stage;
#pragma unroll
        for (uint32_t i = 0; i < tiles_m; ++i) TileA::read_a(to.a[i], tile, own_row + i * 16, k);
#pragma unroll
        for (uint32_t j = 0; j < pairs_n; ++j) TileB::read_b(to.b[j], tile + TileA::size, own_column + j * 16, k);
      };

#pragma unroll
      for (int i = 0; i < count; ++i) sums[i] = 0;
      // Fragments are read one instruction ahead, and stages are copied STAGES - 1 steps ahead.
      Fragments fragments[2];
      for (uint32_t i = 0; i < STAGES - 1; ++i) copy(i);
      cp_async_wait<STAGES - 2>();
      __syncthreads();
      if (place.start < place.stop) read(fragments[0], 0, 0);
      uint32_t slot = 0, segment_end = p.is_split != 0 ? no_end : p.segment;
      for (uint32_t k = place.start; k < place.stop;) {
        k += depth;
        const uint32_t next_slot = slot + 1 == STAGES ? 0 : slot + 1;
#pragma unroll
        for (uint32_t i = 0; i < steps_k; ++i) {
          // The slot of the step before: its last reader passed the barrier below.
          if (i == 0) copy(slot == 0 ? STAGES - 1 : slot - 1);
          if (i + 1 < steps_k) {
            read(fragments[(i + 1) % 2], slot, (i + 1) * step);
          } else {
            cp_async_wait<STAGES - 2>();
            __syncthreads();
            if (k < place.stop) read(fragments[0], next_slot, 0);
          }
          multiply<Item>(sums, fragments[i % 2]);
        }
        slot = next_slot;
        if (k == segment_end && k < place.stop) {
          end_segment(totals, sums, segment_end == p.segment, p);
          segment_end += p.segment;
        }
      }
      __syncthreads();
    }
  }
};

template <TensorShape SHAPE>
using TileOf = TensorTile<SHAPE.m, SHAPE.n, SHAPE.depth, SHAPE.warps_m, SHAPE.warps_n, SHAPE.stages>;
using LargeTile = TileOf<large_shape>;
using MediumTile = TileOf<medium_shape>;
using SmallTile = TileOf<small_shape>;
using RowsTile = TileOf<rows_shape>;
using ColumnsTile = TileOf<columns_shape>;

// The kernels of one tile and dtype. The last letters of their names are the axes along which A and B are contiguous.
// `...`: see FERRULE_KERNEL.
#define TENSOR_PRODUCTS(name, Tile, Item, ...)                                                  \
  FERRULE_KERNEL(name##_kk, MatmulParameters, __VA_ARGS__) { Tile::run<Item, true, true>(p); }  \
  FERRULE_KERNEL(name##_kn, MatmulParameters, __VA_ARGS__) { Tile::run<Item, true, false>(p); } \
  FERRULE_KERNEL(name##_mk, MatmulParameters, __VA_ARGS__) { Tile::run<Item, false, true>(p); } \
  FERRULE_KERNEL(name##_mn, MatmulParameters, __VA_ARGS__) { Tile::run<Item, false, false>(p); }

}  // namespace ferrule::cuda
