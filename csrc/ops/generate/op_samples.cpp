// op_samples.inc: a small call of each op that reaches a device, in each dtype that the op accepts according to its own
// rule. An op without a call stops the build, because the conformance kit would skip it silently.
#include "ops/generate/op_samples.h"

#include "ops/generate/generate.h"
#include "ops/table.h"

#include <optional>
#include <string_view>

namespace ferrule::ops {
namespace {

const std::vector<std::vector<Shape>>& candidate_shapes() {
  static const Shape all{4, 6}, turned{6, 4}, row{6}, column{4}, square{4, 4}, three{3}, part{2}, scalar{};
  static const std::vector<std::vector<Shape>> list = {
      {},
      {all},
      {row},
      {all, all},
      {all, all, all},
      {all, turned},
      {square},
      {three},
      {square, square},
      {all, row},
      {all, column},
      {all, row, row},
      {all, scalar},
      {row, scalar},
      {scalar, scalar},
      {all, column, all},
      {row, part, scalar},
      {part},
      {row, row},
  };
  return list;
}

// The call's dtypes if the first input, or every promoted one, is `dtype`; empty if the op does not accept it.
std::optional<std::vector<DType>> dtypes_of(const Row& row, std::size_t count, DType dtype) {
  std::vector<DType> dtypes;
  bool used = count == 0;
  for (std::size_t i = 0; i < count; ++i) {
    const InputRow& input = row.inputs[std::min(i, row.input_count - 1)];
    DType chosen = dtype;
    if (!accepts(input.accepts, dtype)) {
      if (input.promoted || row.input_count == 1) return std::nullopt;
      chosen = accepts(input.accepts, DType::boolean) ? DType::boolean : DType::int64;
    }
    used = used || chosen == dtype;
    dtypes.push_back(chosen);
  }
  if (!used) return std::nullopt;
  return dtypes;
}

Attributes attributes_of(const Row& row, DType dtype, std::size_t rank) {
  std::vector<NamedAttribute> given;
  for (std::size_t i = 0; i < row.attribute_count; ++i) {
    const AttributeRow& attribute = row.attributes[i];
    if (!attribute.required) continue;
    if (attribute.type == AttributeType::integer)
      given.push_back({attribute.name, int64_t{row.input_count == 0                         ? 24
                                               : std::string_view(attribute.name) == "size" ? 5
                                                                                            : 2}});
    if (attribute.type == AttributeType::integers)
      given.push_back(
          {attribute.name, std::vector<int64_t>(rank, std::string_view(attribute.name) == "sizes" ? 2 : 1)});
    if (attribute.type == AttributeType::dtype) {
      const DType other = dtype == DType::float32 ? DType::float64 : DType::float32;
      given.push_back({attribute.name, row.input_count == 0 ? dtype : other});
    }
  }
  return complete_attributes(row, given);
}

std::optional<Sample> sample_of(const Row& row, DType dtype) {
  const std::size_t count = std::max(row.required_inputs(), std::size_t{row.variadic() ? 2U : 0U});
  const auto dtypes = dtypes_of(row, count, dtype);
  if (!dtypes) return std::nullopt;
  for (const std::vector<Shape>& shapes : candidate_shapes()) {
    if (shapes.size() != count) continue;
    try {
      Sample sample;
      for (std::size_t i = 0; i < count; ++i) sample.inputs.push_back({(*dtypes)[i], shapes[i]});
      if (input_dtypes(row, sample.inputs, {}) != *dtypes) return std::nullopt;  // recording would cast them
      sample.attributes = attributes_of(row, dtype, count == 0 ? 0 : shapes[0].size());
      sample.outputs = infer(row, sample.inputs, sample.attributes);
      return sample;
    } catch (const Error&) {
      // The rule rejects these shapes: try the next ones.
    }
  }
  return std::nullopt;
}

std::string text_of(const std::vector<int64_t>& values) { return fmt::format("{{{}}}", fmt::join(values, ", ")); }

std::string text_of(const TensorType& type) {
  const std::vector<int64_t> shape(type.shape.begin(), type.shape.end());
  return fmt::format("{{\"{}\", {}}}", ferrule::name_of(type.dtype), text_of(shape));
}

std::string text_of(const std::vector<TensorType>& types) {
  std::string text;
  for (const TensorType& type : types) text += (text.empty() ? "" : ", ") + text_of(type);
  return "{" + text + "}";
}

// The initializer of conformance's AttributeValue.
std::string text_of(const Attribute& value) {
  struct {
    std::string operator()(int64_t number) const { return fmt::format("{{.integer = {}}}", number); }
    std::string operator()(double number) const { return fmt::format("{{.real = {}}}", number); }
    std::string operator()(bool flag) const { return fmt::format("{{.integer = {:d}}}", flag); }
    std::string operator()(const std::string& text) const { return fmt::format("{{.text = \"{}\"}}", text); }
    std::string operator()(const std::vector<int64_t>& list) const {
      return fmt::format("{{.integers = {}}}", text_of(list));
    }
    // conformance/graph.cpp makes it a list of one element.
    std::string operator()(const std::vector<double>& list) const {
      return fmt::format("{{.real = {}}}", list.empty() ? 0.0 : list.front());
    }
    std::string operator()(DType dtype) const { return fmt::format("{{.text = \"{}\"}}", ferrule::name_of(dtype)); }
  } const print;
  return std::visit(print, value);
}

}  // namespace

std::vector<Sample> samples_of(const Row& row) {
  std::vector<Sample> samples;
  if (row.kind == Kind::view || row.kind == Kind::internal) return samples;
  std::vector<DType> order = {DType::float32};
  for (const DTypeRow& dtype : dtype_rows)
    if (dtype.dtype != DType::float32) order.push_back(dtype.dtype);
  for (const DType dtype : order)
    if (std::optional<Sample> sample = sample_of(row, dtype)) samples.push_back(std::move(*sample));
  if (samples.empty())
    fail(FE_INTERNAL, "{}: op_samples.cpp knows no call of this op: give it shapes that fit", row.name);
  return samples;
}

std::string op_samples() {
  std::string text = "// Generated from the op rows by ferrule-generate-ops: {op, inputs, outputs, attributes}.\n";
  for (const Row* row : all_ops()) {
    for (const Sample& sample : samples_of(*row)) {
      std::string attributes;
      for (const Attribute& value : sample.attributes) attributes += (attributes.empty() ? "" : ", ") + text_of(value);
      text += fmt::format("{{\"{}\", {}, {}, {{{}}}}},\n", row->name, text_of(sample.inputs), text_of(sample.outputs),
                          attributes);
    }
  }
  return text;
}

}  // namespace ferrule::ops
