// Block dtypes: sizes in bytes, valid strides, and copies of strided blocks.
#include "ops/table.h"
#include "base/tensor_type.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <string_view>
#include <vector>

namespace ferrule {
namespace {

// An array of bytes with increasing values.
std::vector<std::byte> counting(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i % 251);
  return bytes;
}

TEST(Blocks, SizeInBytesCountsWholeBlocks) {
  EXPECT_EQ(byte_count({DType::q8_0, {3, 64}}), 3 * 2 * 34);
  EXPECT_EQ(byte_count({DType::q4_K, {256}}), 144);
  EXPECT_EQ(byte_count({DType::q6_K, {2, 0}}), 0);
  EXPECT_EQ(byte_count({DType::q6_K, {0, 256}}), 0);
  EXPECT_THROW(byte_count({DType::q8_0, {64, 3}}), Error);
  EXPECT_THROW(byte_count({DType::q4_K, {64}}), Error);
  EXPECT_THROW(byte_count({DType::q8_0, {}}), Error);
  EXPECT_THROW(byte_count({DType::q8_0, {int64_t{1} << 40, int64_t{1} << 40}}), Error);
  EXPECT_EQ(bytes_of(DType::q4_0, 96), 3 * 18);
  EXPECT_EQ(bytes_of(DType::q4_0, -32), -18);
  EXPECT_EQ(elements_in(DType::q6_K, 420), 512);
}

TEST(Blocks, BlockAlignmentIsTheLargestPowerOfTwoThatDividesItsSize) {
  EXPECT_EQ(alignment_of(DType::q8_0), 2u);
  EXPECT_EQ(alignment_of(DType::q4_K), 16u);
  EXPECT_EQ(alignment_of(DType::float32), 4u);
  EXPECT_EQ(alignment_of(DType::complex128), 16u);
}

TEST(Blocks, StridesCountWholeBlocks) {
  EXPECT_NO_THROW(check_blocks({DType::q8_0, {3, 64}}, {64, 1}));
  EXPECT_NO_THROW(check_blocks({DType::q8_0, {3, 64}}, {-128, 1}));
  EXPECT_NO_THROW(check_blocks({DType::q8_0, {1, 64}}, {7, 1})) << "of one row it does not matter";
  EXPECT_NO_THROW(check_blocks({DType::float32, {3, 5}}, {7, 2}));
  EXPECT_THROW(check_blocks({DType::q8_0, {3, 64}}, {40, 1}), Error);
  EXPECT_THROW(check_blocks({DType::q8_0, {3, 64}}, {128, 2}), Error);
  EXPECT_THROW(check_blocks({DType::q8_0, {64, 3}}, {1, 64}), Error);
}

TEST(Blocks, GatherCopiesStridedBlocksWhole) {
  const std::vector<std::byte> bytes = counting(4 * 2 * 34);
  const TensorType type{DType::q8_0, {2, 64}};
  std::vector<std::byte> gathered(2 * 2 * 34);
  // Rows 3 and 1 of four.
  gather(bytes.data() + 3 * 68, type, byte_strides_of(DType::q8_0, {-128, 1}), gathered.data());
  EXPECT_EQ(std::vector(gathered.begin(), gathered.begin() + 68),
            std::vector(bytes.begin() + 204, bytes.begin() + 272));
  EXPECT_EQ(std::vector(gathered.begin() + 68, gathered.end()), std::vector(bytes.begin() + 68, bytes.begin() + 136));
}

TEST(Blocks, GatherCopiesPlainElementsOfAnyStrides) {
  std::vector<int16_t> values(24);
  std::iota(values.begin(), values.end(), int16_t{0});
  const auto* const first = reinterpret_cast<const std::byte*>(values.data());
  const auto gathered = [&](const Shape& shape, const Strides& strides, std::size_t begin) {
    std::vector<int16_t> to(static_cast<std::size_t>(element_count(shape)));
    gather(first + 2 * begin, {DType::int16, shape}, byte_strides_of(DType::int16, strides),
           reinterpret_cast<std::byte*>(to.data()));
    return to;
  };
  EXPECT_EQ(gathered({2, 3}, {12, 4}, 1), (std::vector<int16_t>{1, 5, 9, 13, 17, 21}));
  EXPECT_EQ(gathered({3, 2}, {-6, -1}, 20), (std::vector<int16_t>{20, 19, 14, 13, 8, 7}));
  EXPECT_EQ(gathered({2, 2, 2}, {0, 0, 1}, 5), (std::vector<int16_t>{5, 6, 5, 6, 5, 6, 5, 6}));
  EXPECT_EQ(gathered({}, {}, 7), (std::vector<int16_t>{7}));
  EXPECT_EQ(gathered({1, 4}, {99, 6}, 0), (std::vector<int16_t>{0, 6, 12, 18}));
  EXPECT_TRUE(gathered({3, 0}, {1, 1}, 0).empty());
}

TEST(Blocks, OnlySomeOpsAcceptBlockDtypes) {
  for (const ops::Row* row : ops::all_ops())
    for (std::size_t i = 0; i < row->input_count; ++i) {
      const bool takes = ops::accepts(row->inputs[i].accepts, DType::q8_0);
      const std::string_view name = row->name;
      constexpr std::string_view taking[] = {"astype",       "concat",  "copy",  "dynamic_slice",
                                             "permute_dims", "reshape", "slice", "take"};
      const bool should = name == "linear" ? i == 1 : i == 0 && std::ranges::find(taking, name) != std::end(taking);
      EXPECT_EQ(takes, should) << name;
    }
}

}  // namespace
}  // namespace ferrule
