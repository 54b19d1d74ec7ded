// Matrix products without matrix instructions: tiles of A and B in shared memory, of which each thread computes a part.
//
// Large matrices are limited by fma: a thread of the 128 x 128 tile reads 16 values for 64 fma. Few rows are limited by
// the bytes of B: tiles of 4 or 16 rows load 16 KB for the next step while they compute.
#pragma once

#include <type_traits>

#include "kernels/linear_algebra/matmul_tiles.h"

namespace ferrule::cuda {

// Whether neighbours in memory are neighbours along K: known to the compiler where registers are scarce.
enum class Along { k, outer, either };

// OUTER x DEPTH values of an operand in shared memory, by K; `outer` is M or N. Threads load quads: four items along K,
// or along OUTER. The index along OUTER is flipped by bits of K, so that threads that store quads along K use different
// banks.
template <class Item, class Value, int OUTER, int DEPTH, int THREADS, Along ALONG>
class Tile {
 public:
  static constexpr int size = OUTER * DEPTH;

  // The part of the operand from `first` on, of which `outer_count` rows or columns and `k_count` items along K exist.
  __device__ __forceinline__ Tile(const Item* first, uint32_t outer_count, uint32_t k_count, int64_t outer_stride,
                                  int64_t k_stride, uint32_t along_k)
      : along_k_(ALONG == Along::either ? along_k != 0 : ALONG == Along::k),
        outer_(along_k_ ? threadIdx.x / quads_along_k : threadIdx.x % quads_along_outer * 4),
        depth_(along_k_ ? threadIdx.x % quads_along_k * 4 : threadIdx.x / quads_along_outer),
        step_(along_k_ ? k_stride : outer_stride),
        jump_(along_k_ ? THREADS / quads_along_k * outer_stride : THREADS / quads_along_outer * k_stride),
        next_(first + outer_ * outer_stride + depth_ * k_stride),
        is_vector_(step_ == 1 && (along_k_ ? outer_stride : k_stride) % 4 == 0 &&
                   (along_k_ ? k_count : outer_count) % 4 == 0 && is_aligned(first, alignof(Pack<Item, 4>))) {
#pragma unroll
    for (int i = 0; i < each; ++i) {
      const uint32_t rest = is_in_tile(i) && outer(i) < outer_count ? outer_count - outer(i) : 0;
      counts_ |= (rest == 0 ? 0 : along_k_ || rest > 4 ? 4 : rest) << 4 * i;
    }
  }

  // Loads the next part, of which `left` items along K exist, into registers.
  __device__ __forceinline__ void load(uint32_t left) {
    if (!is_vector_) return;
#pragma unroll
    for (int i = 0; i < each; ++i) {
      held_[i] = {};
      if (exists(i, left)) held_[i] = *reinterpret_cast<const Pack<Item, 4>*>(next_ + i * jump_);
    }
  }

  // Stores the same part in shared memory, without load() where quads are no vectors.
  __device__ __forceinline__ void store(Value* tile, int64_t k_stride, uint32_t left) {
    if (is_vector_) {
#pragma unroll
      for (int i = 0; i < each; ++i) put(tile, i, held_[i]);
    } else {
#pragma unroll 2
      for (int i = 0; i < each; ++i) {
        Pack<Item, 4> quad{};
        const Item* const from = next_ + i * jump_;
        const uint32_t count = along_k_ ? left - depth(i) : count_of(i);
#pragma unroll
        for (uint32_t j = 0; j < 4; ++j)
          if (exists(i, left) && j < count) quad.of[j] = from[j * step_];
        put(tile, i, quad);
      }
    }
    next_ += DEPTH * k_stride;
  }

  // COUNT values from `outer` on, which is a multiple of COUNT.
  template <int COUNT>
  __device__ __forceinline__ static Pack<Value, COUNT> read(const Value* tile, uint32_t depth, uint32_t outer) {
    return *reinterpret_cast<const Pack<Value, COUNT>*>(tile + depth * OUTER + (outer ^ flips(depth)));
  }

 private:
  static constexpr int quads = size / 4, each = (quads + THREADS - 1) / THREADS;
  static_assert(each <= 8);
  static constexpr int quads_along_k = DEPTH / 4, quads_along_outer = OUTER / 4, flip = 32 / quads_along_k;
  static_assert(THREADS % quads_along_k == 0 && THREADS % quads_along_outer == 0);

