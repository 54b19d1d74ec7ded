// Reductions over any axes, and the elementwise ops that are fused to them. reduce.metal describes the order of
// summation, which is the same in all kernels.
#include <bit>

#include "graphs/element_function.h"
#include "kernels/planning.h"
#include "kernels/sorting_keys.h"

namespace ferrule::metal {
namespace {

constexpr uint64_t leaf = 1024, lanes = 32;  // as in reduce.metal
constexpr uint64_t column_results = 64;      // with at least so many adjacent results, they are reduced side by side
constexpr uint64_t busy = 512;               // threadgroups that keep a device busy
constexpr uint32_t row_threads = 256, column_threads = 128;

struct Elements {
  Layout kept, reduced;
  uint64_t results, length, parts;
};
struct Parts {
  uint64_t results, parts, from_part, to_part;
};

// A kind of reduction, in the terms of reduce.metal.
struct Family {
  std::string definitions;
  std::string value;  // the type of a Value
  uint64_t value_bytes;
};

class Reduction {
 public:
  Reduction(const PlannedNode& node, Family family, const Capabilities& capabilities)
      : node_(node),
        family_(std::move(family)),
        has_rows_(capabilities.has_simdgroup_shuffles),
        epilogue_(epilogue_of(node, 1)),
        axes_(node),
        kept_(layout_of(axes_.kept)),
        reduced_(layout_of(axes_.reduced)),
        results_(static_cast<uint64_t>(node.output(0).count())),
        length_(axes_.length) {}

  Plan plan() {
    const bool columns =
        !has_rows_ || length_ <= lanes || (results_ >= column_results && axes_.neighbours_are_results());
    plan_ = plan_named(columns ? "reduce_columns" : "reduce_rows");
    if (results_ == 0) return std::move(plan_);
    uint64_t parts = columns ? add_columns() : add_rows();
    while (parts > 1) parts = add_partials(parts);
    return std::move(plan_);
  }

 private:
  // Adds a dispatch of the kernel of this name, which gives `parts` parts of each result.
  template <class Parameters>
  void add(const std::string& kernel, std::string definitions, const Parameters& p, uint32_t reads, uint64_t parts,
           uint64_t groups, uint32_t threads) {
    const bool is_whole = parts == 1;
    const ElementFunction function =
        is_whole ? element_function(epilogue_, node_.output(0).shape(), 1) : partial_function("Value", 1);
    Dispatch dispatch;
    definitions += family_.definitions + definition("IS_WHOLE", is_whole) + definition("THREADS", threads);
    // Partial values have a type of the kernel's, so the function that stores them follows its definitions.
    dispatch.kernel = {.text = "#include \"reduction/" + kernel + ".metal\"\n", .function = kernel, .threads = threads};
    dispatch.set_parameters(p);
    dispatch.reads = {reads};
    function.finish(dispatch);
    dispatch.kernel.text = "#include \"interface.metal\"\n#include \"elementwise/arithmetic.metal\"\n" + definitions +
                           "#include \"reduction/reduce.metal\"\n" + dispatch.kernel.text;
    dispatch.shuffles = kernel == "reduce_rows";
    set_grid(dispatch, groups * threads, threads);
    plan_.launches.push_back(std::move(dispatch));
    if (!is_whole) plan_.scratch += parts * results_ * family_.value_bytes;
  }
  Elements elements(uint64_t parts) const { return {kept_, reduced_, results_, length_, parts}; }

  // The next functions return the number of parts of each result.
  uint64_t add_columns() {
    const uint64_t leaves = std::max<uint64_t>(1, quotient_up(length_, leaf));
    const uint64_t used = std::bit_ceil(std::clamp<uint64_t>(length_, 1, lanes));
    add("reduce_columns", definition("USED", used), elements(leaves), node_.input_value(0), leaves,
        quotient_up(results_ * leaves, column_threads), column_threads);
    return leaves;
  }

