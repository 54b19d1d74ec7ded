// The interface with which decompositions add ops to a graph.
#pragma once

#include "ops/attributes.h"
#include "base/tensor_type.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace ferrule::ops {

// A value of the graph under construction.
struct Value {
  uint32_t id = 0;
};

class Builder {
 public:
  virtual ~Builder() = default;
  // Records an op by name. Attributes that are not given have their defaults. Promotes operands as for a caller.
  virtual Value apply(std::string_view op, std::span<const Value> inputs, const std::vector<NamedAttribute>& given) = 0;
  // A scalar constant of the given dtype.
  virtual Value scalar(double value, DType dtype) = 0;
  virtual TensorType type(Value value) const = 0;

  Value apply(std::string_view op, std::initializer_list<Value> inputs, const std::vector<NamedAttribute>& given = {}) {
    return apply(op, std::span<const Value>(inputs.begin(), inputs.size()), given);
  }
  // A scalar of x's dtype.
  Value scalar_like(double value, Value x) { return scalar(value, type(x).dtype); }

  // Short forms of common ops; any other op is apply("name", {inputs}).
  Value add(Value a, Value b) { return apply("add", {a, b}); }
  Value subtract(Value a, Value b) { return apply("subtract", {a, b}); }
  Value multiply(Value a, Value b) { return apply("multiply", {a, b}); }
  Value divide(Value a, Value b) { return apply("divide", {a, b}); }
  Value maximum(Value a, Value b) { return apply("maximum", {a, b}); }
  Value minimum(Value a, Value b) { return apply("minimum", {a, b}); }
  Value exp(Value x) { return apply("exp", {x}); }
  Value log(Value x) { return apply("log", {x}); }
  Value sqrt(Value x) { return apply("sqrt", {x}); }
  Value tanh(Value x) { return apply("tanh", {x}); }
  Value erf(Value x) { return apply("erf", {x}); }
  Value sigmoid(Value x) { return apply("sigmoid", {x}); }
  Value negative(Value x) { return apply("negative", {x}); }
  Value where(Value condition, Value a, Value b) { return apply("where", {condition, a, b}); }
  Value matmul(Value a, Value b) { return apply("matmul", {a, b}); }
  // x itself if it has the dtype.
  Value astype(Value x, DType dtype) { return type(x).dtype == dtype ? x : apply("astype", {x}, {{"dtype", dtype}}); }
  Value reshape(Value x, const Shape& shape) {
    return apply("reshape", {x}, {{"shape", std::vector<int64_t>(shape.begin(), shape.end())}});
  }
  Value permute_dims(Value x, std::vector<int64_t> axes) {
    return apply("permute_dims", {x}, {{"axes", std::move(axes)}});
  }
  // x with its last two axes exchanged.
  Value matrix_transpose(Value x) {
    std::vector<int64_t> axes(type(x).shape.size());
    std::iota(axes.begin(), axes.end(), 0);
    std::iter_swap(axes.end() - 1, axes.end() - 2);
    return permute_dims(x, std::move(axes));
  }
  // A reduction (sum, max, ...) over `axes`, which are kept with size 1.
  Value reduce_keeping(std::string_view op, Value x, std::vector<int64_t> axes) {
    return apply(op, {x}, {{"axis", std::move(axes)}, {"keepdims", true}});
  }
};

}  // namespace ferrule::ops
