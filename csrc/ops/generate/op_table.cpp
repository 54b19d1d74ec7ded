// ferrule/op_table.hpp: the rows as constants, with which every module built on the SDK checks nodes.
#include "ops/describe.h"
#include "ops/generate/generate.h"
#include "ops/generate/op_samples.h"
#include "ops/table.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

namespace ferrule::ops {
namespace {

// An attribute named "axis" or "axes" refers to axes of the first input, in every row.
const char* attribute_kind(const AttributeRow& attribute) {
  const std::string_view name = attribute.name;
  switch (attribute.type) {
    case AttributeType::integer:
      return name == "axis" ? "axis" : "integer";
    case AttributeType::real:
      return "real";
    case AttributeType::boolean:
      return "boolean";
    case AttributeType::string:
      return "string";
    case AttributeType::integers:
      return name == "axis" || name == "axes" ? "axes" : "integers";
    case AttributeType::reals:
      return "reals";
    case AttributeType::dtype:
      return "dtype";
  }
  return "?";
}

std::string dtype_set(Accepts what) {
  std::array<uint64_t, 2> words{};
  static_assert(dtype_rows.size() <= 64 * words.size(), "sdk::DTypeSet is too small");
  for (std::size_t i = 0; i < dtype_rows.size(); ++i)
    if (accepts(what, dtype_rows[i].dtype)) words[i / 64] |= uint64_t{1} << i % 64;
  return fmt::format("{{{{{{0x{:x}, 0x{:x}}}}}}}", words[0], words[1]);
}

// ---- a result's shape: the rule is applied to many calls, and described by the first word that is right for all

struct Call {
  std::vector<Shape> inputs;
  Attributes attributes;
  Shape result;
};

// The sample's attributes, varied in axes, booleans such as keepdims, and the size of a bounded output.
std::vector<Attributes> attribute_variants(const Row& row, const Attributes& sample) {
  std::vector<Attributes> variants = {sample};
  for (std::size_t i = 0; i < row.attribute_count; ++i) {
    std::vector<Attribute> values;
    const std::string_view kind = attribute_kind(row.attributes[i]);
    if (kind == "axis") values = {int64_t{0}, int64_t{1}};
    if (kind == "axes") values = {std::vector<int64_t>{}, std::vector<int64_t>{0}, std::vector<int64_t>{1}};
    if (kind == "boolean") values = {false, true};
    if (row.bounded_axis && std::string_view(row.attributes[i].name) == "size") values = {int64_t{-1}, int64_t{3}};
    if (values.empty()) continue;
    std::vector<Attributes> more;
    for (const Attributes& variant : variants)
      for (const Attribute& value : values) more.emplace_back(variant)[i] = value;
    variants = std::move(more);
  }
  return variants;
}

std::vector<Call> calls_of(const Row& row, std::size_t output) {
  static const std::vector<Shape> pool = {{4, 6}, {5, 6}, {5, 3}, {6, 4}, {6}, {}, {2, 4, 6}};
  std::vector<Call> calls;
  const std::vector<SampleCall> samples = samples_of(row);
  if (samples.empty()) return calls;
  const SampleCall& sample = samples.front();
  std::size_t combinations = 1;
  for (std::size_t i = 0; i < sample.inputs.size(); ++i) combinations *= pool.size();
  for (std::size_t number = 0; number < combinations; ++number) {
    std::vector<TensorType> inputs = sample.inputs;
    std::vector<Shape> shapes;
    for (std::size_t rest = number; TensorType & input : inputs) {
      input.shape = pool[rest % pool.size()];
      shapes.push_back(input.shape);
      rest /= pool.size();
    }
    for (Attributes& attributes : attribute_variants(row, sample.attributes)) {
      try {
        const Shape result = infer(row, inputs, attributes)[output].shape;
        calls.push_back({shapes, attributes, result});
      } catch (const Error&) {
        // Not a valid call of this op.
      }
    }
  }
  return calls;
}

bool is_same(const Row&, const Call& call) { return !call.inputs.empty() && call.result == call.inputs[0]; }

bool is_broadcast(const Row& row, const Call& call) {
  if (call.inputs.empty()) return false;
  Shape shape = call.inputs[0];
  for (const Shape& input : call.inputs) shape = broadcast(row.name, shape, input);
  return shape == call.result;
}

bool is_reduced(const Row& row, const Call& call) {
  if (call.inputs.empty()) return false;
  bool keep = false, names_axes = false;
  std::vector<int64_t> axes;
  for (std::size_t i = 0; i < row.attribute_count; ++i) {
    const std::string_view kind = attribute_kind(row.attributes[i]);
    if (kind == "boolean") keep = std::get<bool>(call.attributes[i]);
    if (kind == "axes") axes = std::get<std::vector<int64_t>>(call.attributes[i]);
    if (kind == "axis") axes = {std::get<int64_t>(call.attributes[i])};
    names_axes = names_axes || kind == "axis" || kind == "axes";
  }
  if (!names_axes) return false;
  Shape expected;
  for (int axis = 0; axis < call.inputs[0].rank(); ++axis) {
    const bool gone = axes.empty() || std::find(axes.begin(), axes.end(), axis) != axes.end();
    if (!gone || keep) expected.push_back(gone ? 1 : call.inputs[0][axis]);
  }
  return expected == call.result;
}

const char* result_shape(const Row& row, std::size_t output) {
  const std::vector<Call> calls = calls_of(row, output);
  const auto holds = [&](auto word) {
    return !calls.empty() && std::all_of(calls.begin(), calls.end(), [&](const Call& call) {
      try {
        return word(row, call);
      } catch (const Error&) {
        return false;  // shapes that do not broadcast
      }
    });
  };
  return holds(is_same) ? "same" : holds(is_broadcast) ? "broadcast" : holds(is_reduced) ? "reduced" : "unknown";
}

// Where a result's dtype comes from, according to the op's samples.
std::string result_dtype(const Row& row, std::size_t output) {
  bool same = true, real = true, complex = true, fixed = true;
  const std::vector<SampleCall> samples = samples_of(row);
  std::size_t model = 0;
  while (model + 1 < row.input_count && !row.inputs[model].promoted) ++model;
  if (!row.inputs[model].promoted) model = 0;
  for (const SampleCall& sample : samples) {
    same = same && !sample.inputs.empty() && sample.outputs[output].dtype == sample.inputs[model].dtype;
    real = real && !sample.inputs.empty() && sample.outputs[output].dtype == real_dtype_of(sample.inputs[model].dtype);
    complex = complex && !sample.inputs.empty() &&
              sample.outputs[output].dtype == complex_dtype_of(sample.inputs[model].dtype);
    fixed = fixed && sample.outputs[output].dtype == samples[0].outputs[output].dtype;
  }
  if (row.input_count > 0 && row.inputs[model].widened) return "ResultDType::widened, nullptr";
  if (samples.empty() || same) return "ResultDType::same, nullptr";
  if (real) return "ResultDType::real, nullptr";
  if (complex) return "ResultDType::complex, nullptr";
  for (std::size_t i = 0; i < row.attribute_count; ++i)
    if (row.attributes[i].type == AttributeType::dtype) return "ResultDType::attribute, nullptr";
  if (fixed) return fmt::format("ResultDType::fixed, \"{}\"", ferrule::name_of(samples[0].outputs[output].dtype));
  fail(FE_INTERNAL, "{}: op_info.hpp has no word for the dtype of its {}", row.name, row.outputs[output]);
}

std::string inputs_of(const Row& row) {
  std::string text;
  for (std::size_t i = 0; i < row.input_count; ++i)
    text += fmt::format("    {{\"{}\", {}, {}}},\n", row.inputs[i].name, dtype_set(row.inputs[i].accepts),
                        row.inputs[i].promoted);
  return text;
}

std::string results_of(const Row& row) {
  std::string text;
  for (std::size_t i = 0; i < row.output_count; ++i)
    text += fmt::format("    {{\"{}\", {}, ResultShape::{}}},\n", row.outputs[i], result_dtype(row, i),
                        result_shape(row, i));
  return text;
}

std::string attributes_of(const Row& row) {
  std::string text;
  for (std::size_t i = 0; i < row.attribute_count; ++i) {
    const AttributeRow& attribute = row.attributes[i];
    const std::string choices = attribute.choices ? fmt::format("\"{}\"", attribute.choices) : "nullptr";
    text += fmt::format(
        "    {{\"{1}\", AttributeKind::{2}, offsetof(fe_{0}_attributes, {1}), sizeof(fe_{0}_attributes::{1}), {3}, "
        "{4}}},\n",
        row.name, attribute.name, attribute_kind(attribute), attribute.since, choices);
  }
  return text;
}

// A list that a row of op_table points to; no text if it is empty.
std::string list(const char* type, const char* op, const char* name, const std::string& elements) {
  if (elements.empty()) return {};
  return fmt::format("inline constexpr {} {}_{}[] = {{\n{}}};\n", type, op, name, elements);
}

const char* word_of(fe_dtype_class kind) {
  static constexpr const char* names[] = {"FE_CLASS_BOOL",  "FE_CLASS_SIGNED",  "FE_CLASS_UNSIGNED",
                                          "FE_CLASS_FLOAT", "FE_CLASS_COMPLEX", "FE_CLASS_BLOCK"};
  static_assert(std::size(names) == FE_CLASS_COUNT);
  return names[kind];
}

}  // namespace

std::string op_table() {
  std::string text =
      "// Generated from the op rows by ferrule-generate-ops: what a node of each op must be like.\n"
      "#ifndef FERRULE_OP_TABLE_HPP\n#define FERRULE_OP_TABLE_HPP\n\n"
      "#include <ferrule/cpp/op_info.hpp>\n#include <ferrule/ops.h>\n\n#include <cstddef>\n\n"
      "namespace ferrule::sdk {\n\ninline constexpr DTypeInfo dtype_table[] = {\n";
  for (const DTypeRow& row : dtype_rows)
    text +=
        fmt::format("    {{\"{}\", {}, {}, {}}},\n", row.name, word_of(row.kind), row.block_elements, row.block_bytes);
  text += "};\n\n";
  for (const Row* row : all_ops()) {
    text += list("InputInfo", row->name, "inputs", inputs_of(*row));
    text += list("ResultInfo", row->name, "results", results_of(*row));
    text += list("AttributeInfo", row->name, "attributes", attributes_of(*row));
  }
  text += "\n// In the order of their names.\ninline constexpr OpInfo op_table[] = {\n";
  for (const Row* row : all_ops())
    text += fmt::format("    {{\"{0}\", {1}, OpKind::{2}, {3}, {4}, {5}, {0}_results, {6}}},\n", row->name,
                        row->revision, name_of(row->kind), row->required_inputs(), row->variadic(),
                        row->input_count > 0 ? fmt::format("{}_inputs", row->name) : "{}",
                        row->attribute_count > 0 ? fmt::format("{}_attributes", row->name) : "{}");
  return text + "};\n\n}  // namespace ferrule::sdk\n\n#endif\n";
}

}  // namespace ferrule::ops
