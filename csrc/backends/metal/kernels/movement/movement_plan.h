// The common part of plans of kernels that move items.
#pragma once

#include "kernels/planning.h"

namespace ferrule::metal {

// The definition of `Item` for elements of this size. Throws FE_UNSUPPORTED for other sizes than 1, 2, 4 and 8 bytes.
inline std::string item_definition(const sdk::Operand& operand) {
  return "typedef " + std::string(formats().of_bits(operand).stored) + " Item;\n";
}
// The definition of `Index` for indices in memory, which are int32 or int64.
inline std::string index_definition(const sdk::Operand& indices) {
  return std::string("typedef ") + (indices.item_size() == 8 ? "long" : "int") + " Index;\n";
}
inline bool are_indices(const sdk::Operand& x) { return x.is("int32") || x.is("int64"); }

// A dispatch of a kernel of a file of kernels/movement/, with a thread for each of `count` elements.
template <class Parameters>
Dispatch movement_dispatch(const std::string& file, const std::string& function, const std::string& definitions,
                           const Parameters& p, std::vector<uint32_t> reads, std::vector<uint32_t> writes,
                           uint64_t count) {
  return kernel_dispatch("movement/" + file, function, definitions, p, std::move(reads), std::move(writes), count);
}

// The parameters of copy.metal.
struct CopyParameters {
  Layout from, to;  // of one shape
  uint64_t count;
};

// Adds the dispatch that copies x, the first input, to the first output, of the same shape and dtype. A later dispatch
// replaces parts of it.
inline void add_copy(Plan& plan, const PlannedNode& node, const std::string& item) {
  const sdk::Operand x = node.input(0), out = node.output(0);
  const CopyParameters p = {layout_of(x), layout_of(out), static_cast<uint64_t>(out.count())};
  if (p.count > 0)
    plan.launches.push_back(
        movement_dispatch("copy", "copy_items", item, p, {node.input_value(0)}, {node.output_value(0)}, p.count));
}

inline int64_t product_of(std::span<const int64_t> sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes) product *= size;
  return product;
}

}  // namespace ferrule::metal
