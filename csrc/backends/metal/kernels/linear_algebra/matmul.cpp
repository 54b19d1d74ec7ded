// Matrix products, and the elementwise ops that are fused to them. The choice of the tile and the splitting of K among
// threadgroups do not change the result (products.metal). Where the GPU multiplies 8 x 8 matrices, it computes all
// products of floats that way, because its order of summation within 8 elements is not specified.
#include "kernels/linear_algebra/matmul_blocks.h"
#include "kernels/linear_algebra/product_plan.h"

namespace ferrule::metal {
namespace {

struct Parameters {
  Layout a_batches, b_batches;
  int64_t a_row, a_column, b_row, b_column, to_row, to_column;
  uint64_t batches;
  uint32_t m, n, k, unused;
};
// A threadgroup's part of the result. Either a thread has own_m x own_n elements of it (matmul.metal), or a simdgroup
// has m / down x n / across (matmul_tiles.metal).
struct Tile {
  std::string_view kernel;
  uint32_t m, n, threads;
  std::string definitions;
};
Tile tile_of_threads(uint32_t m, uint32_t n, uint32_t own_m, uint32_t own_n) {
  return {"matmul", m, n, m / own_m * (n / own_n), definition("OWN_M", own_m) + definition("OWN_N", own_n)};
}
Tile tile_of_simdgroups(uint32_t m, uint32_t n, uint32_t down, uint32_t across) {
  return {"matmul_tiles", m, n, 32 * down * across, definition("DOWN", down) + definition("ACROSS", across)};
}

uint64_t tiles(const Parameters& p, const Tile& tile) {
  return p.batches * quotient_up(p.m, tile.m) * quotient_up(p.n, tile.n);
}

// The first tile that the matrices fill. A larger tile must also leave enough threadgroups to keep the device busy.
Tile thread_tile_for(const Parameters& p, uint64_t value_bytes) {
  if (p.m == 1) return tile_of_threads(1, 128, 1, 1);
  if (p.m <= 4) return tile_of_threads(4, 128, 4, 1);
  if (p.m <= 16) return tile_of_threads(16, 64, 4, 2);
  Tile large = tile_of_threads(128, 128, 8, 8), medium = tile_of_threads(64, 64, 4, 4);
  if (value_bytes == 4 && p.m >= 128 && p.n >= 128 && tiles(p, large) >= busy) return large;
  return p.m > 32 && tiles(p, medium) >= busy / 4 ? medium : tile_of_threads(32, 32, 2, 4);
}

// The tile of 4 simdgroups, each of which has up to 16 matrices of sums (docs/README.md says why).
Tile simdgroup_tile_for(const Parameters& p) {
  if (p.m <= 8) return tile_of_simdgroups(8, 128, 1, 4);
  if (p.m <= 16) return tile_of_simdgroups(16, 64, 1, 4);
  Tile large = tile_of_simdgroups(64, 64, 2, 2);
  return p.m > 32 && tiles(p, large) >= busy / 4 ? large : tile_of_simdgroups(32, 32, 2, 2);
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

Plan plan_matmul(const PlannedNode& node, const Capabilities& capabilities) {
  const sdk::Operand a = node.input(0), b = node.input(1), out = node.output(0);
  if (a.dtype() != b.dtype() || a.dtype() != own_dtype(node) || a.is("bool"))
    return refusal("the operands differ in dtype");
  const Types types = types_of(a);
  const bool by_simdgroups = capabilities.has_simdgroup_matrices && computes_in_float(a);
  Plan plan = plan_named(by_simdgroups ? "matmul_tiles" : "matmul");
  if (out.count() == 0) return plan;

  const int64_t m = from_end(out.shape(), 2), n = from_end(out.shape(), 1), k = from_end(a.shape(), 1);
  if (std::max({m, n, k}) > INT32_MAX) return refusal("a matrix is larger than its kernel can number");
  if (auto of_blocks = plan_block_product(node)) return *std::move(of_blocks);
  Parameters p = {.a_batches = batches_of(a, out),
                  .b_batches = batches_of(b, out),
                  .a_row = from_end(a.strides(), 2),
                  .a_column = from_end(a.strides(), 1),
                  .b_row = from_end(b.strides(), 2),
                  .b_column = from_end(b.strides(), 1),
                  .to_row = n,
                  .to_column = 1,
                  .batches = static_cast<uint64_t>(out.count() / m / n),
                  .m = static_cast<uint32_t>(m),
                  .n = static_cast<uint32_t>(n),
                  .k = static_cast<uint32_t>(k),
                  .unused = 0};
  std::vector<uint32_t> reads = {node.input_value(0), node.input_value(1)};
  if (p.n < p.m && p.n <= 16) {
    transpose(p);
    std::swap(reads[0], reads[1]);
  }
  const Segments segments(p.k, static_cast<uint64_t>(out.count()), types);
  const Tile tile = by_simdgroups ? simdgroup_tile_for(p) : thread_tile_for(p, types.value_bytes);
  const bool is_split = segments.may_be_split() && tiles(p, tile) < busy;
  const auto is_along_k = [](int64_t other, int64_t along) { return std::abs(along) < std::abs(other); };
  std::string definitions = tile.definitions + definition("TILE_M", tile.m) + definition("TILE_N", tile.n) +
                            definition("A_ALONG_K", is_along_k(p.a_row, p.a_column)) +
                            definition("B_ALONG_K", is_along_k(p.b_column, p.b_row));
  if (by_simdgroups) definitions += tile_access(formats().of(a.dtype()));
  add_product(plan, node, types, segments, is_split, std::string(tile.kernel), definitions, p, std::move(reads),
              tiles(p, tile), tile.threads);
  return plan;
}

}  // namespace

KERNEL(matmul, plan_matmul)

}  // namespace ferrule::metal
