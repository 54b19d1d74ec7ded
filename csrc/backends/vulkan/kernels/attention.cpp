// Scaled dot-product attention in one pass (attention.comp).
#include <ferrule/ops.h>

#include <cmath>

#include "graphs/layout.h"
#include "planning.h"

namespace ferrule::vulkan {
namespace {

struct Parameters {
  Layout query_batches, key_batches, value_batches, mask_batches;
  int64_t query_row, query_column, key_row, key_column, value_row, value_column, mask_row, mask_column;
  uint64_t batches;
  uint32_t queries, keys;
  float scale;
  uint32_t to, key_count;
  uint32_t head, value_head;
};
static_assert(sizeof(Parameters) == 4 * sizeof(Layout) + 104);

constexpr int64_t longest_head = 256;
constexpr uint32_t workgroup = 128;

// Pipelines differ in head sizes that are multiples of this (BLOCK of attention.comp): compiling one takes seconds on a
// software device.
constexpr uint32_t head_block = 32;
constexpr uint32_t padded(int64_t head) {
  return (static_cast<uint32_t>(head) + head_block - 1) / head_block * head_block;
}

constexpr uint64_t shared_bytes(uint64_t queries, uint64_t head) {
  return 4 * (queries * head + 1 + 32 * 33 + 2 * 32 * queries);
}
static_assert(shared_bytes(8, longest_head) <= 16384, "every device has so much");

// The stride of the axis at `from_end` from the end, in an operand that may be broadcast along it.
int64_t stride_of(const sdk::Operand& x, int from_end) {
  const auto axis = static_cast<size_t>(x.rank() - from_end);
  return x.rank() < from_end || x.shape()[axis] == 1 ? 0 : x.strides()[axis];
}

// The leading axes of an operand, broadcast to those of the queries.
Layout batches_of(uint32_t value, const sdk::Operand& x, const sdk::Operand& query) {
  const auto leading = static_cast<size_t>(query.rank() - 2);
  std::vector<int64_t> strides(leading);
  for (size_t k = 0; k < leading; ++k) strides[k] = stride_of(x, query.rank() - static_cast<int>(k));
  return layout_of(value, query.shape().first(leading), strides);
}

Plan plan_attention(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand q = node.input(0), k = node.input(1), v = node.input(2), out = node.output(0);
  if (!q.is("float32") && !is_half(q)) return refusal("it computes in float32");
  const sdk::Operand last = node.input(node.input_count() - 1);
  const bool counted = node.input_count() > 3 && (last.is("int32") || last.is("int64"));
  if (counted && last.rank() != 0) return refusal("kv_length must be a 0-d integer");
  const uint32_t tensors = node.input_count() - (counted ? 1 : 0);
  const bool masked = tensors > 3;
  const bool keeps = masked && node.input(3).is("bool");
  for (uint32_t i = 1; i < tensors; ++i)
    if (node.input(i).dtype() != q.dtype() && !(i == 3 && keeps)) return refusal("the operands differ in dtype");
  const auto size_of = [](const sdk::Operand& x, int from_end) {
    return x.shape()[static_cast<size_t>(x.rank() - from_end)];
  };
  const int64_t queries = size_of(q, 2), keys = size_of(k, 2), head = size_of(q, 1), value_head = size_of(v, 1);
  if (std::max(head, value_head) > longest_head) return refusal("a head is longer than 256 elements");
  if (std::max(queries, keys) > INT32_MAX) return refusal("a matrix is larger than its kernel can number");
  Plan plan = plan_named("attention." + abbreviation_of(q));
  if (out.count() == 0) return plan;

  const auto& attributes = node.attributes<fe_scaled_dot_product_attention_attributes>();
  const double scale =
      attributes.scale > 0 ? attributes.scale : 1 / std::sqrt(static_cast<double>(std::max<int64_t>(head, 1)));
  Parameters p = {.query_batches = batches_of(node.input_value(0), q, q),
                  .key_batches = batches_of(node.input_value(1), k, q),
                  .value_batches = batches_of(node.input_value(2), v, q),
                  .mask_batches = {},
                  .query_row = stride_of(q, 2),
                  .query_column = stride_of(q, 1),
                  .key_row = stride_of(k, 2),
                  .key_column = stride_of(k, 1),
                  .value_row = stride_of(v, 2),
                  .value_column = stride_of(v, 1),
                  .mask_row = 0,
                  .mask_column = 0,
                  .batches = static_cast<uint64_t>(out.count() / queries / value_head),
                  .queries = static_cast<uint32_t>(queries),
                  .keys = static_cast<uint32_t>(keys),
                  .scale = static_cast<float>(scale),
                  .to = node.output_value(0),
                  .key_count = 0,
                  .head = static_cast<uint32_t>(head),
                  .value_head = static_cast<uint32_t>(value_head)};
  std::vector<uint32_t> reads = {p.query_batches.value, p.key_batches.value, p.value_batches.value};
  if (masked) {
    p.mask_batches = batches_of(node.input_value(3), node.input(3), q);
    p.mask_row = stride_of(node.input(3), 2);
    p.mask_column = stride_of(node.input(3), 1);
    reads.push_back(p.mask_batches.value);
  }
  if (counted) {
    p.key_count = node.input_value(node.input_count() - 1);
    reads.push_back(p.key_count);
  }
  const uint32_t block = queries <= 4 ? 4 : shared_bytes(16, padded(head)) <= capabilities.shared_memory ? 16 : 8;
  plan.launches.push_back(
      dispatch_of(plan.support.kernel, p, std::move(reads), p.to,
                  {block, padded(head), padded(value_head), masked ? (keeps ? 1u : 2u) : 0u, attributes.causal != 0,
                   counted ? static_cast<uint32_t>(last.item_size()) : 0u}));
  const uint64_t blocks = (p.queries + block - 1) / block;
  set_grid(plan.launches.back(), p.batches * blocks * workgroup, capabilities, workgroup);
  return plan;
}

}  // namespace

KERNEL(scaled_dot_product_attention, plan_attention)

}  // namespace ferrule::vulkan
