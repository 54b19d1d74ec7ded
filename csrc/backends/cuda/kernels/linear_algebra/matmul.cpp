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
#include "kernels/linear_algebra/matmul_shapes.h"
#include "kernels/planning.h"

namespace ferrule::cuda {
namespace {

constexpr uint64_t max_scratch = uint64_t{256} << 20;
constexpr int64_t max_size = INT32_MAX - 4096;  // tiles number elements beyond the end in 31 bits

struct Tile {
  const char* name;
  uint32_t m, n, threads;
  uint32_t shared_memory = 0;  // dynamic
  bool has_epilogue = false;  // whether a kernel of matmul_<name>_epilogue.cu, or of matmul_epilogue.cu, runs fused ops
  uint32_t epilogue_memory = 0;  // the dynamic shared memory of that kernel
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
static_assert(rows_shape.m == few && columns_shape.n == few && rows_byte_shape.m == few);

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
  const uint32_t longer_operands = is_tf32 ? 2 - p.a_along_k - p.b_along_k : 0;
  const auto tile = [&](const char* name, const TensorShape& shape) {
    const uint32_t shared = shape.shared_bytes(longer_operands);
    // With fused ops, the rounded totals are laid into shared memory (matmul_tensor_epilogue.h, which has code for
    // them).
    const bool has_epilogue = is_tf32 || shape.n < 128 || capabilities.compute >= 90;
    return Tile{name,
                shape.m,
                shape.n,
                shape.threads(),
                shared,
                has_epilogue,
                std::max(shared, shape.totals_bytes(is_tf32 ? 4 : 2))};
  };
  if (p.m <= few) return tile("rows", rows_shape);
  if (p.n <= few) return tile("columns", columns_shape);
  return tile_for(p, capabilities,
                  {tile("large", large_shape), tile("medium", medium_shape), tile("small", small_shape)});
}

// Bytes are exact: their tiles may be chosen freely.
Tile byte_tile(const MatmulParameters& p, const Capabilities& capabilities) {
  const auto tile = [](const char* name, const ByteShape& shape) {
    return Tile{name, shape.m, shape.n, shape.threads(), shape.shared_bytes()};
  };
  if (p.m <= few) return tile("rows", rows_byte_shape);
  return tile_for(p, capabilities, {tile("large", large_byte_shape), tile("small", small_byte_shape)});
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

int64_t from_end(std::span<const int64_t> list, size_t place) { return list[list.size() - place]; }

// The leading axes of an operand, broadcast to those of the result.
Layout batches_of(const sdk::Operand& x, const sdk::Operand& out) {
  const auto leading = static_cast<size_t>(out.rank() - 2), missing = static_cast<size_t>(out.rank() - x.rank());
  std::vector<int64_t> strides(leading, 0);
  for (size_t k = missing; k < leading; ++k)
    if (x.shape()[k - missing] != 1) strides[k] = x.strides()[k - missing];
  return layout_of(out.shape().first(leading), strides);
}

// Adds the sums of segments in scratch memory, and runs what is fused to the product.
Launch join_of(const PlannedNode& node, const std::optional<Body>& epilogue, const MatmulSegmentsParameters& p,
               const std::string& variant, const Capabilities& capabilities) {
  if (!epilogue) {
    Launch joined = launch_of("matmul_segments" + variant, p, blocks_for(p.count, 256, 1, capabilities), 256);
    joined.uses_scratch(offsetof(MatmulSegmentsParameters, partials), 0, false);
    joined.writes(offsetof(MatmulSegmentsParameters, to), node.output_value(0));
    return joined;
  }
  Launch joined = launch_of(std::string("matmul_segments_epilogue.") + (is_floating(node.input(0)) ? "f32" : "u32"),
                            MatmulSegmentsEpilogueParameters{p, epilogue_program(*epilogue)},
                            blocks_for(p.count, 256, 4, capabilities), 256);
  joined.uses_scratch(offsetof(MatmulSegmentsEpilogueParameters, segments.partials), 0, false);
  bind_operands(*epilogue, joined, offsetof(MatmulSegmentsEpilogueParameters, epilogue));
  return joined;
}

// Whether the product of one row reads weights in blocks. It is computed in float32, and so are those of more rows, of
// which the weights are decoded first: rows have the same bits for each M.
bool reads_blocks(const PlannedNode& node, MatmulParameters p, const Capabilities& capabilities) {
  p.m = 1;
  return block_product_of(node, p, false, capabilities).has_value();
}

// Sizes, strides and leading axes; nothing about how the product is computed.
MatmulParameters parameters_of(const PlannedNode& node) {
  const sdk::Operand a = node.input(0), b = node.input(1), out = node.output(0);
  // The stride of an axis of one element does not matter: it must not hide that the other axis is contiguous.
  const auto stride = [](const sdk::Operand& x, size_t place) {
    return from_end(x.shape(), place) == 1 ? 0 : from_end(x.strides(), place);
  };
  MatmulParameters p{};
  p.a_batches = batches_of(a, out);
  p.b_batches = batches_of(b, out);
  p.a_row = stride(a, 2);
  p.a_column = stride(a, 1);
  p.b_row = stride(b, 2);
  p.b_column = stride(b, 1);
  p.m = static_cast<uint32_t>(from_end(out.shape(), 2));
  p.n = static_cast<uint32_t>(from_end(out.shape(), 1));
  p.k = static_cast<uint32_t>(from_end(a.shape(), 1));
  p.to_row = p.n;
  p.to_column = 1;
  p.batches = static_cast<uint64_t>(out.count()) / p.m / p.n;
  return p;
}

// A product whose sizes its kernels can number, with `epilogue` fused to it.
class Product {
 public:
  Product(const PlannedNode& node, const Capabilities& capabilities, std::string variant, std::optional<Body> epilogue)
      : node_(node),
        capabilities_(capabilities),
        variant_(std::move(variant)),
        epilogue_(std::move(epilogue)),
        p_(parameters_of(node)) {}

  Plan plan() {
    choose_instructions();
    lay_out();
    choose_tile();
    choose_splitting();
    has_epilogue_ = epilogue_ && p_.is_split == 0 && !blocks_ && tile_.has_epilogue &&
                    tile_.epilogue_memory <= capabilities_.shared_memory;
    // A graph that has fused the ops already gets a second launch: blocks are found only there, and operands may be
    // laid out otherwise than those of the question.
    if (epilogue_ && p_.is_split == 0 && !has_epilogue_ && node_.writers() == nullptr)
      return refusal("what is fused to it runs faster by itself");
    Plan plan = plan_named(kernel());
    if (blocks_) plan.unread = {1};
    add_launches(plan);
    return plan;
  }

 private:
  void choose_instructions() {
    const sdk::Operand a = node_.input(0);
    is_tf32_ = a.is("float32") && capabilities_.uses_tf32 && !reads_blocks(node_, p_, capabilities_);
    is_tensor_ = is_tf32_ || (is_half(a) && capabilities_.compute >= 80);
    is_bytes_ = a.item_size() == 1 && capabilities_.compute >= 80;
    set_segments(p_, is_tensor_);
    if (!is_tf32_) blocks_ = block_product_of(node_, p_, is_tensor_, capabilities_);
  }

  void lay_out() {
    if (!blocks_ && !is_tensor_ && p_.n < p_.m && p_.n <= few) {
      transpose(p_);
      std::swap(a_offset_, b_offset_);
    }
    const auto is_along = [](int64_t stride, int64_t other) {
      return stride != 0 && (other == 0 || std::abs(stride) < std::abs(other));
    };
    p_.a_along_k = is_along(p_.a_column, p_.a_row) ? 1 : 0;
    p_.b_along_k = is_along(p_.b_row, p_.b_column) ? 1 : 0;
  }

  void choose_tile() {
    if (is_tensor_ && !is_tf32_ && !blocks_) hopper_ = hopper_product_of(p_, node_, capabilities_);
    tile_ = blocks_      ? Tile{"", blocks_->tile_m, blocks_->tile_n, blocks_->threads, blocks_->shared_memory}
            : hopper_    ? Tile{hopper_->name, hopper_->tile_m, hopper_->tile_n, hopper_->threads}
            : is_bytes_  ? byte_tile(p_, capabilities_)
            : is_tensor_ ? tensor_tile(p_, capabilities_, is_tf32_)
                         : scalar_tile(p_, capabilities_, node_.input(0).is("float32"));
  }

  // Bytes of the sums of all segments.
  uint64_t sum_bytes() const { return p_.segments * count() * std::max<uint64_t>(4, node_.input(0).item_size()); }

  void choose_splitting() {
    // Blocks of threads that run at the same time; a wgmma kernel has one for each multiprocessor. Splitting pays if it
    // needs fewer rounds of them.
    const uint64_t slots = uint64_t{capabilities_.multiprocessors} * (hopper_ ? 1 : 2);
    const bool is_split =
        (!blocks_ || blocks_->can_split) && p_.segments > 1 && sum_bytes() <= max_scratch &&
        quotient_up(tiles(p_, tile_) * p_.segments, slots) < p_.segments * quotient_up(tiles(p_, tile_), slots);
    p_.is_split = is_split ? 1 : 0;
  }

  std::string kernel() const {
    if (blocks_) return blocks_->kernel;
    const std::string tile = tile_.name;
    if (has_epilogue_)
      return is_tf32_     ? "matmul_tf32_epilogue." + tile
             : is_tensor_ ? "matmul_" + tile + "_epilogue" + variant_
                          : "matmul_epilogue" + variant_ + "_" + tile;
    const std::string along = std::string(p_.a_along_k != 0 ? "_k" : "_m") + (p_.b_along_k != 0 ? "k" : "n");
    if (is_bytes_) return "matmul_bytes." + tile + "_u8";
    if (is_tf32_) return "matmul_tf32." + tile + along;
    if (is_tensor_) return "matmul_" + tile + variant_ + along;
    return "matmul" + variant_ + "_" + tile + (tile_.m == 128 ? along : "");
  }

  Launch product(const std::string& kernel) const {
    const uint64_t grid = tiles(p_, tile_) * (p_.is_split != 0 ? p_.segments : 1);
    if (hopper_) return launch_of(*hopper_, kernel, p_, grid, node_, capabilities_);
    const auto launch = [&](const auto& parameters) {
      return launch_of(kernel, parameters, grid, tile_.threads,
                       has_epilogue_ ? tile_.epilogue_memory : tile_.shared_memory);
    };
    Launch product = blocks_         ? launch(MatmulBlocksParameters{p_, blocks_->first_byte})
                     : has_epilogue_ ? launch(MatmulEpilogueParameters{p_, epilogue_program(*epilogue_)})
                                     : launch(p_);
    product.reads(a_offset_, node_.input_value(0));
    product.reads(b_offset_, blocks_ ? blocks_->value : node_.input_value(1));
    return product;
  }

  // The product, and what adds its segments or runs what is fused to it.
  void add_launches(Plan& plan) const {
    Launch first = product(plan.support.kernel);
    const size_t to = offsetof(MatmulParameters, to) + (hopper_ ? offsetof(MatmulHopperParameters, product) : 0);
    if (has_epilogue_) {
      bind_operands(*epilogue_, first, offsetof(MatmulEpilogueParameters, epilogue));
      plan.launches = {std::move(first)};
    } else if (p_.is_split != 0) {
      plan.scratch = sum_bytes();
      first.uses_scratch(to, 0, true);
      const MatmulSegmentsParameters segments{.partials = 0, .to = 0, .count = count(), .segments = p_.segments};
      plan.launches = {std::move(first), join_of(node_, epilogue_, segments, variant_, capabilities_)};
    } else if (epilogue_) {
      plan.scratch = count() * node_.input(0).item_size();
      first.uses_scratch(to, 0, true);
      plan.launches = {std::move(first), launch_of(*epilogue_)};
    } else {
      first.writes(to, node_.output_value(0));
      plan.launches = {std::move(first)};
    }
  }

  uint64_t count() const { return static_cast<uint64_t>(node_.output(0).count()); }

  const PlannedNode& node_;
  const Capabilities& capabilities_;
  const std::string variant_;  // of the kernels' names: the dtype
  const std::optional<Body> epilogue_;
  MatmulParameters p_;
  size_t a_offset_ = offsetof(MatmulParameters, a), b_offset_ = offsetof(MatmulParameters, b);
  bool is_tf32_ = false, is_tensor_ = false, is_bytes_ = false, has_epilogue_ = false;
  std::optional<BlockProduct> blocks_;
  std::optional<HopperProduct> hopper_;
  Tile tile_{};
};

Plan plan_matmul(const PlannedNode& node, const Capabilities& capabilities) {
  const sdk::Operand a = node.input(0), b = node.input(1), out = node.output(0);
  if (a.dtype() != b.dtype() || a.dtype() != own_dtype(node) || a.is("bool"))
    return refusal("the operands differ in dtype");
  if (a.is("complex64") || a.is("complex128")) return refusal("products of complex numbers have no kernel");
  std::optional<Body> epilogue;
  if (node.body() != nullptr) epilogue = epilogue_of(node, 2);
  if (epilogue && !is_epilogue(*epilogue)) return refusal("what is fused to it is too long, or has values of 64 bits");
  const std::string variant = is_floating(a) ? "." + abbreviation_of(a) : by_item_size("", a);
  if (out.count() == 0) return plan_named("matmul" + variant);
  if (std::max({from_end(out.shape(), 2), from_end(out.shape(), 1), from_end(a.shape(), 1)}) > max_size)
    return refusal("a matrix is larger than its kernel can number");
  return Product(node, capabilities, variant, std::move(epilogue)).plan();
}

}  // namespace

KERNEL(matmul, plan_matmul)

}  // namespace ferrule::cuda
