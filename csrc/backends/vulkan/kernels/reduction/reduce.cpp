// Reductions over any axes, and the elementwise ops that are fused to them. reduce.glsl describes the order of
// summation, which is the same in all kernels.
#include <bit>

#include "graphs/elementwise_body.h"
#include "../planning.h"

namespace ferrule::vulkan {
namespace {

constexpr uint64_t leaf = 1024, lanes = 32;  // as in reduce.glsl
constexpr uint64_t column_results = 64;      // with at least so many adjacent results, they are reduced side by side
constexpr uint64_t busy = 512;               // workgroups that keep a device busy

struct Elements {
  Layout kept, reduced;
  int64_t results, length, parts;
  uint32_t to;
};
static_assert(sizeof(Elements) == 304, "OPERANDS_AT of reduce_rows.comp and reduce_columns.comp");
struct Partials {
  int64_t results, partials;
  uint64_t from_bytes, to_bytes;
  uint32_t to;
};
static_assert(sizeof(Partials) == 40, "OPERANDS_AT of reduce_partials.comp");

// The variant that a shader is compiled for, and the size of its partial values.
struct Family {
  std::string variant;  // "sum_f32"
  uint32_t reversed;    // prod, min, all, argmin
  uint64_t value_bytes;
  std::optional<Body> epilogue = {};  // of the variants with spliced code
};

class Reduction {
 public:
  Reduction(const PlannedNode& node, Family family, const Capabilities& capabilities)
      : family_(std::move(family)),
        capabilities_(capabilities),
        from_(node.input_value(0)),
        to_(node.output_value(0)),
        axes_(node),
        kept_(layout_of(from_, axes_.kept)),
        reduced_(layout_of(from_, axes_.reduced)),
        results_(static_cast<uint64_t>(node.output(0).count())),
        length_(axes_.length) {}

  Plan plan() {
    const bool columns = length_ <= lanes || (results_ >= column_results && axes_.neighbours_are_results());
    plan_ = plan_named((columns ? "reduce_columns." : "reduce_rows.") + family_.variant);
    if (results_ == 0) return std::move(plan_);
    uint64_t partials = columns ? add_columns() : add_rows();
    while (partials > 1) partials = add_partials(partials);
    if (family_.epilogue) {
      for (Dispatch& dispatch : plan_.launches) dispatch.calls = {{.function = "leave_partial", .arguments = {}}};
      finish_with(*std::move(family_.epilogue), plan_.launches.back());
    }
    return std::move(plan_);
  }

 private:
  uint32_t is_short() const { return length_ <= UINT32_MAX ? 1 : 0; }

  void add(const std::string& shader, uint64_t parts, std::initializer_list<uint32_t> constants, uint64_t groups,
           uint32_t workgroup) {
    const Elements p = {.kept = kept_,
                        .reduced = reduced_,
                        .results = static_cast<int64_t>(results_),
                        .length = static_cast<int64_t>(length_),
                        .parts = static_cast<int64_t>(parts),
                        .to = to_};
    const uint32_t writes = parts > 1 ? scratch_value : to_;
    plan_.launches.push_back(dispatch_of(shader + family_.variant, p, {from_}, writes, constants));
    set_grid(plan_.launches.back(), groups * workgroup, capabilities_, workgroup);
    if (parts > 1) plan_.scratch = parts * results_ * family_.value_bytes;
  }

  // The next functions return the number of partial values of each result.
  uint64_t add_columns() {
    const uint64_t leaves = std::max<uint64_t>(1, quotient_up(length_, leaf));
    const auto used = static_cast<uint32_t>(std::bit_ceil(std::clamp<uint64_t>(length_, 1, lanes)));
    const uint32_t workgroup = std::min(128u, capabilities_.max_workgroup);
    add("reduce_columns.", leaves, {family_.reversed, used, is_short()}, quotient_up(results_ * leaves, workgroup),
        workgroup);
    return leaves;
  }

