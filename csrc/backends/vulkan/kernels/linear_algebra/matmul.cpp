// Matrix products, and the elementwise ops that are fused to them. The choice of the tile and the splitting of K among
// workgroups do not change the result (matmul.comp).
#include <ferrule/cpp/decoded_blocks.hpp>
#include <ferrule/ops.h>

#include <bit>
#include <optional>

#include "graphs/elementwise_body.h"
#include "../block_weights.h"
#include "../planning.h"

namespace ferrule::vulkan {
namespace {

struct Parameters {
  Layout a_batches, b_batches;
  int64_t a_row, a_column, b_row, b_column, to_row, to_column, b_first;
  uint64_t batches;
  uint32_t m, n, k, codebook_bytes;
};
static_assert(sizeof(Parameters) == 352, "PARAMETER_BYTES of matmul.comp");
struct Segments {
  uint64_t count;
  uint32_t segments, reserved;
};
static_assert(sizeof(Segments) == 16);

constexpr uint32_t step = 16, segment = 512;  // as in matmul.comp
constexpr uint64_t busy = 256;                // workgroups that keep a device busy
constexpr uint64_t max_scratch = uint64_t{64} << 20;

struct Tile {
  uint32_t m, n, own_m, own_n;
  uint32_t workgroup() const { return m / own_m * (n / own_n); }
  uint64_t shared_bytes(uint64_t value) const { return step * (m + n + 2) * value; }
};

uint64_t tiles(const Parameters& p, const Tile& tile) {
  return p.batches * quotient_up(p.m, tile.m) * quotient_up(p.n, tile.n);
}

// The tile of matmul_few.comp.
Tile few_tile(const Parameters& p) { return {std::bit_ceil(p.m), 128, std::bit_ceil(p.m), 1}; }

// The tile of matmul_cooperative.comp. All float16 products of a device use this shader or none does, because the
// device chooses its order of additions.
constexpr Tile cooperative_tile = {64, 64, 4, 8};

// The first tile that the matrices fill. A larger tile must also leave enough workgroups to keep the device busy.
Tile tile_for(const Parameters& p, uint64_t value, const Capabilities& capabilities) {
  static constexpr Tile by_rows[] = {{128, 128, 8, 8}, {64, 64, 4, 4}, {32, 32, 2, 4}, {16, 64, 4, 2}, {4, 128, 4, 1}};
  const auto fits = [&](const Tile& tile) {
    return tile.workgroup() <= capabilities.max_workgroup && tile.shared_bytes(value) <= capabilities.shared_memory;
  };
  if (p.m == 1) return {1, 128, 1, 1};
  if (p.m <= 4) return by_rows[4];
  if (p.m <= 16) return by_rows[3];
  if (value == 4 && p.m >= 128 && p.n >= 128 && fits(by_rows[0]) && tiles(p, by_rows[0]) >= busy) return by_rows[0];
  if (p.m > 32 && fits(by_rows[1]) && tiles(p, by_rows[1]) >= busy / 4) return by_rows[1];
  return by_rows[2];
}

// Whether subgroups share the rows. There must be few rows, so that the other matrix is read once (matmul_few.comp),
// and elements of that matrix that are adjacent in memory must be adjacent along N.
constexpr uint32_t few = 8;
bool is_for_subgroups(const Parameters& p, const sdk::Operand& a, const Capabilities& capabilities) {
  return is_floating(a) && !a.is("float64") && p.m <= few && std::abs(p.b_column) <= std::abs(p.b_row) &&
         capabilities.subgroup_size > 1 && few_tile(p).workgroup() % capabilities.subgroup_size == 0;
}

// Exchanges the factors: the transpose of the result is the product of the transposes. A product of two numbers has the
// same bits in either order.
void transpose(Parameters& p) {
  std::swap(p.a_batches, p.b_batches);
  std::swap(p.a_row, p.b_column);
  std::swap(p.a_column, p.b_row);
  std::swap(p.to_row, p.to_column);
  std::swap(p.m, p.n);
}

// The leading axes of an operand, broadcast to those of the result.
Layout batches_of(uint32_t value, const sdk::Operand& x, const sdk::Operand& out) {
  const auto leading = static_cast<size_t>(out.rank() - 2), missing = static_cast<size_t>(out.rank() - x.rank());
  std::vector<int64_t> strides(leading, 0);
  for (size_t k = missing; k < leading; ++k)
    if (x.shape()[k - missing] != 1) strides[k] = x.strides()[k - missing];
  return layout_of(value, out.shape().first(leading), strides);
}

// The blocks that a product of float32 reads in place of the decoded B; the parameters become those of
// matmul.f32_blocks.
std::optional<sdk::DecodedBlocks> read_blocks(const PlannedNode& node, Parameters& p) {
  const sdk::Operand b = node.input(1);
  if (!b.is("float32") || node.writers() == nullptr) return std::nullopt;
  const auto blocks = sdk::find_decoded_blocks(node, 1, static_cast<size_t>(b.rank() - 2), *node.writers());
  if (!blocks) return std::nullopt;
  const fe_dtype_info& dtype = *sdk::host->dtype_info(blocks->dtype);
  p.b_batches.value = blocks->value;
  for (uint32_t axis = 0; axis < p.b_batches.rank; ++axis)
    p.b_batches.strides[axis] = bytes_to_block(dtype, p.b_batches.strides[axis]);
  p.b_first = bytes_to_block(dtype, blocks->first);
  p.b_column = bytes_to_block(dtype, p.b_column);
  p.codebook_bytes = static_cast<uint32_t>(codebook_of(sdk::host->dtype_name(blocks->dtype)).size_bytes());
  return blocks;
}

Plan plan_matmul(const PlannedNode& node, const Capabilities& capabilities) {
  const sdk::Operand a = node.input(0), b = node.input(1), out = node.output(0);
  if (a.dtype() != b.dtype() || a.dtype() != own_dtype(node) || a.is("bool"))
    return refusal("the operands differ in dtype");
  if (a.is("float64") && !capabilities.float64) return refusal("the device has no float64");
  Body epilogue = epilogue_of(node, 2);
  if (epilogue.uses_float64 && !a.is("float64")) return refusal("what is fused to it computes in float64");
  const std::string variant = is_floating(a) ? "." + abbreviation_of(a) : by_item_size("", a);
  Plan plan = plan_named("matmul" + variant);
  if (out.count() == 0) return plan;

  const auto from_end = [](std::span<const int64_t> list, size_t place) { return list[list.size() - place]; };
  const int64_t m = from_end(out.shape(), 2), n = from_end(out.shape(), 1), k = from_end(a.shape(), 1);
  if (std::max({m, n, k}) > INT32_MAX) return refusal("a matrix is larger than its kernel can number");
  Parameters p = {.a_batches = batches_of(node.input_value(0), a, out),
                  .b_batches = batches_of(node.input_value(1), b, out),
                  .a_row = from_end(a.strides(), 2),
                  .a_column = from_end(a.strides(), 1),
                  .b_row = from_end(b.strides(), 2),
                  .b_column = from_end(b.strides(), 1),
                  .to_row = n,
                  .to_column = 1,
                  .b_first = 0,
                  .batches = static_cast<uint64_t>(out.count() / m / n),
                  .m = static_cast<uint32_t>(m),
                  .n = static_cast<uint32_t>(n),
                  .k = static_cast<uint32_t>(k),
                  .codebook_bytes = 0};
  const auto blocks = read_blocks(node, p);
  const bool is_cooperative = a.is("float16") && !capabilities.cooperative_matrices.empty();
  if (p.n < p.m && p.n <= 16 && !is_cooperative && !blocks) transpose(p);
  const uint64_t value = std::max<uint64_t>(4, a.item_size()), segments = quotient_up(p.k, segment);
  const bool in_subgroups = !is_cooperative && !blocks && is_for_subgroups(p, a, capabilities);
  const Tile tile = is_cooperative ? cooperative_tile : in_subgroups ? few_tile(p) : tile_for(p, value, capabilities);
  const uint64_t count = static_cast<uint64_t>(out.count()), scratch = segments * count * value;
  const bool split = segments > 1 && tiles(p, tile) < busy && scratch <= max_scratch;
  const auto along_k = [](int64_t other, int64_t along) { return std::abs(along) < std::abs(other) ? 1u : 0u; };
  Dispatch product = dispatch_of(plan.support.kernel, p, {p.a_batches.value, p.b_batches.value},
                                 split ? scratch_value : node.output_value(0));
  const uint32_t a_along_k = along_k(p.a_row, p.a_column), b_along_k = along_k(p.b_column, p.b_row);
  if (is_cooperative) {
    product.shader = "matmul_cooperative.subgroup_" + std::string(capabilities.cooperative_matrices) + "_f16";
    add_constants(product, {tile.workgroup() / capabilities.subgroup_size, a_along_k, b_along_k});
  } else if (in_subgroups) {
    product.shader = "matmul_few.subgroup_" + abbreviation_of(a);
    add_constants(product, {tile.m});
  } else {
    add_constants(product, {tile.m, tile.n, tile.own_m, tile.own_n, a_along_k, b_along_k});
  }
  add_constants(product, {segments > 1, split});
  if (blocks) {
    const fe_dtype_info& dtype = *sdk::host->dtype_info(blocks->dtype);
    product.shader = "matmul.f32_blocks";
    add_constants(product, {block_row(sdk::host->dtype_name(blocks->dtype)),
                            static_cast<uint32_t>(dtype.block_elements), static_cast<uint32_t>(dtype.block_bytes)});
    add_codebook(product, sdk::host->dtype_name(blocks->dtype));
    plan.unread = {1};
  }
  product.has_full_subgroups = is_cooperative || in_subgroups;
  plan.support.kernel = product.shader;
  set_grid(product, tiles(p, tile) * (split ? segments : 1) * tile.workgroup(), capabilities, tile.workgroup());
  if (!split) {
    finish_with(std::move(epilogue), product);
    plan.launches.push_back(std::move(product));
    return plan;
  }
  product.calls = {{.function = "leave_partial", .arguments = {}}};
  plan.scratch = scratch;
  const std::string sum = is_half(a) ? ".f32" : is_floating(a) ? variant : value == 8 ? ".u64" : ".u32";
  const Segments join = {.count = count, .segments = static_cast<uint32_t>(segments), .reserved = 0};
  Dispatch joined = dispatch_of("matmul_segments" + sum, join, {scratch_value}, node.output_value(0));
  set_grid(joined, count, capabilities);
  finish_with(std::move(epilogue), joined);
  plan.launches.push_back(std::move(product));
  plan.launches.push_back(std::move(joined));
  return plan;
}

}  // namespace

KERNEL(matmul, plan_matmul)

}  // namespace ferrule::vulkan
