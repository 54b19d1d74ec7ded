// Matrix products of float16 and bfloat16 with float32 sums, by wgmma and TMA (compute capability 9.0). One warp group
// copies tiles of A and B to a ring in shared memory; two others multiply them. A block computes one tile after the
// other, so that the copies for the next one are under way while the sums are stored.
//
// The bits are those of matmul_tensor.h: segments are added up in the same order, 16 products at a time, and on this
// GPU wgmma adds 16 products to a sum as mma.sync does (matmul_hopper_plan.h).
//
// Limit: matrix instructions.
#pragma once

#include "kernels/hopper_instructions.h"
#include "kernels/linear_algebra/matmul_hopper.h"
#include "kernels/linear_algebra/matmul_tiles.h"

namespace ferrule::cuda {

#if FERRULE_HAS_WGMMA

inline constexpr uint32_t group_threads = 128;  // of a warp group
inline constexpr uint32_t row_bytes = 128;      // of a tile in shared memory: 64 items

// OUTER x 64 items of an operand in shared memory, where `outer` is M or N. Along K: OUTER rows of 64 items. Else:
// parts of 64 columns, each with 64 rows along K. TMA and wgmma exchange the chunks of 16 bytes of a row with those of
// the same 128 bytes: chunk c of row r is at c ^ r % 8.
template <uint32_t OUTER, bool ALONG_K>
struct HopperOperand {
  static constexpr uint32_t part_bytes = 64 * row_bytes;

  __device__ __forceinline__ static void start_copy(unsigned char* tile, const TensorMap& map, uint32_t outer,
                                                    uint32_t k, uint32_t batch, uint64_t* barrier) {
    if constexpr (ALONG_K) {
      copy_box(tile, &map, k, outer, batch, barrier);
    } else {
#pragma unroll
      for (uint32_t part = 0; part < OUTER / 64; ++part)
        copy_box(tile + part * part_bytes, &map, outer + part * 64, k, batch, barrier);
    }
  }

  // Copies without a tensor map, by the warp group, items that are aligned to 2 bytes alone. `first` is the matrix.
  __device__ __forceinline__ static void copy(unsigned char* tile, const uint16_t* first, int64_t outer_stride,
                                              int64_t k_stride, uint32_t outer, uint32_t outer_end, uint32_t k,
                                              uint32_t k_end) {
    first += outer * outer_stride + k * k_stride;
    if constexpr (ALONG_K) {
      copy_rows<OUTER>(tile, first, outer_stride, outer_end - outer, k_stride, k_end - k);
    } else {
#pragma unroll 1
      for (uint32_t part = 0; part < OUTER && part < outer_end - outer; part += 64)
        copy_rows<64>(tile + part / 64 * part_bytes, first + part * outer_stride, k_stride, k_end - k, outer_stride,
                      outer_end - outer - part);
    }
  }

  // 16 items along K from `k` on, of 64 rows or of all columns from `outer` on.
  __device__ __forceinline__ static uint64_t descriptor(const unsigned char* tile, uint32_t outer, uint32_t k) {
    if constexpr (ALONG_K) return matrix_descriptor(tile + outer * row_bytes + k * 2, 16, 8 * row_bytes);
    return matrix_descriptor(tile + outer / 64 * part_bytes + k * row_bytes, part_bytes, 8 * row_bytes);
  }

 private:
  // ROWS rows of 64 items, of which the first ones exist, with zeros after them.
  template <uint32_t ROWS>
  __device__ __forceinline__ static void copy_rows(unsigned char* tile, const uint16_t* first, int64_t row_stride,
                                                   uint32_t row_count, int64_t column_stride, uint32_t column_count) {
    constexpr uint32_t at_once = group_threads / 64;
    const uint32_t column = threadIdx.x % 64;
    if (column >= column_count) row_count = 0;
    uint32_t row = threadIdx.x / 64;
    first += row * row_stride + column * column_stride;
#pragma unroll 4
    for (uint32_t i = 0; i < ROWS / at_once; ++i) {
      const uint16_t item = row < row_count ? *first : static_cast<uint16_t>(0);
      *reinterpret_cast<uint16_t*>(tile + row * row_bytes + ((column / 8) ^ (row % 8)) * 16 + column % 8 * 2) = item;
      row += at_once;
      first += at_once * row_stride;
    }
  }
};

// Exchanges pairs in each four lanes: value i of lane j becomes value j of lane i.
__device__ __forceinline__ void transpose_pairs(float (&values)[8]) {
  const uint32_t lane = threadIdx.x % 32;
#pragma unroll
  for (uint32_t step = 1; step <= 2; step *= 2) {
    const bool is_second = (lane & step) != 0;
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
      if ((i & step) != 0) continue;
#pragma unroll
      for (uint32_t j = 0; j < 2; ++j) {
        float &near = values[i * 2 + j], &far = values[(i + step) * 2 + j];
        const float got = __shfl_xor_sync(0xffffffff, is_second ? near : far, static_cast<int>(step));
        (is_second ? near : far) = got;
      }
    }
  }
}

