// Reductions over any axes. reduce.h describes the order, which is the same in all kernels.
#include "kernels/reduction/reduce.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "kernels/planning.h"

namespace ferrule::cuda {
namespace {

constexpr uint64_t row_threads = 256, most_column_threads = 512, join_threads = 256;  // of the kernels
constexpr uint64_t row_warps = row_threads / 32, most_slots = 64;

// The file of the kernels, the dtype that they are named after, and the size of their partial values.
struct Family {
  std::string file, dtype;  // "sum", "f32"
  bool is_reversed;         // min, all, argmin
  uint64_t value_bytes;
};

class Reduction {
 public:
  Reduction(const PlannedNode& node, Family family, const Capabilities& capabilities)
      : family_(std::move(family)),
        multiprocessors_(capabilities.multiprocessors),
        from_(node.input_value(0)),
        to_(node.output_value(0)),
        item_bytes_(node.input(0).item_size()) {
    const sdk::ReductionAxes axes(node);
    has_columns_ = axes.neighbours_are_results();
    p_.kept = layout_of(axes.kept);
    p_.reduced = layout_of(axes.reduced);
    p_.results = static_cast<uint64_t>(node.output(0).count());
    p_.length = axes.length;
    p_.is_reversed = family_.is_reversed ? 1 : 0;
    leaves_ = std::max<uint64_t>(1, quotient_up(p_.length * item_bytes_, reduce_leaf_bytes));
    const uint64_t vectors = quotient_up(p_.length * item_bytes_, reduce_vector_bytes);
    p_.lanes = static_cast<uint32_t>(std::bit_ceil(std::clamp<uint64_t>(vectors, 1, reduce_lanes)));
  }

  Plan plan() {
    plan_ = plan_named(family_.file + (has_columns_ ? ".columns_" : ".rows_") + family_.dtype);
    if (p_.results == 0) return std::move(plan_);
    has_columns_ ? add_columns() : add_rows();
    while (parts_ > 1) add_join();
    return std::move(plan_);
  }

 private:
  // Whether groups of `count` elements of `whole` are adjacent, and each group is aligned if the first one is; `others`
  // are the layout of the first elements.
  static bool has_groups(const Layout& whole, const Layout& others, int64_t count) {
    const auto is_multiple = [count](int64_t stride) { return stride % count == 0; };
    return whole.rank > 0 && whole.strides[0] == 1 && (whole.rank == 1 || whole.shape[0] % count == 0) &&
           std::all_of(whole.strides + 1, whole.strides + whole.rank, is_multiple) &&
           std::all_of(others.strides, others.strides + others.rank, is_multiple);
  }

  void add(uint64_t blocks, uint64_t threads) {
    p_.parts = parts_;
    Launch& launch =
        plan_.launches.emplace_back(launch_of(plan_.support.kernel, p_, blocks, static_cast<uint32_t>(threads)));
    launch.reads(offsetof(ReduceParameters, x), from_);
    if (parts_ == 1) return launch.writes(offsetof(ReduceParameters, to), to_);
    launch.uses_scratch(offsetof(ReduceParameters, partials), reserve(parts_), true);
  }

  // Bytes before the scratch memory of the partial values of `parts` parts.
  uint64_t reserve(uint64_t parts) {
    const uint64_t before = plan_.scratch;
    plan_.scratch += quotient_up(parts * p_.results * family_.value_bytes, 256) * 256;
    return before;
  }

  void add_rows() {
    // The kernel checks where a row begins: rows may be aligned differently.
    p_.has_vectors = has_groups(p_.reduced, {}, static_cast<int64_t>(reduce_vector_bytes / item_bytes_)) ? 1 : 0;
    if (leaves_ == 1) {
      p_.leaves = 1;
      return add(quotient_up(p_.results, row_threads / p_.lanes), row_threads);
    }
    // Parts have as many leaves as they can, unless multiprocessors would have nothing to do.
    uint64_t leaves = std::min(most_slots, std::bit_ceil(leaves_));
    while (leaves > row_warps && p_.results * quotient_up(leaves_, leaves) < 4 * multiprocessors_) leaves /= 2;
    parts_ = quotient_up(leaves_, leaves);
    const uint64_t units = p_.results * parts_;
    uint64_t slots = std::max(leaves, row_warps);
    while (slots < most_slots && quotient_up(units, slots / leaves) > 64 * multiprocessors_) slots *= 2;
    p_.leaves = static_cast<uint32_t>(leaves);
    p_.slots = static_cast<uint32_t>(slots);
    add(quotient_up(units, slots / leaves), row_threads);
  }

