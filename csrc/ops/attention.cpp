// Attention.
#include "ops/rules.h"

#include <cmath>
#include <numeric>
#include <optional>

namespace ferrule::ops {
namespace {

// Index of the kv_length input. A mask never has an integer dtype, so a last input of integers is the length, with a
// mask and without.
template <class TypeOf>
std::optional<std::size_t> length_input(std::size_t count, TypeOf type_of) {
  if (count <= 3) return std::nullopt;
  return is_integer(type_of(count - 1).dtype) ? std::optional(count - 1) : std::nullopt;
}

void attention(Inference& i) {
  const Shape &q = i.input(0).shape, &k = i.input(1).shape, &v = i.input(2).shape;
  const int rank = q.rank();
  if (rank < 2 || k.rank() != rank || v.rank() != rank)
    i.fail("query, key and value need equally many dimensions, at least 2: {}", i.call());
  for (int axis = 0; axis < rank - 2; ++axis)
    if (q[axis] != k[axis] || q[axis] != v[axis]) i.fail("axis {} differs: {}", axis, i.call());
  if (q[rank - 1] != k[rank - 1]) i.fail("query and key differ in their last axis: {}", i.call());
  if (k[rank - 2] != v[rank - 2]) i.fail("key and value differ in their length: {}", i.call());
  Shape scores = batch_shape(q);
  scores.push_back(q[rank - 2]);
  scores.push_back(k[rank - 2]);
  const auto length = length_input(i.input_count(), [&](std::size_t k) { return i.input(k); });
  if (length && (i.input(*length).shape.rank() != 0 || !accepts(index, i.input(*length).dtype)))
    i.fail("kv_length must be a 0-d int32 or int64, not {}", to_string(i.input(*length)));
  if (i.input_count() > 3 && length != std::size_t{3}) {
    const TensorType& mask = i.input(3);
    if (mask.dtype != DType::boolean && mask.dtype != i.input(0).dtype)
      i.fail("the mask is {}, but must be bool or {}", to_string(mask), ferrule::name_of(i.input(0).dtype));
    if (mask.shape.rank() > rank || broadcast("scaled_dot_product_attention", mask.shape, scores) != scores)
      i.fail("the mask of shape {} does not broadcast to the scores' {}", to_string(mask.shape), to_string(scores));
  }
  if (!(i.attribute().real("scale") >= 0)) i.fail("scale is not a number >= 0");
  Shape out = batch_shape(q);
  out.push_back(q[rank - 2]);
  out.push_back(v[rank - 1]);
  i.output({i.input(0).dtype, out});
}

}  // namespace

OP(scaled_dot_product_attention)
    .doc(
        "softmax(query @ key^T * scale + mask) @ value over the last two axes, (length, head size) (Vaswani et al. "
        "2017). A bool mask keeps where it holds; a row that keeps nothing gives zeros. scale 0 means "
        "1 / sqrt(head size). kv_length is how many keys there are, where not all are: no other key or value is read. "
        "causal keeps key j for query i where j <= i + (number of keys - query length).")
    .by_hand()
    .promoted("query", real_floating)
    .promoted("key", real_floating)
    .promoted("value", real_floating)
    .optional("mask", real)
    .optional("kv_length", index)
    .real_attribute("scale", 0)
    .boolean_attribute("causal", false)
    .result(attention)
    .decompose([](Builder& b, const Call& c) {
      const Shape q = b.type(c.input(0)).shape, k = b.type(c.input(1)).shape;
      const int rank = q.rank();
      const double given = c.attribute().real("scale");
      const double scale = given > 0 ? given : 1 / std::sqrt(static_cast<double>(std::max<int64_t>(q[rank - 1], 1)));
      std::vector<int64_t> swapped(static_cast<std::size_t>(rank));
      std::iota(swapped.begin(), swapped.end(), 0);
      std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
      Value scores =
          b.multiply(b.matmul(c.input(0), b.permute_dims(c.input(1), swapped)), b.scalar_like(scale, c.input(0)));
      const Value lowest = b.scalar_like(-INFINITY, scores), zero = b.scalar_like(0, scores);
      const int64_t queries = q[rank - 2], keys = k[rank - 2];
      const auto numbers = [&](int64_t size) { return b.apply("iota", {}, {{"size", size}, {"dtype", DType::int64}}); };
      const auto length = length_input(c.inputs.size(), [&](std::size_t i) { return b.type(c.input(i)); });
      Value key_count = b.scalar(static_cast<double>(keys), DType::int64), value = c.input(2);
      if (length) {
        // Fails if it is no possible number of keys.
        key_count = b.reshape(
            b.apply("dynamic_slice", {numbers(keys + 1), c.input(*length)}, {{"sizes", std::vector<int64_t>{1}}}), {});
        const Value is_there = b.apply("less", {numbers(keys), key_count});
        scores = b.where(is_there, scores, lowest);
        value = b.where(b.reshape(is_there, {keys, 1}), value, b.scalar_like(0, value));
      }
      if (c.has_input(3) && length != std::size_t{3}) {
        const bool keeps = b.type(c.input(3)).dtype == DType::boolean;
        scores = keeps ? b.where(c.input(3), scores, lowest) : b.add(scores, c.input(3));
      }
      if (c.attribute().boolean("causal")) {
        const Value ahead = b.subtract(key_count, b.scalar(static_cast<double>(queries), DType::int64));
        const Value last = b.add(b.reshape(numbers(queries), {queries, 1}), ahead);
        scores = b.where(b.apply("less_equal", {numbers(keys), last}), scores, lowest);
      }
      if (keys == 0) return b.matmul(scores, value);
      const Value greatest = b.reduce_keeping("max", scores, {-1});
      const Value empty = b.apply("equal", {greatest, lowest});
      const Value e = b.exp(b.subtract(scores, b.where(empty, zero, greatest)));
      const Value sum = b.reduce_keeping("sum", e, {-1});
      return b.matmul(b.divide(e, b.where(empty, b.scalar_like(1, sum), sum)), value);
    });

}  // namespace ferrule::ops
