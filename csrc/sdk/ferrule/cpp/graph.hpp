// Nodes and operands of a graph view. See ferrule/backend.hpp.
#ifndef FERRULE_CPP_GRAPH_HPP
#define FERRULE_CPP_GRAPH_HPP

#include <ferrule/cpp/dtypes.hpp>
#include <ferrule/cpp/error.hpp>
#include <ferrule/cpp/value_place.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

namespace ferrule::sdk {

// Whether an axis and the axis of `size` elements within it, whose steps are `outer` and `inner`, can be traversed as
// one axis. A graph's strides may be of any size that reaches no further than 63 bits; `inner * size` may need one
// more.
inline bool is_one_axis(int64_t outer, int64_t inner, int64_t size) {
  return size > 0 && outer % size == 0 && outer / size == inner;
}

// A value of a graph view: dtype, shape, strides, and where its bytes are bound. It is a copy, which a kernel may keep
// after compilation.
class Operand {
 public:
  Operand(const fe_graph_view& view, uint32_t index) : place_(view, index) {
    const fe_value& value = *view.values[index];
    dtype_ = value.dtype;
    info_ = host->dtype_info(dtype_);
    rank_ = value.rank;
    std::copy_n(value.shape, rank_, shape_.begin());
    std::copy_n(value.strides, rank_, strides_.begin());
  }

  fe_dtype dtype() const { return dtype_; }
  const fe_dtype_info& dtype_info() const { return *info_; }
  // The row of the dtype; null for one that is newer than these headers.
  const DTypeInfo* dtype_row() const { return find_dtype(info_->name); }
  // Whether the dtype has this name.
  bool is(const char* dtype) const { return dtype_ == host->dtype_id(dtype); }
  size_t item_size() const { return info_->block_bytes; }  // bytes of an element of a plain dtype
  int64_t bytes_of(int64_t elements) const { return fe_bytes_of(info_, elements); }
  int rank() const { return rank_; }
  std::span<const int64_t> shape() const { return {shape_.data(), static_cast<size_t>(rank_)}; }
  std::span<const int64_t> strides() const { return {strides_.data(), static_cast<size_t>(rank_)}; }  // in elements
  bool is_constant() const { return place_.kind() == FE_STORAGE_CONSTANT; }
  int64_t count() const {
    int64_t product = 1;
    for (const int64_t size : shape()) product *= size;
    return product;
  }
  bool is_contiguous() const {
    int64_t expected = 1;
    for (int axis = rank_ - 1; axis >= 0; --axis) {
      const auto at = static_cast<size_t>(axis);
      if (shape_[at] != 1 && strides_[at] != expected) return count() == 0;
      expected *= shape_[at];
    }
    return true;
  }

 private:
  friend class Launch;
  fe_dtype dtype_;
  const fe_dtype_info* info_;
  int32_t rank_;
  std::array<int64_t, FE_MAX_RANK> shape_{};
  std::array<int64_t, FE_MAX_RANK> strides_{};
  ValuePlace place_;
};

inline bool is_half(const Operand& x) { return x.dtype_row() && x.dtype_row()->is_half(); }
// Whether the dtype is floating-point and ops compute it, which they do not with float8.
inline bool is_floating(const Operand& x) {
  return x.dtype_row() && x.dtype_row()->is_floating() && x.dtype_row()->is_computed();
}
// "f16" for float16, "i64" for int64, "bool".
inline std::string abbreviation_of(const Operand& x) {
  return x.dtype_row() ? x.dtype_row()->abbreviation : x.dtype_info().name;
}

// A node of a graph view; valid as long as the view.
class Node {
 public:
  Node(const fe_graph_view& view, uint32_t index) : view_(&view), node_(view.nodes[index]), index_(index) {}

  const fe_graph_view& view() const { return *view_; }
  uint32_t index() const { return index_; }  // in the view
  fe_op id() const { return node_->op; }
  std::string_view op() const { return host->op_name(node_->op); }
  uint32_t revision() const { return node_->revision; }
  // The highest revision among the op and the ops of its body.
  uint32_t youngest_revision() const {
    uint32_t youngest = node_->revision;
    for (uint32_t i = 0; node_->body && i < node_->body->instruction_count; ++i)
      youngest = std::max(youngest, node_->body->instructions[i]->revision);
    return youngest;
  }
  uint32_t input_count() const { return node_->input_count; }
  uint32_t output_count() const { return node_->output_count; }
  Operand input(uint32_t index) const { return {*view_, node_->inputs[index]}; }
  Operand output(uint32_t index) const { return {*view_, node_->outputs[index]}; }
  const fe_body* body() const { return node_->body; }  // NULL unless fused
  // The op's struct of ferrule/ops.h.
  template <class Attributes>
  const Attributes& attributes() const {
    return *static_cast<const Attributes*>(node_->attributes);
  }

 private:
  const fe_graph_view* view_;
  const fe_node* node_;
  uint32_t index_;
};

}  // namespace ferrule::sdk

#endif
