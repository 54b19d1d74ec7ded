// Chooses the products that read weights in blocks. Kernels exist for few rows of float32, whose product with more rows
// costs much more than decoding, and for halves on GPUs with m16n8k16. The bits are those of the product with the
// decoded B.
#include "kernels/linear_algebra/matmul_blocks.h"

#include <ferrule/cpp/decoded_blocks.hpp>

#include "kernels/linear_algebra/matmul_blocks_plan.h"
#include "kernels/linear_algebra/matmul_shapes.h"

namespace ferrule::cuda {
namespace {

using enum MatmulMethod;

template <class Block>
constexpr MatmulKernel few_kernel(const char* name, uint32_t rows, ResultSizes sizes) {
  constexpr uint32_t columns = FewBlockRows::columns, warps = FewBlockRows::warps;
  return {.method = float32_fma,
          .name = name,
          .name_with_epilogue = nullptr,
          .m = rows,
          .n = columns,
          .threads = 32 * warps,
          .sizes = sizes,
          .shared_memory = FewBlockRows::shared_bytes<Block> + rows * FewBlockRows::shared_bytes_of_row,
          .static_memory = 4 * rows * columns * (warps + 1)};
}

template <class Block, class Shape>
constexpr MatmulKernel tile_kernel(const char* name, ResultSizes sizes) {
  return {half_mma, name, nullptr, Shape::m, Shape::n, Shape::threads, sizes, Shape::template shared_bytes<Block>};
}

struct BlockKernel {
  std::string_view blocks;  // dtype of B
  MatmulKernel kernel;
};
// The first one of a method and a dtype of blocks that fits computes a product.
constexpr BlockKernel kernel_table[] = {
// clang-format off
#define KERNELS(blocks, Block)                                                                               \
  {#blocks, few_kernel<Block>("matmul_blocks_few.8_" #blocks, 8, {.least_rows = 5})},                        \
  {#blocks, few_kernel<Block>("matmul_blocks_few.4_" #blocks, 4, {.least_rows = 2})},                        \
  {#blocks, few_kernel<Block>("matmul_blocks_few.1_" #blocks, 1, {})},                                       \
  {#blocks, tile_kernel<Block, BlockRows>("matmul_blocks_rows.{dtype}_" #blocks, {.most_rows = few})},       \
  {#blocks, tile_kernel<Block, BlockLarge>("matmul_blocks_large.{dtype}_" #blocks, {.fills_device = true})}, \
  {#blocks, tile_kernel<Block, BlockMedium>("matmul_blocks_medium.{dtype}_" #blocks, {})},
    // clang-format on
    BLOCK_DTYPES(KERNELS)
#undef KERNELS
};

#define CHECK(name, Block)                                                   \
  static_assert(Block::elements == sdk::find_dtype(#name)->block_elements && \
                    sizeof(Block) == sdk::find_dtype(#name)->block_bytes,    \
                "blocks lie in files");
BLOCK_DTYPES(CHECK)
#undef CHECK

}  // namespace

std::optional<BlockProduct> block_product_of(const PlannedNode& node, const MatmulParameters& p, bool is_tensor,
                                             const Capabilities& capabilities) {
  const sdk::Operand a = node.input(0);
  if (!(is_tensor || (a.is("float32") && p.m <= few))) return std::nullopt;
  if (node.writers() == nullptr) return std::nullopt;
  const auto blocks = sdk::find_decoded_blocks(node, 1, static_cast<size_t>(node.input(1).rank() - 2), *node.writers());
  if (!blocks) return std::nullopt;

  const std::string_view dtype = sdk::host->dtype_name(blocks->dtype);
  for (const auto& [of_blocks, kernel] : kernel_table)
    if (dtype == of_blocks && kernel.method == (is_tensor ? half_mma : float32_fma) && kernel.fits(p, capabilities))
      return BlockProduct{
          .kernel = &kernel,
          .value = blocks->value,
          .first_byte = static_cast<uint64_t>(fe_bytes_of(sdk::host->dtype_info(blocks->dtype), blocks->first))};
  return std::nullopt;
}

}  // namespace ferrule::cuda
