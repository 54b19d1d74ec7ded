// The common part of plans of matrix products.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graphs/element_function.h"
#include "kernels/planning.h"

namespace ferrule::metal {

inline constexpr uint32_t segment = 512;  // elements of K, as in products.metal
inline constexpr uint64_t busy = 256;     // threadgroups that keep a device busy
inline constexpr uint64_t max_scratch = uint64_t{64} << 20;

inline int64_t from_end(std::span<const int64_t> list, size_t place) { return list[list.size() - place]; }

// The leading axes of an operand, broadcast to those of the result.
inline Layout batches_of(const sdk::Operand& x, const sdk::Operand& out) {
  const auto leading = static_cast<size_t>(out.rank() - 2), missing = static_cast<size_t>(out.rank() - x.rank());
  std::vector<int64_t> strides(leading, 0);
  for (size_t k = missing; k < leading; ++k)
    if (x.shape()[k - missing] != 1) strides[k] = x.strides()[k - missing];
  return layout_of(out.shape().first(leading), strides);
}

// The types of a product's elements and sums.
struct Types {
  std::string value, definitions;
  uint64_t value_bytes;
};
inline Types types_of(const sdk::Operand& a) {
  const Format& format = formats().of(a.dtype());
  const bool is_wide = a.item_size() == 8;
  const std::string value = computes_in_float(a) ? "float" : is_wide ? "ulong" : "uint";
  std::string definitions = "typedef " + std::string(format.stored) + " Stored;\ntypedef " +
                            std::string(format.computed) + " Own;\ntypedef " + value + " Value;\n";
  if (computes_in_float(a)) definitions += definition("ADDS_FLOATS", 1);
  return {value, definitions + element_access(format), is_wide ? uint64_t{8} : uint64_t{4}};
}

inline Dispatch product_dispatch(const std::string& kernel, const std::string& definitions,
                                 const ElementFunction& function, const auto& p, std::vector<uint32_t> reads,
                                 uint64_t groups, uint32_t threads) {
  Dispatch dispatch;
  dispatch.kernel = {
      .text = "#include \"linear_algebra/" + kernel + ".metal\"\n", .function = kernel, .threads = threads};
  dispatch.set_parameters(p);
  dispatch.reads = std::move(reads);
  function.finish(dispatch);
  dispatch.kernel.text =
      "#include \"interface.metal\"\n#include \"elementwise/elements.metal\"\n" + definitions + dispatch.kernel.text;
  set_grid(dispatch, groups * threads, threads);
  return dispatch;
}

// The segments of K. Their sums are `scratch` bytes, if each is computed by threadgroups of its own.
struct Segments {
  uint64_t number, scratch;

  Segments(uint32_t k, uint64_t elements, const Types& types)
      : number(quotient_up(uint64_t{k}, uint64_t{segment})), scratch(number * elements * types.value_bytes) {}
  bool may_be_split() const { return number > 1 && scratch <= max_scratch; }
};

// Adds the dispatch of a kernel of products, `groups` threadgroups for each segment if it is split along K, else for
// all; and then the one that adds up the sums of the segments.
inline void add_product(Plan& plan, const PlannedNode& node, const Types& types, const Segments& segments,
                        bool is_split, const std::string& kernel, const std::string& definitions, const auto& p,
                        std::vector<uint32_t> reads, uint64_t groups, uint32_t threads) {
  const sdk::Operand out = node.output(0);
  const ElementCode epilogue = epilogue_of(node, 2);
  const std::string all_definitions = types.definitions + definitions +
                                      definition("IS_SEGMENTED", segments.number > 1) +
                                      definition("IS_SPLIT", is_split);
  if (!is_split) {
    plan.launches.push_back(product_dispatch(kernel, all_definitions, element_function(epilogue, out.shape(), 2), p,
                                             std::move(reads), groups, threads));
    return;
  }
  plan.scratch = segments.scratch;
  plan.launches.push_back(product_dispatch(kernel, all_definitions, partial_function(types.value, 2), p,
                                           std::move(reads), groups * segments.number, threads));
  struct Parameters {
    uint64_t count;
    uint32_t segments, unused;
  };
  constexpr uint32_t join_threads = 256;  // as in matmul_segments.metal
  const Parameters join = {
      .count = static_cast<uint64_t>(out.count()), .segments = static_cast<uint32_t>(segments.number), .unused = 0};
  plan.launches.push_back(product_dispatch("matmul_segments", types.definitions,
                                           element_function(epilogue, out.shape(), 1), join, {scratch_value},
                                           quotient_up(join.count, uint64_t{join_threads}), join_threads));
}

}  // namespace ferrule::metal