  // Position of this thread's quad number i. Small tiles have fewer quads than threads.
  __device__ __forceinline__ uint32_t outer(int i) const {
    return outer_ + (along_k_ ? i * (THREADS / quads_along_k) : 0);
  }
  __device__ __forceinline__ uint32_t depth(int i) const {
    return depth_ + (along_k_ ? 0 : i * (THREADS / quads_along_outer));
  }
  __device__ __forceinline__ static bool is_in_tile(int i) {
    return quads % THREADS == 0 || threadIdx.x + i * THREADS < quads;
  }
  __device__ __forceinline__ uint32_t count_of(int i) const { return counts_ >> 4 * i & 15; }
  __device__ __forceinline__ bool exists(int i, uint32_t left) const { return count_of(i) > 0 && depth(i) < left; }
  __device__ __forceinline__ void put(Value* tile, int i, const Pack<Item, 4>& quad) const {
    if (!is_in_tile(i)) return;
    Pack<Value, 4> values;
#pragma unroll
    for (int j = 0; j < 4; ++j) values.of[j] = value_of<Value>(quad.of[j]);
    Value* const to = tile + depth(i) * OUTER + (outer(i) ^ flips(depth(i)));
    if (along_k_) {
#pragma unroll
      for (int j = 0; j < 4; ++j) to[j * OUTER] = values.of[j];
    } else {
      *reinterpret_cast<Pack<Value, 4>*>(to) = values;
    }
  }
  __device__ __forceinline__ static uint32_t flips(uint32_t depth) {
    return OUTER < 32 ? 0 : depth / 4 % quads_along_k * flip;
  }

