// Decompositions of matrices, and what is computed by them. The matrices are the last two axes.
#include "ops/rules.h"

namespace ferrule::ops {
namespace {

const Shape& matrices(const Inference& i, std::size_t input = 0) {
  const Shape& shape = i.input(input).shape;
  if (shape.rank() < 2) i.fail("needs at least 2 dimensions: {}", i.call());
  return shape;
}

const Shape& square_matrices(const Inference& i) {
  const Shape& shape = matrices(i);
  if (shape[shape.rank() - 2] != shape[shape.rank() - 1]) i.fail("needs square matrices: {}", i.call());
  return shape;
}

Shape with(Shape batch, std::initializer_list<int64_t> sizes) {
  for (const int64_t size : sizes) batch.push_back(size);
  return batch;
}

void same_square(Inference& i) { i.output({i.input(0).dtype, square_matrices(i)}); }

}  // namespace

OP(cholesky)
    .doc(
        "The lower triangular L with x = L @ L^H of Hermitian positive definite matrices, or with `upper` the upper "
        "triangular U with x = U^H @ U. Only that triangle of x is read; other matrices are an error.")
    .by_hand()
    .host()
    .input("x", full_precision)
    .boolean_attribute("upper", false)
    .result(same_square);

OP(solve)
    .doc(
        "The solutions y of x1 @ y = x2, by LU decomposition with partial pivoting; the leading axes broadcast. A "
        "singular matrix is an error.")
    .by_hand()
    .host()
    .promoted("x1", full_precision)
    .promoted("x2", full_precision)
    .result([](Inference& i) {
      const Shape &a = square_matrices(i), &b = matrices(i, 1);
      const int64_t n = a[a.rank() - 1];
      if (b[b.rank() - 2] != n) i.fail("the numbers of rows differ: {}", i.call());
      i.output({i.input(0).dtype, with(broadcast("solve", batch_shape(a), batch_shape(b)), {n, b[b.rank() - 1]})});
    });

OP(inv)
    .doc("The inverses of square matrices, by LU decomposition. A singular matrix is an error.")
    .by_hand()
    .host()
    .input("x", full_precision)
    .result(same_square);

OP(det)
    .doc("The determinants of square matrices.")
    .by_hand()
    .host()
    .input("x", full_precision)
    .result([](Inference& i) {
      i.output({i.input(0).dtype, batch_shape(square_matrices(i))});
    });

OP(slogdet)
    .doc("The signs and the natural logarithms of the magnitudes of determinants; 0 and -inf of singular matrices.")
    .by_hand()
    .host()
    .input("x", full_precision)
    .results(
        [](Inference& i) {
          const Shape batch = batch_shape(square_matrices(i));
          i.output({i.input(0).dtype, batch});
          i.output({real_dtype_of(i.input(0).dtype), batch});
        },
        "sign", "logabsdet");

OP(qr)
    .doc(
        "Matrices Q with orthonormal columns and upper triangular R with x = Q @ R, by Householder reflections. "
        "`mode` is 'reduced' (Q has as many columns as the smaller side of x) or 'complete' (Q is square).")
    .by_hand()
    .host()
    .input("x", full_precision)
    .choice_attribute("mode", "reduced", "reduced|complete")
    .results(
        [](Inference& i) {
          const Shape& shape = matrices(i);
          const int64_t m = shape[shape.rank() - 2], n = shape[shape.rank() - 1];
          const int64_t k = i.attribute().string("mode") == "complete" ? m : std::min(m, n);
          i.output({i.input(0).dtype, with(batch_shape(shape), {m, k})});
          i.output({i.input(0).dtype, with(batch_shape(shape), {k, n})});
        },
        "q", "r");

OP(eigh)
    .doc(
        "The eigenvalues of Hermitian matrices, ascending, and orthonormal eigenvectors as the columns of matrices. "
        "Only the lower triangle of x is read.")
    .by_hand()
    .host()
    .input("x", full_precision)
    .results(
        [](Inference& i) {
          const Shape& shape = square_matrices(i);
          i.output({real_dtype_of(i.input(0).dtype), with(batch_shape(shape), {shape[shape.rank() - 1]})});
          i.output({i.input(0).dtype, shape});
        },
        "eigenvalues", "eigenvectors");

OP(eigvalsh)
    .doc("The eigenvalues of Hermitian matrices, ascending. Only the lower triangle of x is read.")
    .by_hand()
    .host()
    .input("x", full_precision)
    .result([](Inference& i) {
      const Shape& shape = square_matrices(i);
      i.output({real_dtype_of(i.input(0).dtype), with(batch_shape(shape), {shape[shape.rank() - 1]})});
    });

OP(eig)
    .doc(
        "The eigenvalues of square matrices, complex and in no particular order, and eigenvectors of norm 1 as the "
        "columns of matrices.")
    .by_hand()
    .host()
    .input("x", full_precision)
    .results(
        [](Inference& i) {
          const Shape& shape = square_matrices(i);
          const DType dtype = complex_dtype_of(i.input(0).dtype);
          i.output({dtype, with(batch_shape(shape), {shape[shape.rank() - 1]})});
          i.output({dtype, shape});
        },
        "eigenvalues", "eigenvectors");

OP(eigvals)
    .doc("The eigenvalues of square matrices, complex and in no particular order.")
    .by_hand()
    .host()
    .input("x", full_precision)
    .result([](Inference& i) {
      const Shape& shape = square_matrices(i);
      i.output({complex_dtype_of(i.input(0).dtype), with(batch_shape(shape), {shape[shape.rank() - 1]})});
    });

OP(svd)
    .doc(
        "Singular value decompositions x = U @ diag(S) @ Vh: S is descending, the columns of U and the rows of Vh are "
        "orthonormal. With `full_matrices`, U and Vh are square, else they have as many columns and rows as S.")
    .by_hand()
    .host()
    .input("x", full_precision)
    .boolean_attribute("full_matrices", true)
    .results(
        [](Inference& i) {
          const Shape& shape = matrices(i);
          const int64_t m = shape[shape.rank() - 2], n = shape[shape.rank() - 1], k = std::min(m, n);
          const bool full = i.attribute().boolean("full_matrices");
          const Shape batch = batch_shape(shape);
          i.output({i.input(0).dtype, with(batch, {m, full ? m : k})});
          i.output({real_dtype_of(i.input(0).dtype), with(batch, {k})});
          i.output({i.input(0).dtype, with(batch, {full ? n : k, n})});
        },
        "u", "s", "vh");

OP(svdvals)
    .doc("The singular values of matrices, descending.")
    .by_hand()
    .host()
    .input("x", full_precision)
    .result([](Inference& i) {
      const Shape& shape = matrices(i);
      const int64_t k = std::min(shape[shape.rank() - 2], shape[shape.rank() - 1]);
      i.output({real_dtype_of(i.input(0).dtype), with(batch_shape(shape), {k})});
    });

}  // namespace ferrule::ops
