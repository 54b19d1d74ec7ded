// Attention.
#include "ops/rules.h"

#include <cmath>
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

void rotation(Inference& i) {
  const Shape &x = i.input(0).shape, &table = i.input(1).shape;
  if (x.rank() == 0 || table.rank() == 0) i.fail("needs at least 1 dimension: {}", i.call());
  if (i.input(2).shape != table) i.fail("cosines and sines differ in shape: {}", i.call());
  if (table[table.rank() - 1] > x[x.rank() - 1] / 2)
    i.fail("{} cosines are more than half of the {} elements of a row of x", table[table.rank() - 1], x[x.rank() - 1]);
  Shape rows = x, angles = table;
  rows.resize(rows.rank() - 1);
  angles.resize(angles.rank() - 1);
  if (angles.rank() > rows.rank() || broadcast("rope", rows, angles) != rows)
    i.fail("cosines of shape {} do not broadcast to the rows of x{}", to_string(table), to_string(x));
  i.output({i.input(0).dtype, x});
}

// `count` elements of the last axis from `first` on, in steps.
Value part_of_rows(Builder& b, Value x, int64_t first, int64_t count, int64_t step) {
  const Shape shape = b.type(x).shape;
  std::vector<int64_t> starts(shape.size(), 0), sizes(shape.begin(), shape.end()), steps(shape.size(), 1);
  starts.back() = count == 0 ? 0 : first;
  sizes.back() = count;
  steps.back() = step;
  return b.apply("slice", {x}, {{"starts", starts}, {"sizes", sizes}, {"steps", steps}});
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
      Value scores = b.multiply(b.matmul(c.input(0), b.matrix_transpose(c.input(1))), b.scalar_like(scale, c.input(0)));
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

OP(rope)
    .doc(
        "Rotary position embedding: each pair (a, b) of elements of a row becomes (a cos - b sin, a sin + b cos). "
        "`rope_table` gives the cosines and sines of positions (Su et al. 2021).")
    .returns("The rows, in x's shape and dtype. Elements behind the pairs are as they were.")
    .raises("The rows have fewer than two elements for each cosine, or the shapes do not broadcast.")
    .example(
        ">>> quarter = fe.asarray([0.0, 0.0]), fe.asarray([1.0, 1.0])\n"
        ">>> fe.rope(fe.asarray([1.0, 2.0, 3.0, 4.0]), *quarter).tolist()\n"
        "[-3.0, -4.0, 1.0, 2.0]\n"
        ">>> fe.rope(fe.asarray([1.0, 2.0, 3.0, 4.0]), *quarter, interleaved=True).tolist()\n"
        "[-2.0, 1.0, -4.0, 3.0]")
    .input("x", real_floating)
    .about("The rows, of shape (..., d).")
    .input("cosines", real_floating)
    .about("The cosines of the angles, of shape (..., r) with 2 r <= d. The leading axes broadcast to those of x.")
    .input("sines", real_floating)
    .about("The sines, of the same shape.")
    .boolean_attribute("interleaved", false)
    .about("Whether a pair are elements 2 i and 2 i + 1; by default elements i and i + r.")
    .result(rotation)
    .decompose([](Builder& b, const Call& c) {
      const Value x = c.input(0);
      const TensorType type = b.type(x);
      const int64_t width = type.shape[type.shape.rank() - 1];
      Shape table = b.type(c.input(1)).shape;
      const int64_t pairs = table[table.rank() - 1];
      const Value cosine = b.astype(c.input(1), type.dtype), sine = b.astype(c.input(2), type.dtype);
      const bool interleaved = c.attribute().boolean("interleaved");
      const int64_t step = interleaved ? 2 : 1;
      const Value left = part_of_rows(b, x, 0, pairs, step);
      const Value right = part_of_rows(b, x, interleaved ? 1 : pairs, pairs, step);
      Value turned[] = {b.subtract(b.multiply(left, cosine), b.multiply(right, sine)),
                        b.add(b.multiply(left, sine), b.multiply(right, cosine))};
      Shape both = type.shape;
      both[both.rank() - 1] = 2 * pairs;
      if (interleaved) {
        Shape single = b.type(turned[0]).shape;
        single.push_back(1);
        for (Value& part : turned) part = b.reshape(part, single);
      }
      const int64_t axis = interleaved ? both.rank() : both.rank() - 1;
      const Value rows = b.reshape(b.apply("concat", {turned[0], turned[1]}, {{"axis", axis}}), both);
      if (2 * pairs == width) return rows;
      return b.apply("concat", {rows, part_of_rows(b, x, 2 * pairs, width - 2 * pairs, 1)},
                     {{"axis", int64_t{both.rank() - 1}}});
    });

}  // namespace ferrule::ops