  bool along_k_;
  uint32_t outer_, depth_;  // of the first quad
  int64_t step_, jump_;     // within a quad, and from one quad to the next
  const Item* next_;        // the first quad of the next part
  bool is_vector_;          // quads are contiguous and aligned
  uint32_t counts_ = 0;     // four bits for each quad: how many rows or columns of it exist
  Pack<Item, 4> held_[each] = {};
};

__device__ __forceinline__ float plus_product(float a, float b, float sum) { return fmaf(a, b, sum); }
__device__ __forceinline__ double plus_product(double a, double b, double sum) { return fma(a, b, sum); }
__device__ __forceinline__ uint32_t plus_product(uint32_t a, uint32_t b, uint32_t sum) { return a * b + sum; }
__device__ __forceinline__ uint64_t plus_product(uint64_t a, uint64_t b, uint64_t sum) { return a * b + sum; }

// Tells `multiply` to store the totals.
struct StoreTotals {};

// A tile of M x N, with OWN_M x OWN_N of it for each thread: in vectors of up to four that lie apart, so that the
// threads of a warp read neighbouring vectors. A `Put` other than StoreTotals gets them: `put(place, row, column,
// pack)` for four columns of the result.
template <class Item, class Value, int M, int N, int DEPTH, int OWN_M, int OWN_N, Along A_ALONG = Along::either,
          Along B_ALONG = Along::either, class Put = StoreTotals>
__device__ __forceinline__ void multiply(const MatmulParameters& p, const Put& put = {}) {
  constexpr int across = N / OWN_N, threads = M / OWN_M * across;
  constexpr int vector_m = OWN_M < 4 ? OWN_M : 4, vector_n = OWN_N < 4 ? OWN_N : 4;
  constexpr int far_m = M / (OWN_M / vector_m), far_n = N / (OWN_N / vector_n);
  using TileA = Tile<Item, Value, M, DEPTH, threads, A_ALONG>;
  using TileB = Tile<Item, Value, N, DEPTH, threads, B_ALONG>;
  using Quads = Pack<Value, 4>;
  FERRULE_SHARED(Quads, memory, [(TileA::size + TileB::size) * 2 / 4]);
  Value* const tiles = memory[0].of;
  constexpr int buffer = TileA::size + TileB::size;

  const TilePlace place = place_of_tile<M, N>(p);
  TileA a(pointer<const Item>(p.a) + offset_of(p.a_batches, place.batch) + place.first_m * p.a_row +
              place.start * p.a_column,
          p.m - place.first_m, place.stop - place.start, p.a_row, p.a_column, p.a_along_k);
  TileB b(pointer<const Item>(p.b) + offset_of(p.b_batches, place.batch) + place.first_n * p.b_column +
              place.start * p.b_row,
          p.n - place.first_n, place.stop - place.start, p.b_column, p.b_row, p.b_along_k);
  const uint32_t own_m = threadIdx.x / across * vector_m, own_n = threadIdx.x % across * vector_n;

  Value sums[OWN_M * OWN_N], totals[OWN_M * OWN_N];
#pragma unroll
  for (int i = 0; i < OWN_M * OWN_N; ++i) sums[i] = Value(0);

  uint32_t left = place.stop - place.start;  // along K
  uint32_t segment_end = p.is_split != 0 ? no_end : p.segment;
  a.load(left);
  b.load(left);
  a.store(tiles, p.a_column, left);
  b.store(tiles + TileA::size, p.b_row, left);
  __syncthreads();
  uint32_t current = 0;
  while (left > 0) {
    left = left < DEPTH ? 0 : left - DEPTH;
    if (left > 0) {
      a.load(left);
      b.load(left);
    }
    const Value* const from_a = tiles + current * buffer;
    const Value* const from_b = from_a + TileA::size;
#pragma unroll
    for (int depth = 0; depth < DEPTH; ++depth) {
      Pack<Value, vector_m> rows[OWN_M / vector_m];
      Pack<Value, vector_n> columns[OWN_N / vector_n];
#pragma unroll
      for (int i = 0; i < OWN_M / vector_m; ++i)
        rows[i] = TileA::template read<vector_m>(from_a, depth, own_m + i * far_m);
#pragma unroll
      for (int j = 0; j < OWN_N / vector_n; ++j)
        columns[j] = TileB::template read<vector_n>(from_b, depth, own_n + j * far_n);
#pragma unroll
      for (int i = 0; i < OWN_M; ++i)
#pragma unroll
        for (int j = 0; j < OWN_N; ++j)
          sums[i * OWN_N + j] = plus_product(rows[i / vector_m].of[i % vector_m],
                                             columns[j / vector_n].of[j % vector_n], sums[i * OWN_N + j]);
    }
    if (left > 0) {
      current ^= 1;
      a.store(tiles + current * buffer, p.a_column, left);
      b.store(tiles + current * buffer + TileA::size, p.b_row, left);
      __syncthreads();
      if (p.k - left == segment_end) {
        end_segment(totals, sums, segment_end == p.segment, p);
        segment_end += p.segment;
      }
    }
  }

  if constexpr (!std::is_same_v<Put, StoreTotals>) {
    // The whole tile goes through shared memory, so that threads have four neighbours whatever their part is.
    static_assert(M * N <= 2 * buffer);
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < OWN_M; ++i)
#pragma unroll
      for (uint32_t j = 0; j < OWN_N; ++j)
        tiles[(own_m + i / vector_m * far_m + i % vector_m) * N + own_n + j / vector_n * far_n + j % vector_n] =
            total_at(totals, i * OWN_N + j, p) + sums[i * OWN_N + j];
    __syncthreads();
    const TilePlace end = place_of_tile<M, N>(p);
#pragma unroll 1
    for (uint32_t quad = threadIdx.x; quad < M * N / 4; quad += threads) {
      const uint32_t row = quad / (N / 4), column = quad % (N / 4) * 4;
      put(end, end.first_m + row, end.first_n + column,
          *reinterpret_cast<const Pack<Value, 4>*>(tiles + row * N + column));
    }
    return;
  }

  // Each thread moves its sums, a row at a time, through shared memory, so that the code that stores them exists once.
  __syncthreads();
  static_assert(threads * OWN_N <= 2 * buffer);
  Value* const own = tiles + threadIdx.x * OWN_N;
  const TilePlace end = place_of_tile<M, N>(p);
#pragma unroll 1
  for (uint32_t row = 0; row < OWN_M; ++row) {
#pragma unroll
    for (uint32_t i = 0; i < OWN_M; ++i) {
      if (i != row) continue;
#pragma unroll
      for (int j = 0; j < OWN_N; ++j) own[j] = sums[i * OWN_N + j];
    }
#pragma unroll 1
    for (uint32_t j = 0; j < OWN_N; j += vector_n) {
      auto values = *reinterpret_cast<const Pack<Value, vector_n>*>(own + j);
#pragma unroll
      for (int k = 0; k < vector_n; ++k) values.of[k] = total_at(totals, row * OWN_N + j + k, p) + values.of[k];
      store_sums<Item>(p, end, end.first_m + own_m + row / vector_m * far_m + row % vector_m,
                       end.first_n + own_n + j / vector_n * far_n, values);
    }
  }
}

}  // namespace ferrule::cuda