template <class Shape, class Item, bool A_ALONG_K, bool B_ALONG_K>
struct HopperProduct {
  using A = HopperOperand<Shape::m, A_ALONG_K>;
  using B = HopperOperand<Shape::n, B_ALONG_K>;
  static constexpr int count = Shape::n / 2;  // sums of a thread

  unsigned char* tiles;    // of shared memory
  uint64_t *full, *empty;  // mbarriers of the slots

  __device__ __forceinline__ unsigned char* a_of(uint32_t slot) const { return tiles + slot * Shape::stage_bytes; }
  __device__ __forceinline__ unsigned char* b_of(uint32_t slot) const { return a_of(slot) + Shape::a_bytes; }

  __device__ __forceinline__ static bool is_mapped(const TensorMap& map) { return map.address % 16 == 0; }

  // One thread starts the copies by TMA; all of the warp group copy what has no tensor map.
  __device__ __forceinline__ void produce(const MatmulHopperParameters& p) const {
    const MatmulParameters& product = p.product;
    const bool a_is_mapped = is_mapped(p.a), b_is_mapped = is_mapped(p.b);
    if (a_is_mapped && b_is_mapped && threadIdx.x != 0) return;
    RingPlace<Shape::stages> next{0, 1};
#pragma unroll 1
    for (uint32_t tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
      const TilePlace place = place_of_tile<Shape::m, Shape::n>(product, tile);
#pragma unroll 1
      for (uint32_t k = place.start; k < place.stop; k += Shape::depth) {
        uint64_t* const barrier = full + next.slot;
        mbarrier_wait(empty + next.slot, next.parity);
        if (threadIdx.x == 0) {
          mbarrier_arrive_expect(barrier, (a_is_mapped ? Shape::a_bytes : 0) + (b_is_mapped ? Shape::b_bytes : 0));
          if (a_is_mapped)
            A::start_copy(a_of(next.slot), p.a, place.first_m, k, p.a_has_batches != 0 ? place.batch : 0, barrier);
          if (b_is_mapped)
            B::start_copy(b_of(next.slot), p.b, place.first_n, k, p.b_has_batches != 0 ? place.batch : 0, barrier);
        }
        if (!a_is_mapped)
          A::copy(a_of(next.slot), pointer<const uint16_t>(p.a.address) + offset_of(product.a_batches, place.batch),
                  product.a_row, product.a_column, place.first_m, product.m, k, product.k);
        if (!b_is_mapped)
          B::copy(b_of(next.slot), pointer<const uint16_t>(p.b.address) + offset_of(product.b_batches, place.batch),
                  product.b_column, product.b_row, place.first_n, product.n, k, product.k);
        if (!a_is_mapped || !b_is_mapped) {
          fence_proxy_async();
          mbarrier_arrive(barrier);
        }
        next.advance();
      }
    }
  }

  // Multiplies the tiles of a slot; 64 rows of A from `row` on.
  __device__ __forceinline__ void multiply(float (&sums)[count], const RingPlace<Shape::stages>& at,
                                           uint32_t row) const {
    mbarrier_wait(full + at.slot, at.parity);
    wgmma_begin(sums);
#pragma unroll
    for (uint32_t k = 0; k < Shape::depth; k += 16)
      wgmma<Item, A_ALONG_K, B_ALONG_K>(sums, A::descriptor(a_of(at.slot), row, k), B::descriptor(b_of(at.slot), 0, k));
    wgmma_commit();
  }

  // Releases a slot; each warp arrives once, when its part of the instructions has ended.
  __device__ __forceinline__ void release(uint32_t slot) const {
    if (threadIdx.x % 32 == 0) mbarrier_arrive(empty + slot);
  }

