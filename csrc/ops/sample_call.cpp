#include "ops/sample_call.h"

#include "ops/row.h"
#include "base/error.h"

#include <algorithm>
#include <numeric>
#include <string_view>

namespace ferrule::ops {
namespace {

// Lists of shapes for so many inputs. The last size of each is a multiple of `unit`.
std::vector<std::vector<Shape>> candidate_shapes(std::size_t count, int64_t unit) {
  static const Shape all{4, 6}, turned{6, 4}, row{6}, column{4}, square{4, 4}, three{3}, part{2}, scalar{};
  static const std::vector<std::vector<Shape>> known = {
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
      {all, three, three},
      {all, scalar},
      {row, scalar},
      {scalar, scalar},
      {all, column, all},
      {row, part, scalar},
      {part},
      {row, row},
  };
  std::vector<std::vector<Shape>> found;
  for (const std::vector<Shape>& shapes : known)
    if (shapes.size() == count) found.push_back(shapes);
  if (count >= 3) {
    found.emplace_back(count, square);  // attention with a mask
    found.emplace_back(count, square);  // and with a length
    found.back().back() = scalar;
    for (const std::size_t arrays : {1U, 2U}) {  // a slice, or an update of one, with a start for each axis
      const std::size_t rank = count - arrays;
      if (rank > FE_MAX_RANK) continue;
      Shape shape;
      shape.resize(static_cast<int>(rank), 4);
      found.emplace_back(count, scalar);
      std::fill_n(found.back().begin(), arrays, shape);
    }
  }
  for (std::vector<Shape>& shapes : found)
    for (Shape& shape : shapes)
      if (!shape.empty()) shape[shape.rank() - 1] *= unit;
  return found;
}

// Values for the required attributes that suit a first input of this shape.
std::vector<NamedAttribute> required_attributes(const Row& row, DType dtype, const Shape& shape, int64_t unit) {
  std::vector<NamedAttribute> given;
  for (std::size_t i = 0; i < row.attribute_count; ++i) {
    const AttributeRow& attribute = row.attributes[i];
    const std::string_view name = attribute.name;
    if (!attribute.required) continue;
    if (attribute.type == AttributeType::integer)
      given.push_back({attribute.name, int64_t{row.input_count == 0 ? 24 : name == "size" ? 5 : 2}});
    if (attribute.type == AttributeType::dtype) given.push_back({attribute.name, dtype});
    if (attribute.type != AttributeType::integers) continue;
    std::vector<int64_t> list(shape.size(), 1);  // steps and padding
    if (name == "shape" || (name == "sizes" && unit > 1)) list.assign(shape.begin(), shape.end());
    if (name == "sizes" && unit == 1) list.assign(shape.size(), 2);
    if (name == "axes") std::iota(list.rbegin(), list.rend(), 0);
    if (name == "starts") list.assign(shape.size(), 0);
    given.push_back({attribute.name, list});
  }
  return given;
}

}  // namespace

std::optional<SampleCall> sample_call(const Row& row, std::span<const DType> dtypes, DType dtype, int64_t unit,
                                      const std::vector<NamedAttribute>& more) {
  for (const std::vector<Shape>& shapes : candidate_shapes(dtypes.size(), unit)) {
    try {
      SampleCall call;
      for (std::size_t i = 0; i < dtypes.size(); ++i) call.inputs.push_back({dtypes[i], shapes[i]});
      call.given = required_attributes(row, dtype, shapes.empty() ? Shape{} : shapes[0], unit);
      call.given.insert(call.given.end(), more.begin(), more.end());
      call.attributes = complete_attributes(row, call.given);
      std::vector<TensorType> promoted = call.inputs;
      const std::vector<DType> cast = input_dtypes(row, promoted, {});
      for (std::size_t i = 0; i < promoted.size(); ++i) promoted[i].dtype = cast[i];
      call.outputs = infer(row, promoted, call.attributes);
      return call;
    } catch (const Error& error) {
      if (error.code() != FE_INVALID_ARGUMENT) throw;
      // The rule rejects these shapes: try the next ones.
    }
  }
  return std::nullopt;
}

}  // namespace ferrule::ops
