// The k greatest or least elements along an axis.
#include <ferrule/ops.h>

#include <algorithm>
#include <bit>

#include "graphs/layout.h"
#include "kernels/planning.h"
#include "kernels/sorting/topk.h"

namespace ferrule::cuda {
namespace {

void bind_rows(Launch& launch, size_t rows, const PlannedNode& node) {
  launch.reads(rows + offsetof(TopkRows, x), node.input_value(0));
  launch.writes(rows + offsetof(TopkRows, values), node.output_value(0));
  launch.writes(rows + offsetof(TopkRows, indices), node.output_value(1));
}

bool has_keys(const sdk::Operand& x) { return is_floating(x) || (x.dtype_row() && x.dtype_row()->is_integer()); }
size_t key_bytes_of(const sdk::Operand& x) { return std::max<size_t>(4, x.item_size()); }
uint64_t aligned(uint64_t bytes) { return quotient_up(bytes, 256) * 256; }

// Levels of chunks. The candidates of a level are in one half of the scratch memory, and those of the next level in the
// other.
void add_levels(Plan& plan, const PlannedNode& node, const TopkRows& rows, uint64_t row_count) {
  const sdk::Operand x = node.input(0);
  const auto k = static_cast<uint64_t>(rows.k);
  const std::string kernel = "topk." + abbreviation_of(x);
  const auto chunks_of = [](uint64_t count) { return quotient_up(count, topk_chunk); };
  // The last chunk may have fewer than k elements.
  const auto candidates_of = [&](uint64_t count) {
    const uint64_t before = chunks_of(count) - 1;
    return before * k + std::min(k, count - before * topk_chunk);
  };
  const auto length = static_cast<uint64_t>(rows.length), most = candidates_of(length);
  const uint64_t key_bytes = aligned(row_count * most * key_bytes_of(x)),
                 half = key_bytes + aligned(row_count * most * 4);
  uint64_t from = 0, count = length;
  for (uint32_t level = 0;; ++level) {
    TopkParameters p{};
    p.rows = rows;
    p.from.count = count;
    p.chunks = chunks_of(count);
    p.is_first = level == 0 ? 1 : 0;
    p.is_last = p.chunks == 1 ? 1 : 0;
    p.to.count = candidates_of(count);
    Launch& launch = plan.launches.emplace_back(launch_of(kernel, p, row_count * p.chunks, topk_threads));
    bind_rows(launch, offsetof(TopkParameters, rows), node);
    constexpr size_t keys = offsetof(TopkCandidates, keys), indices = offsetof(TopkCandidates, indices);
    if (p.is_first == 0) {
      launch.uses_scratch(offsetof(TopkParameters, from) + keys, from, false);
      launch.uses_scratch(offsetof(TopkParameters, from) + indices, from + key_bytes, false);
    }
    if (p.is_last != 0) return;
    const uint64_t to = from == half || level == 0 ? 0 : half;
    launch.uses_scratch(offsetof(TopkParameters, to) + keys, to, true);
    launch.uses_scratch(offsetof(TopkParameters, to) + indices, to + key_bytes, true);
    plan.scratch = std::max(plan.scratch, to + half);
    from = to;
    count = p.to.count;
  }
}

void add_short(Plan& plan, const PlannedNode& node, const TopkRows& rows, uint64_t row_count) {
  const TopkShortParameters p = {.rows = rows, .row_count = row_count};
  Launch& launch =
      plan.launches.emplace_back(launch_of("topk_short." + abbreviation_of(node.input(0)), p,
                                           quotient_up(row_count, topk_short_threads / 32), topk_short_threads));
  bind_rows(launch, offsetof(TopkShortParameters, rows), node);
}

void add_large(Plan& plan, const PlannedNode& node, const TopkRows& rows, uint64_t row_count) {
  const sdk::Operand x = node.input(0);
  TopkLargeParameters p{};
  p.rows = rows;
  p.padded = std::bit_ceil(static_cast<uint64_t>(rows.k));
  const uint64_t key_bytes = aligned(row_count * p.padded * key_bytes_of(x));
  plan.scratch = key_bytes + row_count * p.padded * 4;
  Launch& launch =
      plan.launches.emplace_back(launch_of("topk_large." + abbreviation_of(x), p, row_count, topk_large_threads));
  bind_rows(launch, offsetof(TopkLargeParameters, rows), node);
  launch.uses_scratch(offsetof(TopkLargeParameters, keys), 0, true);
  launch.uses_scratch(offsetof(TopkLargeParameters, indices), key_bytes, true);
}

Plan plan_topk(const PlannedNode& node, const Capabilities&) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const auto& attributes = node.attributes<fe_topk_attributes>();
  const sdk::Operand x = node.input(0), values = node.output(0), indices = node.output(1);
  const auto at = static_cast<size_t>(attributes.axis);
  const int64_t length = x.shape()[at], k = attributes.k;
  if (k < 0 || k > length || values.rank() != x.rank() || indices.rank() != x.rank())
    return refusal("the outputs have other shapes");
  for (size_t axis = 0; axis < x.shape().size(); ++axis)
    for (const sdk::Operand& out : {values, indices})
      if (out.shape()[axis] != (axis == at ? k : x.shape()[axis])) return refusal("the outputs have other shapes");
  if (!has_keys(x) || values.dtype() != x.dtype() || !indices.is("int64")) return refusal("no keys of these dtypes");
  if (length > INT32_MAX) return refusal("it counts elements of a row in 32 bits");
  Plan plan;
  if (values.count() == 0) return plan;

  std::vector<int64_t> shape, strides;
  int64_t inner = 1;
  for (size_t axis = 0; axis < x.shape().size(); ++axis) {
    if (axis == at) continue;
    shape.push_back(x.shape()[axis]);
    strides.push_back(x.strides()[axis]);
    if (axis > at) inner *= x.shape()[axis];
  }
  TopkRows rows{};
  rows.kept = layout_of(shape, strides);
  rows.length = length;
  rows.stride = x.strides()[at];
  rows.k = k;
  rows.inner = inner;
  rows.is_least = attributes.largest != 0 ? 0 : 1;
  const auto row_count = static_cast<uint64_t>(values.count() / k);
  if (length <= topk_short_length && k <= topk_short_most)
    add_short(plan, node, rows, row_count);
  else if (k <= topk_most)
    add_levels(plan, node, rows, row_count);
  else
    add_large(plan, node, rows, row_count);
  return plan;
}

}  // namespace

KERNEL(topk, plan_topk)

}  // namespace ferrule::cuda