  void add_columns() {
    // adjacent_results of reduce_columns.h
    const int64_t count = item_bytes_ == 8 || (item_bytes_ == 2 && family_.value_bytes > 4) ? 2 : 4;
    const bool has_spans =
        p_.reduced.rank <= 1 && p_.kept.shape[0] % count == 0 && has_groups(p_.kept, p_.reduced, count);
    const uint64_t span = has_spans ? static_cast<uint64_t>(count) : 1;
    uint64_t spans = std::min(most_column_threads / p_.lanes, std::bit_ceil(quotient_up(p_.results, span)));
    const auto blocks = [&] { return quotient_up(p_.results, spans * span) * leaves_; };
    // Narrower blocks read shorter pieces of memory, which are still 64 to 128 bytes.
    if (span > 1 && item_bytes_ > 1 && spans > 8 && blocks() < 2 * multiprocessors_) spans /= 2;
    p_.has_vectors = has_spans ? 1 : 0;
    p_.span = static_cast<uint32_t>(span);
    p_.spans = static_cast<uint32_t>(spans);
    parts_ = leaves_;
    add(blocks(), spans * p_.lanes);
  }

  void add_join() {
    const uint64_t team = std::bit_ceil(std::min(join_threads, quotient_up(parts_, 4)));
    const uint64_t left = quotient_up(parts_, 4 * team);
    const JoinParameters p = {.from = 0,
                              .to = 0,
                              .partials = 0,
                              .results = p_.results,
                              .parts = parts_,
                              .is_reversed = p_.is_reversed,
                              .team = static_cast<uint32_t>(team)};
    Launch launch = launch_of(family_.file + ".join_" + family_.dtype, p,
                              quotient_up(p_.results, join_threads / team) * left, join_threads);
    launch.uses_scratch(offsetof(JoinParameters, from), partials_, false);
    if (left == 1) {
      launch.writes(offsetof(JoinParameters, to), to_);
    } else {
      partials_ = reserve(left);
      launch.uses_scratch(offsetof(JoinParameters, partials), partials_, true);
    }
    plan_.launches.push_back(std::move(launch));
    parts_ = left;
  }

  Family family_;
  uint64_t multiprocessors_;
  uint32_t from_, to_;
  uint64_t item_bytes_;
  bool has_columns_ = false;  // results are reduced side by side
  ReduceParameters p_{};
  Plan plan_;
  uint64_t leaves_ = 1, parts_ = 1, partials_ = 0;
};

Plan plan_adding(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0);
  const bool is_integer = x.is("int64") || x.is("uint64");
  if (x.dtype() != node.output(0).dtype() || (!is_integer && !is_floating(x)))
    return refusal("it adds up floating-point numbers and integers of 64 bits");
  const Family family = {.file = std::string(node.op()),
                         .dtype = is_integer ? "i64" : abbreviation_of(x),
                         .is_reversed = false,
                         .value_bytes = std::max<size_t>(4, x.item_size())};
  return Reduction(node, family, capabilities).plan();
}

Plan plan_extreme(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0);
  if (x.dtype() != node.output(0).dtype()) return refusal("the result has another dtype");
  const Family family = {.file = "extreme",
                         .dtype = abbreviation_of(x),
                         .is_reversed = node.op() == "min" || node.op() == "all",
                         .value_bytes = std::max<size_t>(4, x.item_size())};
  return Reduction(node, family, capabilities).plan();
}

Plan plan_extreme_index(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0);
  if (!node.output(0).is("int64") || x.is("bool")) return refusal("it finds places of numbers, as int64");
  const Family family = {
      .file = "extreme_index", .dtype = abbreviation_of(x), .is_reversed = node.op() == "argmin", .value_bytes = 16};
  return Reduction(node, family, capabilities).plan();
}

}  // namespace

KERNEL(sum, plan_adding)
KERNEL(prod, plan_adding)
KERNEL(max, plan_extreme)
KERNEL(min, plan_extreme)
KERNEL(all, plan_extreme)
KERNEL(any, plan_extreme)
KERNEL(argmax, plan_extreme_index)
KERNEL(argmin, plan_extreme_index)

}  // namespace ferrule::cuda
