// A result's shape and dtype: the rule is applied to many calls, and described by the first word that is right for all.
#include "ops/generate/result_words.h"

#include "ops/generate/op_samples.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace ferrule::ops {
namespace {

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
        // The call is not valid for this op.
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

// The origin of a result's dtype, according to the op's samples.
std::pair<const char*, std::string> result_dtype(const Row& row, std::size_t output) {
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
  if (row.input_count > 0 && row.inputs[model].widened) return {"widened", ""};
  if (samples.empty() || same) return {"same", ""};
  if (real) return {"real", ""};
  if (complex) return {"complex", ""};
  for (std::size_t i = 0; i < row.attribute_count; ++i)
    if (row.attributes[i].type == AttributeType::dtype) return {"attribute", ""};
  if (fixed) return {"fixed", ferrule::name_of(samples[0].outputs[output].dtype)};
  fail(FE_INTERNAL, "{}: op_info.hpp has no word for the dtype of its {}", row.name, row.outputs[output]);
}

}  // namespace

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

ResultWords result_words(const Row& row, std::size_t output) {
  auto [dtype, fixed] = result_dtype(row, output);
  return {result_shape(row, output), dtype, std::move(fixed)};
}

}  // namespace ferrule::ops
