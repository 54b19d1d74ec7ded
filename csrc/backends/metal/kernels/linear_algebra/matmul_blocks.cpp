// Products with weights in blocks: two kernels, for few rows and for many, which give the same bits.
#include "kernels/linear_algebra/matmul_blocks.h"

#include <ferrule/cpp/decoded_blocks.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "kernels/block_formats.h"
#include "kernels/linear_algebra/product_plan.h"

namespace ferrule::metal {
namespace {

struct Parameters {
  Layout a_batches, b_batches;
  int64_t a_row, a_column, b_first, b_column;
  uint64_t batches;
  uint32_t m, n, k, unused;
};

struct Tile {
  const char* kernel;
  uint32_t m, n, own_m, own_n, threads;
  uint32_t depth;  // along K, in threadgroup memory
};

constexpr uint32_t few = 16;  // rows that one lane adds up

uint64_t tiles(const Parameters& p, const Tile& tile) {
  return p.batches * quotient_up(p.m, tile.m) * quotient_up(p.n, tile.n);
}

// Chooses the tile as for products without blocks (matmul.cpp).
Tile tile_for(const Parameters& p) {
  if (p.m <= few) return {"matmul_blocks_few", std::bit_ceil(p.m), 32, 1, 1, 32, 256};
  constexpr Tile large = {"matmul_blocks", 128, 128, 8, 8, 256, 16}, medium = {"matmul_blocks", 64, 64, 4, 4, 256, 32},
                 small = {"matmul_blocks", 32, 32, 2, 4, 128, 32};
  if (p.m >= large.m && p.n >= large.n && tiles(p, large) >= busy) return large;
  return p.m > 32 && tiles(p, medium) >= busy / 4 ? medium : small;
}

std::string weight_of(const sdk::Operand& a) {
  return a.is("float32") ? "(x)" : joined({"rounded_", formats().of(a.dtype()).name, "(x)"});
}

}  // namespace

std::optional<Plan> plan_block_product(const PlannedNode& node) {
  const sdk::Operand a = node.input(0), b = node.input(1), out = node.output(0);
  if (node.writers() == nullptr || !computes_in_float(a) || out.count() == 0) return std::nullopt;
  const auto blocks = sdk::find_decoded_blocks(node, 1, static_cast<size_t>(b.rank() - 2), *node.writers());
  if (!blocks) return std::nullopt;
  const fe_dtype_info& dtype = *sdk::host->dtype_info(blocks->dtype);
  const auto words_of = [&](int64_t count) { return count / dtype.block_elements * sdk::BlockWords(dtype).count; };

  const int64_t m = from_end(out.shape(), 2), n = from_end(out.shape(), 1), k = from_end(a.shape(), 1);
  Parameters p = {.a_batches = batches_of(a, out),
                  .b_batches = batches_of(b, out),
                  .a_row = from_end(a.strides(), 2),
                  .a_column = from_end(a.strides(), 1),
                  .b_first = words_of(blocks->first),
                  .b_column = words_of(from_end(b.strides(), 1)),
                  .batches = static_cast<uint64_t>(out.count() / m / n),
                  .m = static_cast<uint32_t>(m),
                  .n = static_cast<uint32_t>(n),
                  .k = static_cast<uint32_t>(k),
                  .unused = 0};
  for (uint32_t axis = 0; axis < p.b_batches.rank; ++axis)
    p.b_batches.strides[axis] = words_of(p.b_batches.strides[axis]);

  const Tile tile = tile_for(p);
  const Types types = types_of(a);
  const Segments segments(p.k, static_cast<uint64_t>(out.count()), types);
  const bool is_split = segments.may_be_split() && tiles(p, tile) * tile.threads < busy * 128;
  const bool is_along_k = std::abs(p.a_column) < std::abs(p.a_row);
  const std::string definitions =
      block_format(blocks->dtype) + definition("WEIGHT(x)", weight_of(a)) + definition("SEGMENT", segment) +
      definition("TILE_M", tile.m) + definition("TILE_N", tile.n) + definition("OWN_M", tile.own_m) +
      definition("OWN_N", tile.own_n) + definition("DEPTH", tile.depth) + definition("A_ALONG_K", is_along_k);
  Plan plan = plan_named(tile.kernel);
  plan.unread = {1};
  add_product(plan, node, types, segments, is_split, tile.kernel, definitions, p, {node.input_value(0), blocks->value},
              tiles(p, tile), tile.threads);
  return plan;
}

}  // namespace ferrule::metal
