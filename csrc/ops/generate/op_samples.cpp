// op_samples.inc: a small call of each op that reaches a device, in each dtype that the op accepts according to its own
// rule. An op without a call stops the build, because the conformance kit would skip it silently.
#include "ops/generate/op_samples.h"

#include "ops/generate/generate.h"
#include "ops/table.h"

#include <optional>
#include <string_view>

namespace ferrule::ops {
namespace {

// The call's dtypes if the first input, or every promoted one, is `dtype`; empty if the op does not accept it.
std::optional<std::vector<DType>> dtypes_of(const Row& row, std::size_t count, DType dtype) {
  std::vector<DType> dtypes;
  bool used = count == 0;
  for (std::size_t i = 0; i < count; ++i) {
    const InputRow& input = row.input_row(i);
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

std::optional<SampleCall> sample_of(const Row& row, DType dtype) {
  const std::size_t count = std::max(row.required_inputs(), std::size_t{row.variadic() ? 2U : 0U});
  const auto dtypes = dtypes_of(row, count, dtype);
  if (!dtypes) return std::nullopt;
  const DType other = dtype == DType::float32 ? DType::float64 : DType::float32;
  std::optional<SampleCall> call = sample_call(row, *dtypes, count == 0 ? dtype : other);
  if (call && input_dtypes(row, call->inputs, {}) != *dtypes) return std::nullopt;  // recording would cast them
  if (count > 0 && is_narrow(row, dtypes->front())) return std::nullopt;            // of a later revision
  return call;
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

std::vector<SampleCall> samples_of(const Row& row) {
  std::vector<SampleCall> samples;
  if (row.kind == Kind::view || row.kind == Kind::internal) return samples;
  std::vector<DType> order = {DType::float32};
  for (const DTypeRow& dtype : dtype_rows)
    if (dtype.dtype != DType::float32) order.push_back(dtype.dtype);
  for (const DType dtype : order)
    if (std::optional<SampleCall> sample = sample_of(row, dtype)) samples.push_back(std::move(*sample));
  if (samples.empty())
    fail(FE_INTERNAL, "{}: sample_call.cpp knows no call of this op: give it shapes that fit", row.name);
  return samples;
}

std::string op_samples() {
  std::string text = "// Generated from the op rows by ferrule-generate-ops: {op, inputs, outputs, attributes}.\n";
  for (const Row* row : all_ops()) {
    for (const SampleCall& sample : samples_of(*row)) {
      std::string attributes;
      for (const Attribute& value : sample.attributes) attributes += (attributes.empty() ? "" : ", ") + text_of(value);
      text += fmt::format("{{\"{}\", {}, {}, {{{}}}}},\n", row->name, text_of(sample.inputs), text_of(sample.outputs),
                          attributes);
    }
  }
  return text;
}

}  // namespace ferrule::ops
