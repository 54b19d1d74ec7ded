// Chooses the products that read weights in blocks. Kernels exist for few rows of float32, whose product with more rows
// costs much more than decoding, and for halves on GPUs with m16n8k16. The bits are those of the product with the
// decoded B.
#include "kernels/linear_algebra/matmul_blocks.h"

#include <ferrule/cpp/decoded_blocks.hpp>

#include "kernels/linear_algebra/matmul_blocks_plan.h"
#include "kernels/linear_algebra/matmul_shapes.h"

namespace ferrule::cuda {
namespace {

template <class Block>
void choose_few(BlockProduct& found, const MatmulParameters& p, const Capabilities& capabilities) {
  for (const uint32_t rows : {8u, 4u, 1u}) {
    const uint32_t shared = FewBlockRows::shared_bytes<Block> + rows * FewBlockRows::shared_bytes_of_row;
    const uint32_t own = 4 * rows * FewBlockRows::columns * (FewBlockRows::warps + 1);  // of the kernel itself
    if ((rows == 8 && p.m <= 4) || (rows == 4 && p.m == 1) || shared + own > capabilities.shared_memory) continue;
    found.kernel = "matmul_blocks_few." + std::to_string(rows);
    found.tile_m = rows;
    found.tile_n = FewBlockRows::columns;
    found.threads = 32 * FewBlockRows::warps;
    found.shared_memory = shared;
    return;
  }
}

template <class Block, class Shape>
bool choose_tile(BlockProduct& found, const char* name, const MatmulParameters& p, const Capabilities& capabilities,
                 bool is_last) {
  const uint64_t tiles = p.batches * quotient_up(p.m, Shape::m) * quotient_up(p.n, Shape::n);
  constexpr uint32_t shared = Shape::template shared_bytes<Block>;
  const bool fills = p.m > Shape::m / 2 && p.n > Shape::n / 2 && tiles * p.segments >= capabilities.multiprocessors;
  if (shared > capabilities.shared_memory || !(fills || is_last)) return false;
  found.kernel = std::string("matmul_blocks_") + name;
  found.tile_m = Shape::m;
  found.tile_n = Shape::n;
  found.threads = Shape::threads;
  found.shared_memory = shared;
  return true;
}

template <class Block>
void choose(BlockProduct& found, const MatmulParameters& p, bool is_tensor, const Capabilities& capabilities) {
  if (!is_tensor)
    choose_few<Block>(found, p, capabilities);
  else if (p.m <= few)
    choose_tile<Block, BlockRows>(found, "rows", p, capabilities, true);
  else if (!choose_tile<Block, BlockLarge>(found, "large", p, capabilities, false))
    choose_tile<Block, BlockMedium>(found, "medium", p, capabilities, true);
}

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

  BlockProduct found{};
  found.can_split = is_tensor;
  found.value = blocks->value;
  found.first_byte = static_cast<uint64_t>(fe_bytes_of(sdk::host->dtype_info(blocks->dtype), blocks->first));
  const std::string_view dtype = sdk::host->dtype_name(blocks->dtype);
#define CHOOSE(name, Block) \
  if (dtype == #name) choose<Block>(found, p, is_tensor, capabilities);
  BLOCK_DTYPES(CHOOSE)
#undef CHOOSE
  if (found.kernel.empty()) return std::nullopt;
  if (is_tensor) found.kernel += "." + abbreviation_of(a);
  found.kernel += "_" + std::string(dtype);
  return found;
}

}  // namespace ferrule::cuda
