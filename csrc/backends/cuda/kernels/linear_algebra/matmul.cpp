// Matrix products. A row of the result has the same bits whatever M and the leading axes are: the segments of K, and
// the use of matrix instructions, depend on the dtype, N and K alone, and on the option tf32; the tile and the
// splitting of segments among blocks change nothing (matmul.h).
#include "kernels/linear_algebra/matmul_epilogue.h"

#include <algorithm>
#include <cstdlib>

#include "graphs/elementwise_body.h"
#include "kernels/linear_algebra/matmul_blocks.h"
#include "kernels/linear_algebra/matmul_blocks_plan.h"
#include "kernels/linear_algebra/matmul_hopper_plan.h"
#include "kernels/planning.h"

namespace ferrule::cuda {
namespace {

constexpr uint64_t max_scratch = uint64_t{256} << 20;
constexpr int64_t max_size = INT32_MAX - 4096;  // tiles number elements beyond the end in 31 bits

struct Tile {
  const char* name;
  uint32_t m, n, threads;
  uint32_t shared_memory = 0;  // dynamic
  bool has_then = false;       // whether a kernel of matmul_<name>_then.cu, or of matmul_then.cu, runs fused ops
  uint32_t then_memory = 0;    // the dynamic shared memory of that kernel
};

uint64_t tiles(const MatmulParameters& p, const Tile& tile) {
  return p.batches * quotient_up(p.m, tile.m) * quotient_up(p.n, tile.n);
}

// Segments of equal length. More of them keep the device busy when N is small and M is one; they cost time when M is
// large: the tiles of matmul_tensor.h have many sums, and little time.
void set_segments(MatmulParameters& p, bool is_tensor) {
  const uint32_t longest = !is_tensor || p.n < 1024 ? 512 : p.n < 4096 ? 1024 : 4096;
  const uint64_t count = std::max<uint64_t>(1, quotient_up(p.k, longest));
  p.segment = static_cast<uint32_t>(std::max<uint64_t>(1, quotient_up(quotient_up(p.k, count), 128)) * 128);
  p.segments = static_cast<uint32_t>(std::max<uint64_t>(1, quotient_up(p.k, p.segment)));
}

constexpr uint32_t few = 16;

// The first tile that the matrix fills and that gives each multiprocessor a block.
Tile tile_for(const MatmulParameters& p, const Capabilities& capabilities, std::initializer_list<Tile> by_size) {
  for (const Tile& tile : by_size)
    if (tile.shared_memory <= capabilities.shared_memory &&
        tiles(p, tile) * p.segments >= capabilities.multiprocessors && p.m > tile.m / 2 && p.n > tile.n / 2)
      return tile;
  return *(by_size.end() - 1);
}

// Kernels with other matrix instructions may be chosen by M only if they give the same bits as m16n8k16, as wgmma does
// (matmul_hopper_plan.h); else one kernel must serve all M of an N and a K.
Tile tensor_tile(const MatmulParameters& p, const Capabilities& capabilities, bool is_tf32) {
  // Operands of tf32 that are contiguous along M or N have longer rows (matmul_tensor.h).
  const uint32_t longer_rows = is_tf32 ? 2 - p.a_along_k - p.b_along_k : 0;
  const auto tile = [&](const char* name, uint32_t m, uint32_t n, uint32_t threads, uint32_t depth, uint32_t stages) {
    const uint32_t shared = ((m + n) * depth * 2 + longer_rows * depth / 2 * 32) * stages;
    // With fused ops, the rounded totals are laid into shared memory (matmul_tensor_then.h, which has code for them).
    const bool has_then = is_tf32 || n < 128 || capabilities.compute >= 90;
    return Tile{name, m, n, threads, shared, has_then, std::max(shared, m * (n + 8) * (is_tf32 ? 4 : 2))};
  };
  if (p.m <= few) return tile("rows", 16, 32, 64, 128, 4);
  if (p.n <= few) return tile("columns", 64, 16, 128, 128, 3);
  return tile_for(
      p, capabilities,
      {tile("large", 128, 256, 256, 32, 4), tile("medium", 128, 128, 128, 32, 4), tile("small", 64, 64, 128, 32, 4)});
}

// Bytes are exact: their tiles may be chosen freely.
Tile byte_tile(const MatmulParameters& p, const Capabilities& capabilities) {
  const auto shared = [](uint32_t m, uint32_t n) { return (m + n) * 64 * 4; };
  if (p.m <= few) return {"rows", 16, 64, 128, shared(16, 64)};
  return tile_for(p, capabilities,
                  {{"large", 128, 128, 128, shared(128, 128)}, {"small", 64, 64, 128, shared(64, 64)}});
}

Tile scalar_tile(const MatmulParameters& p, const Capabilities& capabilities, bool is_float32) {
  if (p.m <= 4) return {"4x128", 4, 128, 128, 0, is_float32};
  if (!is_float32) return {"64x64", 64, 64, 256};
  if (p.m <= few) return {"16x128", 16, 128, 128, 0, true};
  return tile_for(p, capabilities,
                  {{"128x128", 128, 128, 256}, {"64x64", 64, 64, 256, 0, true}, {"32x32", 32, 32, 256, 0, true}});
}

// Exchanges the factors: the transpose of the result is the product of the transposes. A product of two numbers has the
// same bits in either order.
void transpose(MatmulParameters& p) {
  std::swap(p.a_batches, p.b_batches);
  std::swap(p.a_row, p.b_column);
  std::swap(p.a_column, p.b_row);
  std::swap(p.to_row, p.to_column);
  std::swap(p.m, p.n);
}

// The leading axes of an operand, broadcast to those of the result.
Layout batches_of(const sdk::Operand& x, const sdk::Operand& out) {
  const auto leading = static_cast<size_t>(out.rank() - 2), missing = static_cast<size_t>(out.rank() - x.rank());
  std::vector<int64_t> strides(leading, 0);
  for (size_t k = missing; k < leading; ++k)
    if (x.shape()[k - missing] != 1) strides[k] = x.strides()[k - missing];
  return layout_of(out.shape().first(leading), strides);
}

// Adds the sums of segments in scratch memory, and runs what is fused to the product.
Launch join_of(const PlannedNode& node, const std::optional<Body>& then, const MatmulSegmentsParameters& p,
               const std::string& variant, const Capabilities& capabilities) {
  if (!then) {
    Launch joined = launch_of("matmul_segments" + variant, p, blocks_for(p.count, 256, 1, capabilities), 256);
    joined.uses_scratch(offsetof(MatmulSegmentsParameters, partials), 0, false);
    joined.writes(offsetof(MatmulSegmentsParameters, to), node.output_value(0));
    return joined;
  }
  Launch joined = launch_of(std::string("matmul_segments_then.") + (is_floating(node.input(0)) ? "f32" : "u32"),
                            MatmulSegmentsThenParameters{p, epilogue_program(*then)},
                            blocks_for(p.count, 256, 4, capabilities), 256);
  joined.uses_scratch(offsetof(MatmulSegmentsThenParameters, segments.partials), 0, false);
  bind_operands(*then, joined, offsetof(MatmulSegmentsThenParameters, then));
  return joined;
}

// Whether the product of one row reads weights in blocks. It is computed in float32, and so are those of more rows, of
// which the weights are decoded first: rows have the same bits for each M.
bool reads_blocks(const PlannedNode& node, MatmulParameters p, const Capabilities& capabilities) {
  p.m = 1;
  return block_product_of(node, p, false, capabilities).has_value();
}

Plan plan_matmul(const PlannedNode& node, const Capabilities& capabilities) {
  const sdk::Operand a = node.input(0), b = node.input(1), out = node.output(0);
  if (a.dtype() != b.dtype() || a.dtype() != own_dtype(node) || a.is("bool"))
    return refusal("the operands differ in dtype");
  std::optional<Body> then;
  if (node.body() != nullptr) then = epilogue_of(node, 2);
  if (then && !is_epilogue(*then)) return refusal("what is fused to it is too long, or has values of 64 bits");
  const std::string variant = is_floating(a) ? "." + abbreviation_of(a) : by_item_size("", a);
  Plan plan = plan_named("matmul" + variant);
  if (out.count() == 0) return plan;

  const auto from_end = [](std::span<const int64_t> list, size_t place) { return list[list.size() - place]; };
  const int64_t m = from_end(out.shape(), 2), n = from_end(out.shape(), 1), k = from_end(a.shape(), 1);
  if (std::max({m, n, k}) > max_size) return refusal("a matrix is larger than its kernel can number");
  // The stride of an axis of one element does not matter: it must not hide that the other axis is contiguous.
  const auto stride = [&](const sdk::Operand& x, size_t place) {
    return from_end(x.shape(), place) == 1 ? 0 : from_end(x.strides(), place);
  };
  MatmulParameters p{};
  p.a_batches = batches_of(a, out);
  p.b_batches = batches_of(b, out);
  p.a_row = stride(a, 2);
  p.a_column = stride(a, 1);
  p.b_row = stride(b, 2);
  p.b_column = stride(b, 1);
  p.to_row = n;
  p.to_column = 1;
  p.batches = static_cast<uint64_t>(out.count() / m / n);
  p.m = static_cast<uint32_t>(m);
  p.n = static_cast<uint32_t>(n);
  p.k = static_cast<uint32_t>(k);
  const bool is_tf32 = a.is("float32") && capabilities.uses_tf32 && !reads_blocks(node, p, capabilities);
  const bool is_tensor = is_tf32 || (is_half(a) && capabilities.compute >= 80);
  const bool is_bytes = a.item_size() == 1 && capabilities.compute >= 80;
  set_segments(p, is_tensor);
  const std::optional<BlockProduct> blocks =
      is_tf32 ? std::nullopt : block_product_of(node, p, is_tensor, capabilities);
  uint32_t a_offset = offsetof(MatmulParameters, a), b_offset = offsetof(MatmulParameters, b);
  if (!blocks && !is_tensor && p.n < p.m && p.n <= few) {
    transpose(p);
    std::swap(a_offset, b_offset);
  }
  p.a_along_k = p.a_column != 0 && (p.a_row == 0 || std::abs(p.a_column) < std::abs(p.a_row)) ? 1 : 0;
  p.b_along_k = p.b_row != 0 && (p.b_column == 0 || std::abs(p.b_row) < std::abs(p.b_column)) ? 1 : 0;

  const std::optional<HopperProduct> hopper =
      is_tensor && !is_tf32 && !blocks ? hopper_product_of(p, node, capabilities) : std::nullopt;
  const Tile tile = blocks      ? Tile{"", blocks->tile_m, blocks->tile_n, blocks->threads, blocks->shared_memory}
                    : hopper    ? Tile{hopper->name, hopper->tile_m, hopper->tile_n, hopper->threads}
                    : is_bytes  ? byte_tile(p, capabilities)
                    : is_tensor ? tensor_tile(p, capabilities, is_tf32)
                                : scalar_tile(p, capabilities, a.is("float32"));
  const std::string along = std::string(p.a_along_k != 0 ? "_k" : "_m") + (p.b_along_k != 0 ? "k" : "n");
  std::string kernel = "matmul";
  if (blocks)
    kernel = blocks->kernel;
  else if (is_bytes)
    kernel += std::string("_bytes.") + tile.name + "_u8";
  else if (is_tf32)
    kernel += std::string("_tf32.") + tile.name + along;
  else if (is_tensor)
    kernel += std::string("_") + tile.name + variant + along;
  else
    kernel += variant + "_" + tile.name + (tile.m == 128 ? along : "");
  plan.support.kernel = kernel;

  const auto count = static_cast<uint64_t>(out.count());
  const uint64_t sum_bytes = std::max<uint64_t>(4, a.item_size()), scratch = p.segments * count * sum_bytes;
  // Blocks of threads that run at the same time; a wgmma kernel has one for each multiprocessor. Splitting pays if it
  // needs fewer rounds of them.
  const uint64_t slots = uint64_t{capabilities.multiprocessors} * (hopper ? 1 : 2);
  const bool is_split =
      (!blocks || blocks->can_split) && p.segments > 1 && scratch <= max_scratch &&
      quotient_up(tiles(p, tile) * p.segments, slots) < p.segments * quotient_up(tiles(p, tile), slots);
  p.is_split = is_split ? 1 : 0;
  const uint64_t grid = tiles(p, tile) * (is_split ? p.segments : 1);
  const bool has_then = then && !is_split && !blocks && tile.has_then && tile.then_memory <= capabilities.shared_memory;
  // A graph that has fused the ops already gets a second launch: blocks are found only there, and operands may be laid
  // out otherwise than those of the question.
  if (then && !is_split && !has_then && !node.is_of_graph())
    return refusal("what is fused to it runs faster by itself");
  if (has_then)
    plan.support.kernel = kernel = is_tf32     ? std::string("matmul_tf32_then.") + tile.name
                                   : is_tensor ? std::string("matmul_") + tile.name + "_then" + variant
                                               : "matmul_then" + variant + "_" + tile.name;
  const auto launch = [&](const auto& parameters) {
    return launch_of(kernel, parameters, grid, tile.threads, has_then ? tile.then_memory : tile.shared_memory);
  };
  Launch product = blocks     ? launch(MatmulBlocksParameters{p, blocks->first_byte})
                   : hopper   ? launch_of(*hopper, kernel, p, grid, node, capabilities)
                   : has_then ? launch(MatmulThenParameters{p, epilogue_program(*then)})
                              : launch(p);
  if (blocks) plan.unread = {1};
  if (!hopper) {
    product.reads(a_offset, node.input_value(0));
    product.reads(b_offset, blocks ? blocks->value : node.input_value(1));
  }
  const size_t to = offsetof(MatmulParameters, to) + (hopper ? offsetof(MatmulHopperParameters, product) : 0);
  if (has_then) {
    bind_operands(*then, product, offsetof(MatmulThenParameters, then));
    plan.launches = {std::move(product)};
  } else if (is_split) {
    plan.scratch = scratch;
    product.uses_scratch(to, 0, true);
    const MatmulSegmentsParameters segments{.partials = 0, .to = 0, .count = count, .segments = p.segments};
    plan.launches = {std::move(product), join_of(node, then, segments, variant, capabilities)};
  } else if (then) {
    plan.scratch = count * a.item_size();
    product.uses_scratch(to, 0, true);
    plan.launches = {std::move(product), launch_of(*then)};
  } else {
    product.writes(to, node.output_value(0));
    plan.launches = {std::move(product)};
  }
  return plan;
}

}  // namespace

KERNEL(matmul, plan_matmul)

}  // namespace ferrule::cuda