  uint64_t add_rows() {
    const uint32_t workgroup = std::min(256u, std::bit_floor(capabilities_.max_workgroup));
    const uint64_t teams = workgroup / lanes;
    const uint64_t most = std::bit_floor(
        std::clamp<uint64_t>(capabilities_.shared_memory / (lanes * family_.value_bytes), teams, uint64_t{64}));
    const uint64_t leaves = std::max<uint64_t>(1, quotient_up(length_, leaf));
    // Leaves that a workgroup has of one result: as many as it can, unless most of the device would have nothing to do.
    uint64_t own = std::min(most, std::bit_ceil(leaves));
    while (own > teams && results_ * quotient_up(leaves, own) < busy && quotient_up(leaves, own / 2) <= workgroup)
      own /= 2;
    const uint64_t parts = quotient_up(leaves, own), units = results_ * parts;
    uint64_t slots = std::max(own, teams);
    while (slots < most && quotient_up(units, slots / own) > busy) slots *= 2;
    add("reduce_rows.", parts, {family_.reversed, static_cast<uint32_t>(own), static_cast<uint32_t>(slots), is_short()},
        quotient_up(units, slots / own), workgroup);
    return parts;
  }

  uint64_t add_partials(uint64_t partials) {
    const uint32_t workgroup = std::min(256u, std::bit_floor(capabilities_.max_workgroup));
    const auto team = static_cast<uint32_t>(std::min<uint64_t>(workgroup, std::bit_ceil(partials)));
    const uint64_t left = quotient_up(partials, team), bytes = left * results_ * family_.value_bytes;
    Partials p = {.results = static_cast<int64_t>(results_),
                  .partials = static_cast<int64_t>(partials),
                  .from_bytes = from_bytes_,
                  .to_bytes = plan_.scratch,
                  .to = to_};
    plan_.launches.push_back(dispatch_of("reduce_partials." + family_.variant, p, {scratch_value},
                                         left > 1 ? scratch_value : to_, {family_.reversed, team}));
    const uint64_t groups = left * quotient_up(results_, workgroup / team);
    set_grid(plan_.launches.back(), groups * workgroup, capabilities_, workgroup);
    from_bytes_ = plan_.scratch;
    if (left > 1) plan_.scratch += bytes;
    return left;
  }

  Family family_;
  const Capabilities& capabilities_;
  uint32_t from_, to_;
  sdk::ReductionAxes axes_;
  Layout kept_, reduced_;
  uint64_t results_, length_;
  Plan plan_;
  uint64_t from_bytes_ = 0;
};

// The reason why a family does not take the node's body. Sets the family's epilogue if its shaders have one.
std::optional<std::string> refused_body(const PlannedNode& node, Family& family) {
  const sdk::Operand x = node.input(0);
  if (!x.is("float32") && !is_half(x)) return general_refusal(node);
  family.epilogue = epilogue_of(node, 1);
  if (family.epilogue->uses_float64) return "what is fused to it computes in float64";
  return std::nullopt;
}

Plan plan_adding(const PlannedNode& node, const Capabilities& capabilities) {
  const sdk::Operand x = node.input(0);
  const bool whole = x.is("int64") || x.is("uint64");
  if (x.dtype() != own_dtype(node) || (!whole && !is_floating(x)))
    return refusal("it adds up floating-point numbers and integers of 64 bits");
  if (x.is("float64") && !capabilities.float64) return refusal("the device has no float64");
  Family family = {.variant = whole ? "sum_i64" : "sum_" + abbreviation_of(x),
                   .reversed = node.op() == "prod",
                   .value_bytes = std::max<size_t>(4, x.item_size())};
  if (const auto reason = refused_body(node, family)) return refusal(*reason);
  return Reduction(node, std::move(family), capabilities).plan();
}

Plan plan_extreme(const PlannedNode& node, const Capabilities& capabilities) {
  const sdk::Operand x = node.input(0);
  if (x.dtype() != own_dtype(node)) return refusal("the result has another dtype");
  Family family = {.variant = "extreme_" + abbreviation_of(x),
                   .reversed = node.op() == "min" || node.op() == "all",
                   .value_bytes = std::max<size_t>(4, x.item_size())};
  if (const auto reason = refused_body(node, family)) return refusal(*reason);
  return Reduction(node, std::move(family), capabilities).plan();
}

Plan plan_place(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0);
  if (!node.output(0).is("int64") || x.is("bool")) return refusal("it finds places of numbers, as int64");
  Family family = {.variant = "place_" + abbreviation_of(x), .reversed = node.op() == "argmin", .value_bytes = 16};
  return Reduction(node, std::move(family), capabilities).plan();
}

}  // namespace

KERNEL(sum, plan_adding)
KERNEL(prod, plan_adding)
KERNEL(max, plan_extreme)
KERNEL(min, plan_extreme)
KERNEL(all, plan_extreme)
KERNEL(any, plan_extreme)
KERNEL(argmax, plan_place)
KERNEL(argmin, plan_place)

}  // namespace ferrule::vulkan