  __device__ __forceinline__ static void store(const MatmulParameters& p, const TilePlace& place, uint32_t row,
                                               const float (&sums)[count]) {
    const uint32_t lane = threadIdx.x % 32;
    row += threadIdx.x % group_threads / 32 * 16 + lane / 4;
#pragma unroll
    for (uint32_t half = 0; half < 2; ++half)
#pragma unroll
      for (uint32_t first = 0; first < Shape::n; first += 32) {
        // Four columns of eight: a thread has two items of each, and then eight of one.
        float values[8];
#pragma unroll
        for (uint32_t i = 0; i < 8; ++i) values[i] = sums[(first / 8 + i / 2) * 4 + half * 2 + i % 2];
        transpose_pairs(values);
        Pack<float, 8> items;
#pragma unroll
        for (uint32_t i = 0; i < 8; ++i) items.of[i] = values[i];
        store_sums<Item>(p, place, place.first_m + row + half * 8, place.first_n + first + lane % 4 * 8, items);
      }
  }

  __device__ __forceinline__ void consume(const MatmulHopperParameters& parameters) const {
    const MatmulParameters& p = parameters.product;
    // Read from lane 0: the compiler then knows that a warp has one value, and computes its descriptors once.
    const uint32_t group = __shfl_sync(0xffffffffu, threadIdx.x / group_threads, 0), row = (group - 1) * 64;
    float sums[count], totals[count];
    // Sums and totals fit in the registers only for up to 64 sums (matmul_tiles.h).
    const uint32_t zero = count <= 64 ? 0 : p.zero;
    RingPlace<Shape::stages> next{0, 0};
#pragma unroll 1
    for (uint32_t tile = blockIdx.x; tile < parameters.tiles; tile += gridDim.x) {
      const TilePlace place = place_of_tile<Shape::m, Shape::n>(p, tile);
#pragma unroll 1
      for (uint32_t start = place.start; start < place.stop; start += p.segment) {
        const uint32_t stop = place.stop - start > p.segment ? start + p.segment : place.stop;
        if (start == place.start) {
#pragma unroll
          for (int i = 0; i < count; ++i) sums[i] = 0;
        } else {
          add_sums(totals, sums, start == p.segment, zero);
        }
        // The instructions of one slot run while those of the next one are issued.
        uint32_t last = next.slot;
        multiply(sums, next, row);
        next.advance();
#pragma unroll 1
        for (uint32_t k = start + Shape::depth; k < stop; k += Shape::depth) {
          multiply(sums, next, row);
          wgmma_wait<1>(sums);
          release(last);
          last = next.slot;
          next.advance();
        }
        wgmma_wait<0>(sums);
        release(last);
      }
#pragma unroll
      for (int i = 0; i < count; ++i) sums[i] = (p.is_split != 0 || p.segments == 1 ? 0 : totals[i + zero]) + sums[i];
      store(p, place, row, sums);
    }
  }
};

#endif  // FERRULE_HAS_WGMMA

template <class Shape, class Item, bool A_ALONG_K, bool B_ALONG_K>
__device__ __forceinline__ void run_hopper(const MatmulHopperParameters& p) {
#if FERRULE_HAS_WGMMA
  FERRULE_DYNAMIC_SHARED(unsigned char, memory);
  FERRULE_SHARED(uint64_t, barriers, [2 * Shape::stages]);
  unsigned char* const tiles =
      memory + (Shape::alignment - reinterpret_cast<uint64_t>(memory) % Shape::alignment) % Shape::alignment;
  using Product = HopperProduct<Shape, Item, A_ALONG_K, B_ALONG_K>;
  const Product product{tiles, barriers, barriers + Shape::stages};
  if (threadIdx.x == 0) {
    if (Product::is_mapped(p.a)) prefetch_map(&p.a);
    if (Product::is_mapped(p.b)) prefetch_map(&p.b);
    // All of the first warp group arrive, too, if they copy.
    const bool copies = !Product::is_mapped(p.a) || !Product::is_mapped(p.b);
    for (uint32_t slot = 0; slot < Shape::stages; ++slot) {
      mbarrier_init(product.full + slot, copies ? 1 + group_threads : 1);
      mbarrier_init(product.empty + slot, 2 * group_threads / 32);
    }
    fence_proxy_async();
  }
  __syncthreads();
  if (threadIdx.x < group_threads) {
    lower_registers<56>();
    product.produce(p);
  } else {
    raise_registers<224>();
    product.consume(p);
  }
#else
  __trap();
#endif
}

}  // namespace ferrule::cuda
