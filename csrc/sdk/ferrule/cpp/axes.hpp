// Axes of operands in the form that kernels take: as few as describe the elements, the last one first.
#ifndef FERRULE_CPP_AXES_HPP
#define FERRULE_CPP_AXES_HPP

#include <ferrule/cpp/check_op.hpp>
#include <ferrule/cpp/graph.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <type_traits>
#include <vector>

namespace ferrule::sdk {

template <class Integer>
constexpr Integer quotient_up(Integer a, std::type_identity_t<Integer> b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

// The strides of an operand, by axis. The elements behind its rank are 0.
using Strides = std::array<int64_t, FE_MAX_RANK>;

// The strides of an operand in a shape of `rank` axes that it is broadcast to: zero along axes that it repeats.
inline Strides broadcast_strides(std::span<const int64_t> shape, std::span<const int64_t> strides, size_t rank) {
  Strides all{};
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] != 1) all[axis + rank - shape.size()] = strides[axis];
  return all;
}
inline Strides broadcast_strides(const Operand& operand, size_t rank) {
  return broadcast_strides(operand.shape(), operand.strides(), rank);
}

// Whether the numbers and the offsets of all elements fit in 31 bits.
inline bool is_near(std::span<const int64_t> shape, std::span<const int64_t> strides) {
  constexpr int64_t limit = INT32_MAX;
  int64_t farthest = 0, count = 1;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 0) return true;
    const int64_t steps = shape[axis] - 1, stride = std::abs(strides[axis]);
    if (shape[axis] > limit / count) return false;
    count *= shape[axis];
    if (stride != 0 && steps > (limit - farthest) / stride) return false;
    farthest += steps * stride;
  }
  return true;
}

// The axes that some operands share, the last one first: without axes of one element, and with neighbours merged that
// are one axis for each operand.
class MergedAxes {
 public:
  MergedAxes() : strides_(1) {}  // of one element
  MergedAxes(std::span<const int64_t> shape, std::span<const Strides> operands) : strides_(operands.size()) {
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (shape[axis] == 1) continue;
      const size_t last = rank_ - 1;
      bool is_one = rank_ > 0;
      for (size_t i = 0; i < operands.size() && is_one; ++i)
        is_one = is_one_axis(operands[i][axis], strides_[i][last], shape_[last]);
      if (is_one) {
        shape_[last] *= shape[axis];
        continue;
      }
      shape_[rank_] = shape[axis];
      for (size_t i = 0; i < operands.size(); ++i) strides_[i][rank_] = operands[i][axis];
      ++rank_;
    }
  }
  // The axes of one operand.
  MergedAxes(std::span<const int64_t> shape, std::span<const int64_t> strides)
      : MergedAxes(shape, std::array<Strides, 1>{padded(strides)}) {}

  size_t rank() const { return rank_; }
  std::span<const int64_t> shape() const { return {shape_.data(), rank_}; }
  std::span<const int64_t> strides(size_t operand = 0) const { return {strides_[operand].data(), rank_}; }

  // Writes the axes of the only operand to a struct of kernels with the fields `rank`, `shape` and `strides`.
  template <class Layout>
  void write_to(Layout& layout) const {
    layout.rank = static_cast<uint32_t>(rank_);
    std::copy_n(shape_.begin(), rank_, layout.shape);
    std::copy_n(strides_[0].begin(), rank_, layout.strides);
  }

 private:
  static Strides padded(std::span<const int64_t> strides) {
    Strides all{};
    std::copy(strides.begin(), strides.end(), all.begin());
    return all;
  }

  size_t rank_ = 0;
  Strides shape_{};
  std::vector<Strides> strides_;  // by operand
};

// The axes of a reduction's first input: those that it keeps, and those that it reduces, which its attribute `axis`
// names; an empty list means all.
struct ReductionAxes {
  explicit ReductionAxes(const Node& node) {
    const Operand x = node.input(0);
    const std::vector<bool> is_reduced = reduced_axes(node, static_cast<size_t>(x.rank()));
    std::vector<int64_t> shape[2], strides[2];
    for (size_t axis = 0; axis < is_reduced.size(); ++axis) {
      shape[is_reduced[axis]].push_back(x.shape()[axis]);
      strides[is_reduced[axis]].push_back(x.strides()[axis]);
    }
    kept = MergedAxes(shape[0], strides[0]);
    reduced = MergedAxes(shape[1], strides[1]);
    for (const int64_t size : shape[1]) length *= static_cast<uint64_t>(size);
  }

  // Whether neighbours in memory belong to different results.
  bool neighbours_are_results() const {
    if (kept.rank() == 0 || reduced.rank() == 0) return kept.rank() > 0;
    return std::abs(kept.strides()[0]) < std::abs(reduced.strides()[0]);
  }

  MergedAxes kept, reduced;
  uint64_t length = 1;  // elements of each result

 private:
  static std::vector<bool> reduced_axes(const Node& node, size_t rank) {
    std::vector<bool> reduced(rank, false);
    const void* const attributes = node.view().nodes[node.index()]->attributes;
    for (const AttributeInfo& row : checks::find_op(node.id())->attributes) {
      if (row.kind == AttributeKind::axis)
        reduced[static_cast<size_t>(checks::field_of<int64_t>(attributes, row))] = true;
      if (row.kind != AttributeKind::axes) continue;
      const auto list = checks::field_of<fe_int64_list>(attributes, row);
      if (list.count == 0) reduced.assign(rank, true);
      for (size_t i = 0; i < list.count; ++i) reduced[static_cast<size_t>(list.data[i])] = true;
    }
    return reduced;
  }
};

}  // namespace ferrule::sdk

#endif
