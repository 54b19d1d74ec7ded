// Matrix products.
#include "ops/rules.h"

namespace ferrule::ops {
namespace {

// The matrices of a product, with elements of `dtype`.
void matrices(Inference& i, DType dtype) {
  const Shape &a = i.input(0).shape, &b = i.input(1).shape;
  if (a.rank() < 2 || b.rank() < 2) i.fail("needs at least 2 dimensions: {} @ {}", to_string(a), to_string(b));
  const int64_t inner_a = a[a.rank() - 1], inner_b = b[b.rank() - 2];
  if (inner_a != inner_b) i.fail("inner sizes differ: {} @ {}, {} != {}", to_string(a), to_string(b), inner_a, inner_b);
  Shape out = broadcast(i.row().name, batch_shape(a), batch_shape(b));
  out.push_back(a[a.rank() - 2]);
  out.push_back(b[b.rank() - 1]);
  i.output({dtype, out});
}
void matrix_product(Inference& i) { matrices(i, i.input(0).dtype); }
void product_in_int32(Inference& i) { matrices(i, DType::int32); }

constexpr int64_t elements_of_q8 = 32;

// x @ w.T, where w may be stored in blocks.
void product_with_rows(Inference& i) {
  const Shape &x = i.input(0).shape, &w = i.input(1).shape;
  const DType stored_as = i.input(1).dtype;
  if (!is_block(stored_as) && stored_as != i.input(0).dtype)
    i.fail("the dtypes of x and w differ, and w is not stored in blocks: {}", i.call());
  if (is_block(stored_as) && is_complex(i.input(0).dtype)) i.fail("blocks are real numbers: {}", i.call());
  if (x.rank() < 1 || w.rank() < 2)
    i.fail("needs rows x of at least 1 dimension, and a matrix w: {} and {}", to_string(x), to_string(w));
  if (x[x.rank() - 1] != w[w.rank() - 1])
    i.fail("the rows of x have {} elements, and those of w {}: {} and {}", x[x.rank() - 1], w[w.rank() - 1],
           to_string(x), to_string(w));
  if (i.attribute().string("activation") == "q8" && x[x.rank() - 1] % elements_of_q8 != 0)
    i.fail("rows in blocks of {} elements: {}", elements_of_q8, to_string(x));
  if (w.rank() > 2 && x.rank() < 2) i.fail("several matrices w need matrices x: {} and {}", to_string(x), to_string(w));
  Shape out;
  if (w.rank() > 2) {
    out = broadcast("linear", batch_shape(x), batch_shape(w));
    out.push_back(x[x.rank() - 2]);
  } else {
    for (int k = 0; k + 1 < x.rank(); ++k) out.push_back(x[k]);
  }
  out.push_back(w[w.rank() - 2]);
  i.output({i.input(0).dtype, out});
}

Value multiply_by_rows(Builder& b, const Call& c) {
  const Value x = c.input(0);
  Value w = c.input(1);
  const TensorType rows = b.type(x);
  if (c.attribute().string("activation") == "q8") {
    // A half would round the numbers once more, or be too small for them.
    const DType wide = rows.dtype == DType::float64 ? DType::float64 : DType::float32;
    const Value rounded = b.astype(b.astype(b.astype(x, DType::float32), DType::q8_0), DType::float32);
    if (!is_block(b.type(w).dtype)) w = b.astype(w, wide);
    return b.astype(b.apply("linear", {b.astype(rounded, wide), w}), rows.dtype);
  }
  const Shape weights = b.type(w).shape;
  if (is_block(b.type(w).dtype)) w = b.astype(w, DType::float32);
  const Value columns = b.matrix_transpose(b.astype(w, rows.dtype));
  if (rows.shape.rank() > 1) return b.matmul(x, columns);
  return b.reshape(b.matmul(b.reshape(x, Shape{1, rows.shape[0]}), columns), Shape{weights[weights.rank() - 2]});
}

}  // namespace

OP(matmul)
    .doc("Matrix product over the last two axes; the leading axes broadcast.")
    .by_hand()
    .promoted("x1", numeric)
    .promoted("x2", numeric)
    .takes_epilogue()
    .result(matrix_product);

OP(matmul_integer)
    .doc("Matrix product of integers in int32, modulo 2^32. 8-bit integers are multiplied without widening them first.")
    .returns("The product of x1.astype('int32') and x2.astype('int32'), of shape (..., m, n).")
    .raises("The inner sizes differ.")
    .example(
        ">>> x = fe.asarray([[100, 100]], dtype=fe.int8)\n"
        ">>> fe.matmul_integer(x, x.mT).tolist()\n"
        "[[20000]]")
    .input("x1", integer)
    .about("The left matrices, of shape (..., m, k).")
    .input("x2", integer)
    .about("The right matrices, of shape (..., k, n). Their dtype may be another.")
    .takes_epilogue()
    .result(product_in_int32)
    .decompose([](Builder& b, Value x1, Value x2) {
      return b.matmul(b.astype(x1, DType::int32), b.astype(x2, DType::int32));
    });

OP(linear)
    .doc(
        "x @ w.T: the product of rows x with the rows of w, as of a layer without bias. Weights w that are stored in "
        "blocks are read as they are, and not decoded to memory where the device has a kernel for them.")
    .returns("The product, of shape (..., n) and x's dtype.")
    .raises("The rows have other lengths, or the dtypes differ and w is not stored in blocks.")
    .example(
        ">>> w = fe.asarray([[1.0] * 32, [2.0] * 32]).astype(fe.q4_0)\n"
        ">>> fe.linear(fe.ones(32), w).tolist()\n"
        "[32.0, 64.0]")
    .input("x", real_floating)
    .about("The rows, of shape (..., k).")
    .input("w", stored)
    .about("The weights, of shape (..., n, k): of x's dtype, or of a block dtype.")
    .choice_attribute("activation", "given", "given|q8")
    .since(2)
    .about(
        "'q8' rounds the rows as x.astype('q8_0') does, which is faster: each 32 elements are integers of 8 bits times "
        "a float16, the largest magnitude / 127. The sums of their products with integers of the weights are exact.")
    .takes_epilogue()
    .result(product_with_rows)
    .decompose([](Builder& b, const Call& c) { return multiply_by_rows(b, c); });

}  // namespace ferrule::ops