  uint64_t add_rows() {
    constexpr uint64_t teams = row_threads / lanes;
    constexpr uint64_t most = 32;  // leaves that a simdgroup joins
    const uint64_t leaves = std::max<uint64_t>(1, quotient_up(length_, leaf));
    // Leaves that a threadgroup has of one result: as many as it can, unless most of the device would have nothing to
    // do.
    uint64_t own = std::min(most, std::bit_ceil(leaves));
    while (own > teams && results_ * quotient_up(leaves, own) < busy && quotient_up(leaves, own / 2) <= row_threads)
      own /= 2;
    const uint64_t parts = quotient_up(leaves, own), units = results_ * parts;
    uint64_t slots = std::max(own, teams);
    while (slots < most && quotient_up(units, slots / own) > busy) slots *= 2;
    add("reduce_rows", definition("LEAVES", own) + definition("SLOTS", slots), elements(parts), node_.input_value(0),
        parts, quotient_up(units, slots / own), row_threads);
    return parts;
  }

  uint64_t add_partials(uint64_t parts) {
    const uint64_t team = std::min<uint64_t>(row_threads, std::bit_ceil(parts)), left = quotient_up(parts, team);
    const uint64_t to_part = left > 1 ? plan_.scratch / family_.value_bytes : 0;
    const Parts p = {results_, parts, from_part_, to_part};
    from_part_ = to_part;
    add("reduce_partials", definition("TEAM", team), p, scratch_value, left,
        left * quotient_up(results_, row_threads / team), row_threads);
    return left;
  }

  const PlannedNode& node_;
  Family family_;
  bool has_rows_;  // whether a simdgroup can reduce a row
  ElementCode epilogue_;
  sdk::ReductionAxes axes_;
  Layout kept_, reduced_;
  uint64_t results_, length_;
  Plan plan_;
  uint64_t from_part_ = 0;
};

// Keys of the elements of a dtype (sorting_keys.metal), and the elements that they stand for.
Family family_of_keys(const sdk::Operand& x, bool is_reversed, bool finds_place) {
  const Format& format = formats().of(x.dtype());
  std::string definitions =
      definition("REVERSED", is_reversed) +
      (finds_place ? definition("FINDS_PLACE", 1) : definition("FINDS_EXTREME", 1) + definition("ZEROS_DIFFER", 1)) +
      key_definitions(x) + type_definition("Own", format.computed);
  const std::string value = format.is_half          ? "widened_" + std::string(format.name) + "(stored)"
                            : format.name == "f32"  ? "as_type<float>(stored)"
                            : format.name == "bool" ? "stored != 0"
                                                    : "Own(stored)";
  definitions += "inline Own own_of_stored(Stored stored) { return " + value + "; }\n";
  return {definitions, "Value", finds_place ? uint64_t{16} : key_bytes(x)};
}

Plan plan_adding(const PlannedNode& node, const Capabilities& capabilities) {
  const sdk::Operand x = node.input(0);
  const bool is_whole_number = x.is("int64") || x.is("uint64");
  if (x.dtype() != own_dtype(node) || (!is_whole_number && !computes_in_float(x)))
    return refusal("it adds up floating-point numbers of up to 32 bits and integers of 64");
  const Format& format = formats().of(x.dtype());
  std::string definitions = definition("REVERSED", node.op() == "prod") +
                            definition(is_whole_number ? "ADDS_INTEGERS" : "ADDS_FLOATS", 1) +
                            type_definition("Stored", format.stored) + type_definition("Own", format.computed);
  if (!is_whole_number) definitions += element_access(format);
  Family family = {std::move(definitions), "Value", is_whole_number ? uint64_t{8} : uint64_t{4}};
  return Reduction(node, std::move(family), capabilities).plan();
}

Plan plan_extreme(const PlannedNode& node, const Capabilities& capabilities) {
  const sdk::Operand x = node.input(0);
  if (x.dtype() != own_dtype(node)) return refusal("the result has another dtype");
  Family family = family_of_keys(x, node.op() == "min" || node.op() == "all", false);
  return Reduction(node, std::move(family), capabilities).plan();
}

Plan plan_place(const PlannedNode& node, const Capabilities& capabilities) {
  const sdk::Operand x = node.input(0);
  if (sdk::host->dtype_id("int64") != own_dtype(node) || x.is("bool"))
    return refusal("it finds places of numbers, as int64");
  Family family = family_of_keys(x, node.op() == "argmin", true);
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

}  // namespace ferrule::metal
