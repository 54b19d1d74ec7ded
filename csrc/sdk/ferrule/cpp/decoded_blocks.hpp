// Finds operands that other nodes of the graph decode from a block dtype, so that a kernel may read the blocks.
#ifndef FERRULE_CPP_DECODED_BLOCKS_HPP
#define FERRULE_CPP_DECODED_BLOCKS_HPP

#include <ferrule/cpp/graph.hpp>
#include <ferrule/cpp/storage_writers.hpp>

#include <cstdint>
#include <optional>

namespace ferrule::sdk {

// The blocks that an operand is decoded from, in the order of memory: element i is in block i / dtype->block_elements.
// Strides and offsets of the operand count elements, and are multiples of those of a block.
struct DecodedBlocks {
  uint32_t value;  // of the graph view: the blocks
  fe_dtype dtype;
  int64_t first;  // the operand's first element
};

// The blocks that `input` of the node is decoded from: by a cast to float32, and perhaps by another one to a half.
// Returns nothing if there are none, or they are not whole: elements that are adjacent along `axis` must be adjacent in
// memory, and any other step must be one of whole blocks.
inline std::optional<DecodedBlocks> find_decoded_blocks(const Node& node, uint32_t input, size_t axis,
                                                        const StorageWriters& writers) {
  const fe_graph_view& view = node.view();
  const auto value_of = [&](const Node& of, uint32_t i) { return view.nodes[of.index()]->inputs[i]; };
  // The cast that writes the storage of a value.
  const auto cast_to = [&](uint32_t value, uint32_t before) -> std::optional<Node> {
    const std::optional<uint32_t> index = writers.of(view.values[value]->storage);
    if (!index || *index >= before) return std::nullopt;
    const Node cast(view, *index);
    return cast.op() == "astype" && cast.body() == nullptr ? std::optional(cast) : std::nullopt;
  };
  const auto is_whole = [&](uint32_t value) {
    const fe_value& x = *view.values[value];
    return x.offset == 0 && x.offset_slot < 0 && Operand(view, value).is_contiguous();
  };

  const uint32_t decoded = value_of(node, input);
  std::optional<Node> cast = cast_to(decoded, node.index());
  if (cast && is_half(cast->output(0)) && cast->input(0).is("float32")) {
    const uint32_t middle = value_of(*cast, 0);
    const std::optional<Node> decoding = cast_to(middle, cast->index());
    if (!decoding || !is_whole(middle) || cast->input(0).count() != decoding->output(0).count()) return std::nullopt;
    cast.emplace(*decoding);
  }
  if (!cast) return std::nullopt;
  const Operand blocks = cast->input(0);
  const int64_t elements = blocks.dtype_info().block_elements;
  if (elements == 1 || !cast->output(0).is("float32") || !blocks.is_contiguous() || !stays(view, value_of(*cast, 0)))
    return std::nullopt;

  const Operand x = node.input(input);
  const fe_value& value = *view.values[decoded];
  if (value.offset_slot >= 0 || value.offset % elements != 0) return std::nullopt;
  for (size_t i = 0; i < x.shape().size(); ++i) {
    const bool is_along = i == axis;
    if (is_along && (x.strides()[i] != 1 || x.shape()[i] % elements != 0)) return std::nullopt;
    if (!is_along && x.shape()[i] != 1 && x.strides()[i] % elements != 0) return std::nullopt;
  }
  return DecodedBlocks{value_of(*cast, 0), blocks.dtype(), value.offset};
}

}  // namespace ferrule::sdk

#endif
