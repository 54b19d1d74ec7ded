#include "ops/row.h"

#include "ops/numbers.h"

#include <algorithm>
#include <string_view>

namespace ferrule::ops {
namespace {

// The end of the message about a dtype that an input does not accept: the cast that helps, if there is one.
std::string advice(const InputRow& input, DType dtype) {
  if (is_complex(dtype) || !accepts(input.accepts, DType::float32)) return "";
  return fmt::format("; convert it with {}.astype('float32')", input.name);
}

std::string with_article(std::string_view noun) {
  return fmt::format("{} {}", std::string_view("aeiou").find(noun.front()) == std::string_view::npos ? "a" : "an",
                     noun);
}

void check_inputs(const Row& row, std::span<const TensorType> inputs) {
  const std::size_t least = row.required_inputs();
  if (inputs.size() < least || (!row.variadic() && inputs.size() > row.input_count)) {
    const std::string wanted = row.variadic()             ? fmt::format("at least {}", least)
                               : least == row.input_count ? fmt::format("{}", least)
                                                          : fmt::format("{} to {}", least, row.input_count);
    fail_argument("{}: takes {} inputs, not {}", row.name, wanted, inputs.size());
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const InputRow& input = row.input_row(i);
    if (!accepts(input.accepts, inputs[i].dtype))
      fail_argument("{}: {} is {}, but needs {} dtype{}", row.name, input.name, to_string(inputs[i]),
                    with_article(name_of(input.accepts)), advice(input, inputs[i].dtype));
    element_count(inputs[i].shape);
  }
}

}  // namespace

bool is_narrow(const Row& row, DType first) {
  return row.input_count > 0 && row.inputs[0].widened && first != DType::none && widened(first) != first;
}

uint32_t lowest_revision(const Row& row, const Attributes& attributes, DType first) {
  uint32_t revision = is_narrow(row, first) ? 2 : 1;
  for (std::size_t i = 0; i < row.attribute_count; ++i)
    if (row.attributes[i].since > revision && attributes[i] != default_value_of(row.attributes[i]))
      revision = row.attributes[i].since;
  return revision;
}

bool is_open_ended(const Row& row, const Attributes& attributes) {
  return row.bounded_axis != nullptr && AttributeReader(row, attributes).integer("size") < 0;
}

bool accepts(Accepts what, DType dtype) {
  switch (what) {
    case Accepts::stored:
      return true;
    case Accepts::any:
      return !is_block(dtype);
    case Accepts::real:
      return !is_block(dtype) && !is_complex(dtype) && !is_float8(dtype);
    case Accepts::numeric:
      return accepts(Accepts::real_numeric, dtype) || is_complex(dtype);
    case Accepts::boolean_or_numeric:
      return accepts(Accepts::real, dtype) || is_complex(dtype);
    case Accepts::real_numeric:
      return accepts(Accepts::real, dtype) && dtype != DType::boolean;
    case Accepts::floating:
      return accepts(Accepts::real_floating, dtype) || is_complex(dtype);
    case Accepts::real_floating:
      return is_floating(dtype) && !is_float8(dtype);
    case Accepts::complex:
      return is_complex(dtype);
    case Accepts::integer:
      return is_integer(dtype);
    case Accepts::boolean:
      return dtype == DType::boolean;
    case Accepts::boolean_or_integer:
      return dtype == DType::boolean || is_integer(dtype);
    case Accepts::index:
      return dtype == DType::int32 || dtype == DType::int64;
    case Accepts::full_precision:
      return dtype == DType::float32 || dtype == DType::float64 || is_complex(dtype);
  }
  return false;
}

const char* name_of(Accepts what) {
  switch (what) {
    case Accepts::stored:
      return "stored";
    case Accepts::any:
      return "plain";
    case Accepts::real:
      return "real";
    case Accepts::numeric:
      return "numeric";
    case Accepts::boolean_or_numeric:
      return "bool or numeric";
    case Accepts::real_numeric:
      return "real numeric";
    case Accepts::floating:
      return "floating-point";
    case Accepts::real_floating:
      return "real floating-point";
    case Accepts::complex:
      return "complex";
    case Accepts::integer:
      return "integer";
    case Accepts::boolean:
      return "bool";
    case Accepts::boolean_or_integer:
      return "bool or integer";
    case Accepts::index:
      return "int32 or int64";
    case Accepts::full_precision:
      return "float32, float64 or complex";
  }
  return "?";
}

AttributeReader Inference::attribute() const { return {row_, attributes_}; }
AttributeReader Call::attribute() const { return {row, attributes}; }
std::string Inference::name() const { return row_.name; }

std::string Inference::call() const {
  std::string text = name() + "(";
  for (std::size_t i = 0; i < inputs_.size(); ++i) text += (i ? ", " : "") + to_string(inputs_[i]);
  return text + ")";
}

int Inference::axis(const char* name, int rank) {
  for (std::size_t i = 0; i < row_.attribute_count; ++i) {
    if (std::string_view(name) != row_.attributes[i].name) continue;
    int64_t& value = std::get<int64_t>(attributes_[i]);
    if (value < -rank || value >= rank) fail("axis {} is out of range for {} dimensions of {}", value, rank, call());
    if (value < 0) value += rank;
    return static_cast<int>(value);
  }
  fail("its row has no attribute '{}'", name);
}

std::vector<int64_t> Inference::axes(const char* name, int rank) {
  for (std::size_t i = 0; i < row_.attribute_count; ++i) {
    if (std::string_view(name) != row_.attributes[i].name) continue;
    auto& values = std::get<std::vector<int64_t>>(attributes_[i]);
    for (int64_t& value : values) {
      if (value < -rank || value >= rank) fail("axis {} is out of range for {} dimensions of {}", value, rank, call());
      if (value < 0) value += rank;
    }
    std::sort(values.begin(), values.end());
    if (std::adjacent_find(values.begin(), values.end()) != values.end()) fail("an axis is named twice in {}", call());
    return values;
  }
  fail("its row has no attribute '{}'", name);
}

std::vector<TensorType> infer(const Row& row, std::span<const TensorType> inputs, Attributes& attributes) {
  check_inputs(row, inputs);
  if (attributes.size() != row.attribute_count) fail(FE_INTERNAL, "{}: attributes are not those of its row", row.name);
  Inference inference(row, inputs, attributes);
  if (!row.rule) fail_argument("{}: is made by the compiler only", row.name);
  try {
    row.rule(inference);
    for (const TensorType& type : inference.outputs()) byte_count(type);
  } catch (const Error& error) {
    const std::string_view message = error.what(), name = row.name;
    if (message.starts_with(name) && message.substr(name.size()).starts_with(':')) throw;
    throw Error(error.code(), fmt::format("{}: {}", name, message));  // of shapes, which do not know the op
  }
  if (inference.outputs().size() != row.output_count)
    fail(FE_INTERNAL, "{}: its rule gives {} outputs, its row {}", row.name, inference.outputs().size(),
         row.output_count);
  return inference.take_outputs();
}

std::vector<DType> input_dtypes(const Row& row, std::span<const TensorType> inputs, const std::vector<bool>& weak) {
  const auto is_weak = [&](std::size_t i) { return i < weak.size() && weak[i]; };
  bool has_inexact = false;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    has_inexact = has_inexact || (!is_weak(i) && (is_floating(inputs[i].dtype) || is_complex(inputs[i].dtype)));
  std::vector<DType> dtypes;
  dtypes.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool is_truth = row.input_row(i).truth && !is_block(inputs[i].dtype);
    dtypes.push_back(is_truth ? DType::boolean : promoted_as(row, inputs[i].dtype, has_inexact));
  }
  DType common = DType::none;
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!row.input_row(i).promoted || is_weak(i) != (pass == 1)) continue;
      const DType dtype = dtypes[i];
      if (common == DType::none) {
        common = dtype;
      } else if (pass == 1 && rank_of_kind(dtype) <= rank_of_kind(common)) {
        continue;
      } else if (const DType both = promote(common, dtype); both != DType::none) {
        common = both;
      } else {
        fail_argument("{}: {} and {} have no common dtype; cast one with astype", row.name, ferrule::name_of(common),
                      ferrule::name_of(dtype));
      }
    }
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (row.input_row(i).promoted) dtypes[i] = common;
  return dtypes;
}

DType promoted_as(const Row& row, DType dtype, bool has_inexact) {
  const bool is_cast = row.casts_integers && !has_inexact && (is_integer(dtype) || dtype == DType::boolean);
  return is_cast ? default_dtype() : dtype;
}

DType widened(DType dtype) {
  if (class_of(dtype) == FE_CLASS_UNSIGNED) return DType::uint64;
  return class_of(dtype) == FE_CLASS_SIGNED || dtype == DType::boolean ? DType::int64 : dtype;
}

}  // namespace ferrule::ops
