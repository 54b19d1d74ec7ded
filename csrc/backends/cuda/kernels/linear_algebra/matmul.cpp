// Matrix products. A row of the result has the same bits whatever M and the leading axes are: the segments of K, and
// the use of matrix instructions, depend on the dtype, N and K alone, and on the option tf32; the tile and the
// splitting of segments among blocks change nothing (matmul.h). matmul_kernels.cpp has the table of kernels.
#include "kernels/linear_algebra/matmul_epilogue.h"

#include <algorithm>
#include <cstdlib>

#include "graphs/elementwise_body.h"
#include "kernels/linear_algebra/matmul_blocks.h"
#include "kernels/linear_algebra/matmul_blocks_plan.h"
#include "kernels/linear_algebra/matmul_hopper_plan.h"
#include "kernels/linear_algebra/matmul_kernels.h"
#include "kernels/linear_algebra/matmul_shapes.h"
#include "kernels/planning.h"

namespace ferrule::cuda {
namespace {

constexpr uint64_t max_scratch = uint64_t{256} << 20;
constexpr int64_t max_size = INT32_MAX - 4096;  // tiles number elements beyond the end in 31 bits

// Segments of equal length. More of them keep the device busy when N is small and M is one; they cost time when M is
// large: the tiles of matmul_tensor.h have many sums, and little time.
void set_segments(MatmulParameters& p, bool is_tensor) {
  const uint32_t longest = !is_tensor || p.n < 1024 ? 512 : p.n < 4096 ? 1024 : 4096;
  const uint64_t count = std::max<uint64_t>(1, quotient_up(p.k, longest));
  p.segment = static_cast<uint32_t>(std::max<uint64_t>(1, quotient_up(quotient_up(p.k, count), 128)) * 128);
  p.segments = static_cast<uint32_t>(std::max<uint64_t>(1, quotient_up(p.k, p.segment)));
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
               const std::string& dtype, const Capabilities& capabilities) {
  if (!epilogue) {
    Launch joined = launch_of("matmul_segments." + dtype, p, blocks_for(p.count, 256, 1, capabilities), 256);
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
  Product(const PlannedNode& node, const Capabilities& capabilities, std::string dtype, std::optional<Body> epilogue)
      : node_(node),
        capabilities_(capabilities),
        dtype_(std::move(dtype)),
        epilogue_(std::move(epilogue)),
        p_(parameters_of(node)) {}

  Plan plan() {
    choose_instructions();
    lay_out();
    choose_kernel();
    choose_splitting();
    has_epilogue_ = epilogue_ && p_.is_split == 0 && kernel_->runs_epilogue(p_, capabilities_);
    // A graph that has fused the ops already gets a second launch: blocks are found only there, and operands may be
    // laid out otherwise than those of the question.
    if (epilogue_ && p_.is_split == 0 && !has_epilogue_ && node_.writers() == nullptr)
      return refusal("what is fused to it runs faster by itself");
    Plan plan = plan_named(kernel_->full_name(p_, dtype_, has_epilogue_));
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

  bool can_use(MatmulMethod method) const {
    switch (method) {
      case MatmulMethod::half_wgmma:
      case MatmulMethod::half_mma:
        return is_tensor_ && !is_tf32_;
      case MatmulMethod::tf32_mma:
        return is_tf32_;
      case MatmulMethod::byte_mma:
        return is_bytes_;
      case MatmulMethod::float32_fma:
        return node_.input(0).is("float32") && !is_tf32_;
      case MatmulMethod::any_dtype:
        break;
    }
    return true;
  }

  void choose_kernel() {
    if (blocks_) {
      kernel_ = blocks_->kernel;
      return;
    }
    for (const MatmulKernel& kernel : matmul_kernels()) {
      if (!can_use(kernel.method) || !kernel.fits(p_, capabilities_)) continue;
      if (kernel.method == MatmulMethod::half_wgmma) {
        mapped_ = mapped_operands_of(p_, kernel, node_, capabilities_);
        if (!mapped_) continue;
      }
      kernel_ = &kernel;
      return;
    }
  }

  uint64_t tiles() const { return tiles_of(p_, kernel_->m, kernel_->n); }

  // Bytes of the sums of all segments.
  uint64_t sum_bytes() const { return p_.segments * count() * std::max<uint64_t>(4, node_.input(0).item_size()); }

  void choose_splitting() {
    // Blocks of threads that run at the same time; a wgmma kernel has one for each multiprocessor. Splitting pays if it
    // needs fewer rounds of them.
    const uint64_t slots = uint64_t{capabilities_.multiprocessors} * (mapped_ ? 1 : 2);
    const bool is_split = (!blocks_ || is_tensor_) && p_.segments > 1 && sum_bytes() <= max_scratch &&
                          quotient_up(tiles() * p_.segments, slots) < p_.segments * quotient_up(tiles(), slots);
    p_.is_split = is_split ? 1 : 0;
  }

  Launch product(const std::string& kernel) const {
    const uint64_t grid = tiles() * (p_.is_split != 0 ? p_.segments : 1);
    if (mapped_) return launch_of(*mapped_, *kernel_, kernel, p_, grid, node_, capabilities_);
    const auto launch = [&](const auto& parameters) {
      return launch_of(kernel, parameters, grid, kernel_->threads, kernel_->shared_bytes(p_, has_epilogue_));
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
    const size_t to = offsetof(MatmulParameters, to) + (mapped_ ? offsetof(MatmulHopperParameters, product) : 0);
    if (has_epilogue_) {
      bind_operands(*epilogue_, first, offsetof(MatmulEpilogueParameters, epilogue));
      plan.launches = {std::move(first)};
    } else if (p_.is_split != 0) {
      plan.scratch = sum_bytes();
      first.uses_scratch(to, 0, true);
      const MatmulSegmentsParameters segments{.partials = 0, .to = 0, .count = count(), .segments = p_.segments};
      plan.launches = {std::move(first), join_of(node_, epilogue_, segments, dtype_, capabilities_)};
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
  const std::string dtype_;  // in names of kernels
  const std::optional<Body> epilogue_;
  MatmulParameters p_;
  size_t a_offset_ = offsetof(MatmulParameters, a), b_offset_ = offsetof(MatmulParameters, b);
  bool is_tf32_ = false, is_tensor_ = false, is_bytes_ = false, has_epilogue_ = false;
  std::optional<BlockProduct> blocks_;
  std::optional<MappedOperands> mapped_;
  const MatmulKernel* kernel_ = nullptr;
};

Plan plan_matmul(const PlannedNode& node, const Capabilities& capabilities) {
  const sdk::Operand a = node.input(0), b = node.input(1), out = node.output(0);
  if (a.dtype() != b.dtype() || a.dtype() != own_dtype(node) || a.is("bool"))
    return refusal("the operands differ in dtype");
  if (a.is("complex64") || a.is("complex128")) return refusal("products of complex numbers have no kernel");
  std::optional<Body> epilogue;
  if (node.body() != nullptr) epilogue = epilogue_of(node, 2);
  if (epilogue && !is_epilogue(*epilogue)) return refusal("what is fused to it is too long, or has values of 64 bits");
  const std::string dtype = is_floating(a) ? abbreviation_of(a) : by_item_size("", a).substr(1);
  if (out.count() == 0) return plan_named("matmul." + dtype);
  if (std::max({from_end(out.shape(), 2), from_end(out.shape(), 1), from_end(a.shape(), 1)}) > max_size)
    return refusal("a matrix is larger than its kernel can number");
  return Product(node, capabilities, dtype, std::move(epilogue)).plan();
}

}  // namespace

KERNEL(matmul, plan_matmul)

}  // namespace ferrule::cuda
