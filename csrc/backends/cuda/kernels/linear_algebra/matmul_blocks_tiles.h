// Device code that the kernels of products with blocks share: copies of blocks to shared memory.
#pragma once

#include "kernels/async_copies.h"
#include "kernels/linear_algebra/matmul_blocks.h"
#include "kernels/linear_algebra/matmul_tiles.h"

namespace ferrule::cuda {

struct alignas(16) BlockChunk {
  uint16_t of[8];
};

// Columns of B, from the first column of a tile on.
template <class Block>
class BlockColumns {
  using Chunks = BlockChunks<Block>;

 public:
  __device__ __forceinline__ BlockColumns(const MatmulBlocksParameters& q, uint32_t batch, uint32_t first_n)
      : stride_(bytes_of(q.product.b_column)),
        begin_(q.product.b + q.first_byte + bytes_of(offset_of(q.product.b_batches, batch)) + first_n * stride_),
        length_(bytes_of(q.product.k)),
        count_(q.product.n - first_n) {}

  // Starts to copy chunk number `chunk` of the 256 elements number `group` of a column, with zeros beyond its end.
  __device__ __forceinline__ void copy(BlockChunk* tile, uint32_t column, uint32_t chunk, uint32_t group) const {
    const uint64_t column_begin = begin_ + column * stride_, begin = column_begin + uint64_t{group} * Chunks::bytes;
    const uint64_t from = begin / 16 * 16 + 16 * chunk, column_end = column_begin + length_;
    const uint64_t end = column_end < begin + Chunks::bytes ? column_end : begin + Chunks::bytes;
    const uint32_t left = column >= count_ || from >= end ? 0
                          : end - from < 16               ? static_cast<uint32_t>(end - from)
                                                          : 16;
    cp_async_16(tile + column * Chunks::pitch + chunk, pointer<const void>(from), left);
  }
  // The byte within the chunks of a column at which its blocks begin.
  __device__ __forceinline__ uint32_t shift(uint32_t column, uint32_t group) const {
    if (Chunks::is_aligned) return 0;
    return (static_cast<uint32_t>(begin_) + column * static_cast<uint32_t>(stride_) + group * Chunks::bytes) % 16;
  }

 private:
  __device__ __forceinline__ static uint64_t bytes_of(int64_t elements) {
    return static_cast<uint64_t>(elements / int64_t{Block::elements} * int64_t{sizeof(Block)});
  }

  uint64_t stride_, begin_, length_;
  uint32_t count_;
};

__device__ __forceinline__ float float16_at(const uint8_t* address) {
  return to_float(Half{*reinterpret_cast<const uint16_t*>(address)});
}

// The zero of the stored numbers, which is subtracted from them as unsigned bytes.
template <class Block>
inline constexpr uint32_t zero_of = 0;
template <>
inline constexpr uint32_t zero_of<BlockQ8_0> = 128;
template <>
inline constexpr uint32_t zero_of<BlockQ4_0> = 8;
template <>
inline constexpr uint32_t zero_of<BlockQ6K> = 32;

// Byte number `i` of `bytes`, a number between 0 and 255, minus `zero`. The float 2^23 + n has the bits of n at its
// end.
__device__ __forceinline__ float number_of_byte(uint32_t bytes, uint32_t i, uint32_t zero) {
  return bits_as<float>(__byte_perm(bytes, 0x4b000000u, 0x7440u | i)) - static_cast<float>(8388608u + zero);
}

// The scales of 32 elements. The weight of byte number `i` is computed by the steps of conversion/dequantize.cu, so
// that it has the same bits, or by `fast_weight`, if the part `is_fast`.
template <class Block>
class PartScales {  // q8_0 and q4_0
 public:
  __device__ __forceinline__ PartScales(const uint8_t* group, uint32_t part)
      : scale_(float16_at(group + part * sizeof(Block))), addend_(-(zero * scale_)) {}
  __device__ __forceinline__ bool is_fast() const { return fabsf(scale_) <= 65504.0f; }
  // The float 2^15 + n has the bits of n in its second byte. Nothing is rounded: `zero` has 13 significant bits at
  // most, the scale has 11, and the result of fma as many as the product of the scale and the number.
  __device__ __forceinline__ float fast_weight(uint32_t bytes, uint32_t i, uint32_t) const {
    return fmaf(bits_as<float>(__byte_perm(bytes, 0x47000000u, 0x7404u | i << 4)), scale_, addend_);
  }
  // This is right for an infinite scale, too.
  __device__ __forceinline__ float weight(uint32_t bytes, uint32_t i, uint32_t) const {
    return scale_ * number_of_byte(bytes, i, zero_of<Block>);
  }

 private:
  static constexpr float zero = static_cast<float>(32768u + zero_of<Block>);
  float scale_, addend_;
};

template <>
class PartScales<BlockQ4K> {
 public:
  __device__ __forceinline__ PartScales(const uint8_t* group, uint32_t part) {
    const uint8_t* const parts = group + 4;
    uint32_t scale, least;
    if (part < 4) {
      scale = parts[part] & 63u;
      least = parts[part + 4] & 63u;
    } else {
      scale = (parts[part + 4] & 15u) | (parts[part - 4] >> 2 & 48u);
      least = parts[part + 4] >> 4 | (parts[part] >> 2 & 48u);
    }
    scale_ = float16_at(group) * number_of_byte(scale, 0, 0);
    least_ = float16_at(group + 2) * number_of_byte(least, 0, 0);
  }
  __device__ __forceinline__ bool is_fast() const { return true; }
  // The product is exact: 11 + 6 + 4 bits.
  __device__ __forceinline__ float fast_weight(uint32_t bytes, uint32_t i, uint32_t) const {
    return fmaf(scale_, number_of_byte(bytes, i, 0), -least_);
  }
  __device__ __forceinline__ float weight(uint32_t bytes, uint32_t i, uint32_t half) const {
    return fast_weight(bytes, i, half);
  }

 private:
  float scale_, least_;
};

template <>
class PartScales<BlockQ6K> {
 public:
  __device__ __forceinline__ PartScales(const uint8_t* group, uint32_t part) {
    const float scale = float16_at(group + 208);
    const uint32_t both = *reinterpret_cast<const uint16_t*>(group + 192 + 2 * part) ^ 0x8080u;
    scales_[0] = scale * number_of_byte(both, 0, 128);
    scales_[1] = scale * number_of_byte(both, 1, 128);
  }
  __device__ __forceinline__ bool is_fast() const { return true; }
  // `half`: which 16 elements of the part.
  __device__ __forceinline__ float fast_weight(uint32_t bytes, uint32_t i, uint32_t half) const {
    return scales_[half] * number_of_byte(bytes, i, zero_of<BlockQ6K>);
  }
  __device__ __forceinline__ float weight(uint32_t bytes, uint32_t i, uint32_t half) const {
    return fast_weight(bytes, i, half);
  }

 private:
  float scales_[2];
};

}  // namespace ferrule::cuda
