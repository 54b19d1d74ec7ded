// Matrix products.
#include "ops/rules.h"

namespace ferrule::ops {
namespace {

void matrix_product(Inference& i) {
  const Shape &a = i.input(0).shape, &b = i.input(1).shape;
  if (a.rank() < 2 || b.rank() < 2) i.fail("needs at least 2 dimensions: {} @ {}", to_string(a), to_string(b));
  const int64_t inner_a = a[a.rank() - 1], inner_b = b[b.rank() - 2];
  if (inner_a != inner_b) i.fail("inner sizes differ: {} @ {}, {} != {}", to_string(a), to_string(b), inner_a, inner_b);
  Shape out = broadcast("matmul", batch_shape(a), batch_shape(b));
  out.push_back(a[a.rank() - 2]);
  out.push_back(b[b.rank() - 1]);
  i.output({i.input(0).dtype, out});
}

}  // namespace

OP(matmul)
    .doc("Matrix product over the last two axes; the leading axes broadcast.")
    .by_hand()
    .promoted("x1", numeric)
    .promoted("x2", numeric)
    .takes_epilogue()
    .result(matrix_product);

}  // namespace ferrule::ops
