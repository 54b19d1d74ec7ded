// Scaled dot-product attention. Few queries: one thread block for each block of keys, then a kernel that merges their
// parts; else one thread block for all keys of a block of rows, by wgmma where attention_hopper_plan.h says so. All
// give the same bits (attention_rows.h).
#include "kernels/attention/attention.h"

#include <ferrule/ops.h>

#include <cmath>

#include "kernels/attention/attention_hopper_plan.h"
#include "kernels/planning.h"

namespace ferrule::cuda {
namespace {

constexpr int64_t longest_head = 256, few_queries = 16;

int64_t size_of(const sdk::Operand& x, int from_end) { return x.shape()[static_cast<size_t>(x.rank() - from_end)]; }

// The stride of the axis at `from_end` from the end, in an operand that may be broadcast along it.
int64_t stride_of(const sdk::Operand& x, int from_end) {
  const auto axis = static_cast<size_t>(x.rank() - from_end);
  return x.rank() < from_end || x.shape()[axis] == 1 ? 0 : x.strides()[axis];
}

// The batches are the leading axes of the queries, without the axis of the group.
struct Batches {
  std::vector<int> from_end;  // the axes
  std::vector<int64_t> shape;
  int group_axis = 0;  // from the end; 0 if there is none
  uint64_t count = 1;

  Layout of(const sdk::Operand& x) const {
    std::vector<int64_t> strides;
    strides.reserve(from_end.size());
    for (const int axis : from_end) strides.push_back(stride_of(x, axis));
    return layout_of(shape, strides);
  }
};

// Heads of queries that share keys and values are seen as an axis that is broadcast: the last one.
Batches batches_of(const sdk::Operand& q, const sdk::Operand& k, const sdk::Operand& v, bool in_groups) {
  Batches batches;
  for (int axis = 3; axis <= q.rank() && in_groups && batches.group_axis == 0; ++axis) {
    if (size_of(q, axis) == 1) continue;
    if (stride_of(k, axis) != 0 || stride_of(v, axis) != 0) break;
    batches.group_axis = axis;
  }
  for (int axis = q.rank(); axis > 2; --axis) {
    if (axis == batches.group_axis) continue;
    batches.from_end.push_back(axis);
    batches.shape.push_back(size_of(q, axis));
    batches.count *= static_cast<uint64_t>(size_of(q, axis));
  }
  return batches;
}

// The kernel for heads of this length.
struct Variant {
  bool has_matrix_instructions;
  uint32_t columns;  // of its tiles
  uint32_t key_block;
  uint32_t most_warps;  // of a thread block for many queries

