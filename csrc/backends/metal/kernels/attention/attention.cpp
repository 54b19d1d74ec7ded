// Scaled dot-product attention in one pass, by 8 x 8 products of simdgroups where the GPU has them
// (attention_tiles.metal), for any number of queries, because their order of summation is not specified; else by
// threads (attention.metal). Where there are too few queries to keep the device busy, each threadgroup has one chunk of
// the keys; the result is the same.
#include <ferrule/ops.h>

#include <cmath>

#include "kernels/planning.h"

namespace ferrule::metal {
namespace {

struct Parameters {
  Layout query_batches, key_batches, value_batches, mask_batches;
  int64_t query_row, query_column, key_row, key_column, value_row, value_column, mask_row, mask_column;
  uint64_t batches;
  uint32_t queries, keys;
  uint32_t head, value_head;
  float scale;
  uint32_t chunks;
  uint32_t result, unused;
};

constexpr int64_t longest_head = 256;
constexpr uint32_t threads = 128;    // as in attention.metal
constexpr uint32_t head_block = 32;  // BLOCK of attention.metal
constexpr int64_t chunk = 256;       // as in attention_state.metal
constexpr uint64_t busy = 128;       // threadgroups that keep a device busy
constexpr uint64_t max_scratch = uint64_t{64} << 20;

constexpr uint32_t padded(int64_t head) {
  return (static_cast<uint32_t>(head) + head_block - 1) / head_block * head_block;
}
constexpr uint64_t threadgroup_bytes(uint64_t queries, uint64_t head) {
  return 4 * (queries * head + 1 + 32 * 33 + 32 * queries);
}
static_assert(threadgroup_bytes(8, longest_head) <= 16384, "every device has so much");
constexpr uint64_t tiles_bytes(uint64_t queries, uint64_t head) {
  return 4 * (queries * (head + 4) + 32 * 36 + 36 * queries + 2 * queries);
}
static_assert(tiles_bytes(16, longest_head) <= 32768, "GPUs of family Apple7 and later have so much");

// The queries of a threadgroup.
uint32_t query_block(int64_t queries, uint32_t head, const Capabilities& capabilities) {
  if (capabilities.has_simdgroup_matrices) {
    if (queries <= 8) return 8;
    return queries <= 16 || tiles_bytes(32, head) > capabilities.threadgroup_memory ? 16 : 32;
  }
  if (queries <= 4) return 4;
  return threadgroup_bytes(16, head) <= capabilities.threadgroup_memory ? 16 : 8;
}

// The stride of the axis at `from_end` from the end, in an operand that may be broadcast along it.
int64_t stride_of(const sdk::Operand& x, int from_end) {
  const auto axis = static_cast<size_t>(x.rank() - from_end);
  return x.rank() < from_end || x.shape()[axis] == 1 ? 0 : x.strides()[axis];
}
int64_t size_of(const sdk::Operand& x, int from_end) { return x.shape()[static_cast<size_t>(x.rank() - from_end)]; }

// The leading axes of an operand, broadcast to those of the queries.
Layout batches_of(const sdk::Operand& x, const sdk::Operand& query) {
  const auto leading = static_cast<size_t>(query.rank() - 2);
  std::vector<int64_t> strides(leading);
  for (size_t k = 0; k < leading; ++k) strides[k] = stride_of(x, query.rank() - static_cast<int>(k));
  return layout_of(query.shape().first(leading), strides);
}

Plan plan_attention(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand q = node.input(0), k = node.input(1), v = node.input(2), out = node.output(0);
  if (!computes_in_float(q)) return refusal("it computes in float32");
  const sdk::Operand last = node.input(node.input_count() - 1);
  const bool counted = node.input_count() > 3 && (last.is("int32") || last.is("int64"));
  if (counted && last.rank() != 0) return refusal("kv_length must be a 0-d integer");
  const uint32_t tensors = node.input_count() - (counted ? 1 : 0);
  const bool masked = tensors > 3;
  const bool keeps = masked && node.input(3).is("bool");
  for (uint32_t i = 1; i < tensors; ++i)
    if (node.input(i).dtype() != q.dtype() && !(i == 3 && keeps)) return refusal("the operands differ in dtype");
  const int64_t queries = size_of(q, 2), keys = size_of(k, 2), head = size_of(q, 1), value_head = size_of(v, 1);
  if (std::max(head, value_head) > longest_head) return refusal("a head is longer than 256 elements");
  if (std::max(queries, keys) > INT32_MAX) return refusal("a matrix is larger than its kernel can number");
  const bool by_simdgroups = capabilities.has_simdgroup_matrices;
  const std::string kernel = by_simdgroups ? "attention_tiles" : "attention";
  Plan plan = plan_named(kernel);
  if (out.count() == 0) return plan;

  const auto& attributes = node.attributes<fe_scaled_dot_product_attention_attributes>();
  const double scale =
      attributes.scale > 0 ? attributes.scale : 1 / std::sqrt(static_cast<double>(std::max<int64_t>(head, 1)));
  Parameters p = {.query_batches = batches_of(q, q),
                  .key_batches = batches_of(k, q),
                  .value_batches = batches_of(v, q),
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
                  .head = static_cast<uint32_t>(head),
                  .value_head = static_cast<uint32_t>(value_head),
                  .scale = static_cast<float>(scale),
                  .chunks = static_cast<uint32_t>(quotient_up(keys, chunk)),
                  .result = node.output_value(0),
                  .unused = 0};
  if (masked) {
    p.mask_batches = batches_of(node.input(3), q);
    p.mask_row = stride_of(node.input(3), 2);
    p.mask_column = stride_of(node.input(3), 1);
  }
  std::vector<uint32_t> reads;
  reads.reserve(node.input_count());
  for (uint32_t i = 0; i < node.input_count(); ++i) reads.push_back(node.input_value(i));

  const uint32_t block = query_block(queries, padded(head), capabilities);
  const uint64_t units = p.batches * quotient_up(p.queries, block);
  const uint64_t scratch = p.chunks * p.batches * p.queries * (p.value_head + 2) * 4;
  const bool is_split = p.chunks > 1 && units < busy && scratch <= max_scratch;

  const Format& format = formats().of(q.dtype());
  const std::string stored(format.stored);
  const auto definitions = [&](uint32_t length_place) {
    return "#include \"elementwise/elements.metal\"\n" + type_definition("Stored", stored) + element_access(format) +
           tile_access(format) + element_store(format) +
           type_definition("Length", counted && last.is("int64") ? "long" : "int") + definition("HAS_LENGTH", counted) +
           definition("LENGTH_PLACE", length_place) + definition("RESULT_PLACE", length_place + (counted ? 1 : 0));
  };
  const std::string kinds =
      definition("QUERIES", block) + definition("HEAD", padded(head)) + definition("VALUE_HEAD", padded(value_head)) +
      definition("MASK", masked ? (keeps ? 1 : 2) : 0) + type_definition("MaskItem", keeps ? "uchar" : stored) +
      definition("IS_CAUSAL", attributes.causal != 0) + definition("IS_CHUNKED", p.chunks > 1) +
      definition("IS_SPLIT", is_split);
  plan.launches.push_back(kernel_dispatch("attention/" + kernel, kernel, definitions(tensors) + kinds, p,
                                          std::move(reads), {is_split ? scratch_value : p.result},
                                          units * (is_split ? p.chunks : 1) * threads, threads));
  plan.launches.back().shuffles = true;
  if (!is_split) return plan;
  plan.scratch = scratch;
  reads = {scratch_value};
  if (counted) reads.push_back(node.input_value(node.input_count() - 1));
  plan.launches.push_back(kernel_dispatch("attention/attention_chunks", "attention_chunks", definitions(1), p,
                                          std::move(reads), {p.result}, static_cast<uint64_t>(out.count())));
  return plan;
}

}  // namespace

KERNEL(scaled_dot_product_attention, plan_attention)

}  // namespace ferrule::metal
