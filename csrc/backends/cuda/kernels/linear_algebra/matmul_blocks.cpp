// Which products read weights in blocks. Kernels exist for few rows of float32, whose product with more rows costs much
// more than decoding, and for halves on GPUs with m16n8k16. The bits are those of the product with the decoded B.
#include "kernels/linear_algebra/matmul_blocks.h"

#include "kernels/linear_algebra/matmul_blocks_plan.h"

namespace ferrule::cuda {
namespace {

constexpr uint32_t few = 16;

// B, and the casts that decode it.
struct Blocks {
  sdk::Operand operand;
  uint32_t value;
};

// Whether nothing writes the memory of a value while the graph runs.
bool stays(const fe_graph_view& view, uint32_t value) {
  const uint32_t index = view.values[value]->storage;
  const fe_storage& storage = *view.storages[index];
  if ((storage.kind != FE_STORAGE_INPUT && storage.kind != FE_STORAGE_CONSTANT) || storage.prepared != 0) return false;
  for (uint32_t i = 0; i < view.storage_count; ++i)
    if (view.storages[i]->kind == FE_STORAGE_OUTPUT && view.storages[i]->reuses == static_cast<int32_t>(index))
      return false;
  return true;
}

// Whether a value is the whole of its storage, in order.
bool is_whole(const PlannedNode& node, uint32_t value) {
  const fe_value& x = *node.view().values[value];
  return x.offset == 0 && x.offset_slot < 0 && sdk::Operand(node.view(), value).is_contiguous();
}

std::optional<Blocks> find_blocks(const PlannedNode& node) {
  std::optional<PlannedNode> cast = node.writer_of(node.input_value(1));
  if (!cast || cast->op() != "astype" || cast->body() != nullptr) return std::nullopt;
  if (is_half(cast->output(0)) && cast->input(0).is("float32")) {
    const std::optional<PlannedNode> decoding = cast->writer_of(cast->input_value(0));
    if (!decoding || decoding->op() != "astype" || decoding->body() != nullptr) return std::nullopt;
    if (!is_whole(*cast, cast->input_value(0)) || cast->input(0).count() != decoding->output(0).count())
      return std::nullopt;
    cast.emplace(*decoding);
  }
  const sdk::Operand blocks = cast->input(0);
  if (blocks.dtype_info().block_elements == 1 || !cast->output(0).is("float32") || !blocks.is_contiguous() ||
      !stays(node.view(), cast->input_value(0)))
    return std::nullopt;
  return Blocks{blocks, cast->input_value(0)};
}

// Whether each column of B is a row of whole blocks.
bool has_whole_blocks(const PlannedNode& node, const MatmulParameters& p, int64_t elements) {
  const fe_value& b = *node.view().values[node.input_value(1)];
  bool is_whole = p.b_row == 1 && b.offset_slot < 0 && b.offset % elements == 0 && p.k % elements == 0 &&
                  p.b_column % elements == 0;
  for (uint32_t axis = 0; axis < p.b_batches.rank; ++axis)
    is_whole = is_whole && p.b_batches.strides[axis] % elements == 0;
  return is_whole;
}

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

}  // namespace

std::optional<BlockProduct> block_product_of(const PlannedNode& node, const MatmulParameters& p, bool is_tensor,
                                             const Capabilities& capabilities) {
  const sdk::Operand a = node.input(0);
  if (!(is_tensor || (a.is("float32") && p.m <= few))) return std::nullopt;
  const std::optional<Blocks> blocks = find_blocks(node);
  if (!blocks) return std::nullopt;
  const fe_dtype_info& dtype = blocks->operand.dtype_info();
  if (!has_whole_blocks(node, p, dtype.block_elements)) return std::nullopt;

  BlockProduct found{};
  found.can_split = is_tensor;
  found.value = blocks->value;
  found.first_byte = static_cast<uint64_t>(fe_bytes_of(&dtype, node.view().values[node.input_value(1)]->offset));
  if (blocks->operand.is("q8_0"))
    choose<BlockQ8_0>(found, p, is_tensor, capabilities);
  else if (blocks->operand.is("q4_0"))
    choose<BlockQ4_0>(found, p, is_tensor, capabilities);
  else if (blocks->operand.is("q4_K"))
    choose<BlockQ4K>(found, p, is_tensor, capabilities);
  else if (blocks->operand.is("q6_K"))
    choose<BlockQ6K>(found, p, is_tensor, capabilities);
  if (found.kernel.empty()) return std::nullopt;
  if (is_tensor) found.kernel += "." + abbreviation_of(a);
  found.kernel += std::string("_") + sdk::host->dtype_name(blocks->operand.dtype());
  return found;
}

}  // namespace ferrule::cuda