  uint32_t shared_memory(uint32_t rows) const {
    return has_matrix_instructions ? (rows + 2 * key_block) * columns * 2 : 0;
  }
};

Variant variant_of(const sdk::Operand& q, uint32_t head, const Capabilities& capabilities) {
  const uint32_t columns = head <= 64 ? 64 : head <= 128 ? 128 : 256;
  const Variant tiles = {true, columns, columns <= 128 ? attention_wide_block : attention_block,
                         columns <= 128 ? 8u : 4u};
  if (is_half(q) && capabilities.compute >= 80 &&
      capabilities.shared_memory >= tiles.shared_memory(tiles.most_warps * attention_row_tile))
    return tiles;
  return {false, columns <= 128 ? 128u : 256u, attention_block, attention_simt_threads / 32};
}

void bind(Launch& launch, const PlannedNode& node, bool is_masked, bool is_counted) {
  using P = AttentionParameters;
  for (uint32_t i = 0; i < (is_masked ? P::operands : P::mask); ++i)
    launch.reads(offsetof(P, inputs) + i * sizeof(Address), node.input_value(i));
  if (is_counted) launch.reports_faults(offsetof(P, fault));
}

// Binds the number of keys: a scalar itself, or where it is stored.
void bind_length(Launch& launch, size_t offset, const PlannedNode& node) {
  const uint32_t input = node.input_count() - 1;
  if (node.is_scalar_input(input))
    launch.takes_scalar(offset, node.input_value(input));
  else
    launch.reads(offset, node.input_value(input));
}

// Adds the launches for few queries: parts, in scratch memory, and their combination.
void add_decoding(Plan& plan, AttentionParameters p, const Variant& variant, const PlannedNode& node,
                  const std::string& dtype, uint64_t batches, bool is_masked, bool is_counted) {
  const uint64_t rows = uint64_t{p.group} * p.queries;
  p.tiles = static_cast<uint32_t>(quotient_up(rows, attention_row_tile));
  p.blocks = static_cast<uint32_t>(quotient_up(p.keys, variant.key_block));
  const uint64_t parts = batches * rows * p.blocks;
  const uint64_t weighted_bytes = quotient_up(parts * p.value_head * sizeof(float), 256) * 256;
  plan.scratch = weighted_bytes + parts * sizeof(AttentionPart);
  const std::string name = variant.has_matrix_instructions ? "attention_decode." : "attention_simt.parts_";
  Launch launch = launch_of(name + dtype + "_" + std::to_string(variant.columns), p, batches * p.tiles * p.blocks,
                            variant.has_matrix_instructions ? attention_decode_threads : attention_simt_threads,
                            variant.shared_memory(attention_row_tile));
  bind(launch, node, is_masked, is_counted);
  if (is_counted) bind_length(launch, offsetof(AttentionParameters, length), node);
  launch.uses_scratch(offsetof(AttentionParameters, weighted), 0, true);
  launch.uses_scratch(offsetof(AttentionParameters, parts), weighted_bytes, true);
  plan.launches.push_back(std::move(launch));

  const AttentionCombineParameters combine = {.weighted = 0,
                                              .parts = 0,
                                              .to = 0,
                                              .length = 0,
                                              .rows = batches * rows,
                                              .rows_of_batch = rows,
                                              .value_head = p.value_head,
                                              .keys = p.keys,
                                              .key_block = variant.key_block,
                                              .blocks = p.blocks,
                                              .length_bytes = p.length_bytes,
                                              .length_is_stored = p.length_is_stored};
  const uint64_t warps = batches * rows * quotient_up(p.value_head, 32);
  Launch combination = launch_of("attention_combine." + dtype, combine, quotient_up(warps, 4), 128);
  combination.uses_scratch(offsetof(AttentionCombineParameters, weighted), 0, false);
  combination.uses_scratch(offsetof(AttentionCombineParameters, parts), weighted_bytes, false);
  if (is_counted) bind_length(combination, offsetof(AttentionCombineParameters, length), node);
  combination.writes(offsetof(AttentionCombineParameters, to), node.output_value(0));
  plan.launches.push_back(std::move(combination));
}

// Adds the launch for many queries, or for one block of keys.
void add_prefill(Plan& plan, AttentionParameters p, const Variant& variant, const PlannedNode& node,
                 const std::string& dtype, uint64_t batches, bool is_masked, bool is_counted,
                 const Capabilities& capabilities) {
  uint32_t threads = attention_simt_threads, rows = attention_simt_rows;
  if (variant.has_matrix_instructions) {
    uint32_t warps = variant.most_warps;
    // Smaller thread blocks if these are too few for all multiprocessors.
    if (batches * quotient_up(p.queries, warps * attention_row_tile) < 2 * capabilities.multiprocessors) warps = 4;
    warps = std::min<uint32_t>(warps, static_cast<uint32_t>(quotient_up(p.queries, attention_row_tile)));
    threads = 32 * warps;
    rows = warps * attention_row_tile;
  }
  p.tiles = static_cast<uint32_t>(quotient_up(p.queries, rows));
  const std::string name = variant.has_matrix_instructions ? "attention_prefill." : "attention_simt.";
  Launch launch = launch_of(name + dtype + "_" + std::to_string(variant.columns), p, batches * p.tiles, threads,
                            variant.shared_memory(rows));
  bind(launch, node, is_masked, is_counted);
  if (is_counted) bind_length(launch, offsetof(AttentionParameters, length), node);
  launch.writes(offsetof(AttentionParameters, to), node.output_value(0));
  plan.launches.push_back(std::move(launch));
}

// Adds the launch of the kernel with wgmma.
void add_hopper(Plan& plan, const AttentionParameters& p, const HopperAttention& found, const PlannedNode& node,
                const std::string& dtype, uint64_t batches, bool is_counted) {
  using Hopper = AttentionHopperParameters;
  constexpr size_t begin = offsetof(Hopper, attention);
  Hopper parameters{.maps = {}, .attention = p};
  parameters.attention.tiles = static_cast<uint32_t>(quotient_up(p.queries, AttentionHopperShape<64>::rows));
  Launch launch =
      launch_of("attention_hopper." + dtype + "_" + std::to_string(found.columns), parameters,
                batches * parameters.attention.tiles, AttentionHopperShape<64>::threads, found.shared_memory);
  for (uint32_t i = 0; i < found.maps.size(); ++i)
    launch.maps(offsetof(Hopper, maps) + i * sizeof(TensorMap), node.input_value(i), found.maps[i]);
  if (is_counted) {
    launch.reports_faults(begin + offsetof(AttentionParameters, fault));
    bind_length(launch, begin + offsetof(AttentionParameters, length), node);
  }
  launch.writes(begin + offsetof(AttentionParameters, to), node.output_value(0));
  plan.launches.push_back(std::move(launch));
}

Plan plan_attention(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand q = node.input(0), k = node.input(1), v = node.input(2), out = node.output(0);
  if (!q.is("float32") && !is_half(q)) return refusal("it computes in float32");
  const sdk::Operand last = node.input(node.input_count() - 1);
  const bool is_counted = node.input_count() > 3 && (last.is("int32") || last.is("int64"));
  if (is_counted && last.rank() != 0) return refusal("kv_length must be a 0-d integer");
  const uint32_t tensors = node.input_count() - (is_counted ? 1 : 0);
  const bool is_masked = tensors > 3;
  const bool keeps = is_masked && node.input(3).is("bool");
  for (uint32_t i = 1; i < tensors; ++i)
    if (node.input(i).dtype() != q.dtype() && !(i == 3 && keeps)) return refusal("the operands differ in dtype");
  const int64_t queries = size_of(q, 2), keys = size_of(k, 2), head = size_of(q, 1), value_head = size_of(v, 1);
  if (std::max(head, value_head) > longest_head) return refusal("a head is longer than 256 elements");
  if (std::max(queries, keys) > INT32_MAX - 1024) return refusal("a matrix is larger than its kernel can number");

  const Variant variant = variant_of(q, static_cast<uint32_t>(std::max(head, value_head)), capabilities);
  const std::string dtype = abbreviation_of(q);
  Plan plan = plan_named("attention." + dtype);
  plan.support.row_inputs = {0, 1, 2};
  if (out.count() == 0) return plan;

  // One block of keys needs no combination.
  const bool is_decoding = queries <= few_queries && keys > variant.key_block;
  const Batches batches = batches_of(q, k, v, is_decoding);
  const int64_t group = batches.group_axis == 0 ? 1 : size_of(q, batches.group_axis);
  if (group > INT32_MAX / few_queries) return refusal("a group of heads is larger than its kernel can number");
  const auto stride_of_group = [&](const sdk::Operand& x) {
    return batches.group_axis == 0 ? 0 : stride_of(x, batches.group_axis);
  };
  const auto& attributes = node.attributes<fe_scaled_dot_product_attention_attributes>();
  const double scale =
      attributes.scale > 0 ? attributes.scale : 1 / std::sqrt(static_cast<double>(std::max<int64_t>(head, 1)));
  using P = AttentionParameters;
  P p{};
  for (uint32_t i = 0; i < (is_masked ? P::operands : P::mask); ++i) p.batches[i] = batches.of(node.input(i));
  p.query_group = stride_of_group(q);
  p.query_row = stride_of(q, 2);
  p.key_row = stride_of(k, 2);
  p.value_row = stride_of(v, 2);
  if (is_masked) {
    const sdk::Operand mask = node.input(3);
    p.mask_group = stride_of_group(mask);
    p.mask_row = stride_of(mask, 2);
    p.mask_column = stride_of(mask, 1);
    p.mask_kind = keeps ? P::keeps : P::adds;
  }
  p.queries = static_cast<uint32_t>(queries);
  p.group = static_cast<uint32_t>(group);
  p.keys = static_cast<uint32_t>(keys);
  p.head = static_cast<uint32_t>(head);
  p.value_head = static_cast<uint32_t>(value_head);
  p.blocks = 1;
  p.causal = attributes.causal != 0 ? 1 : 0;
  if (is_counted) {
    p.length_bytes = static_cast<uint32_t>(last.item_size());
    p.length_is_stored = node.is_scalar_input(node.input_count() - 1) ? 0 : 1;
  }
  p.op = node.id();
  const int64_t vector = variant.has_matrix_instructions ? 8 : 4;  // items
  const auto has_vectors = [&](int64_t row, int64_t width) { return row % vector == 0 && width % vector == 0; };
  p.vectors = (has_vectors(p.query_row, head) && p.query_group % vector == 0 ? 1u << P::query : 0u) |
              (has_vectors(p.key_row, head) ? 1u << P::key : 0u) |
              (has_vectors(p.value_row, value_head) ? 1u << P::value : 0u);
  p.scale = static_cast<float>(scale);
  p.log2_scale = static_cast<float>(scale * 1.44269504088896340736);
  if (is_decoding)
    add_decoding(plan, p, variant, node, dtype, batches.count, is_masked, is_counted);
  else if (const auto found = is_half(q) ? hopper_attention_of(p, node, capabilities) : std::nullopt)
    add_hopper(plan, p, *found, node, dtype, batches.count, is_counted);
  else
    add_prefill(plan, p, variant, node, dtype, batches.count, is_masked, is_counted, capabilities);
  plan.support.kernel = plan.launches.front().kernel;
  return plan;
}

}  // namespace

KERNEL(scaled_dot_product_attention, plan_attention)

}  // namespace ferrule::cuda
