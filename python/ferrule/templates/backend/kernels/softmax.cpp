// exp(x - max) / sum(exp(x - max)) over the rows along one axis.
#include "kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ferrule_backend_name {
namespace {

// One row: element i of x is at i * x_stride. The maximum is subtracted so that exp does not overflow. Intermediates
// are double, and the sum runs from first to last, so that threads and batches do not change it. A NaN in the row
// propagates through exp into the sum, and so into every result, as does the NaN of inf - inf.
void softmax_row(const float* x, int64_t x_stride, float* y, int64_t y_stride, int64_t size) {
  double maximum = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < size; ++i) maximum = std::max<double>(maximum, x[i * x_stride]);
  double sum = 0;
  for (int64_t i = 0; i < size; ++i) {
    const double power = std::exp(x[i * x_stride] - maximum);
    y[i * y_stride] = static_cast<float>(power);
    sum += power;
  }
  for (int64_t i = 0; i < size; ++i) y[i * y_stride] = static_cast<float>(y[i * y_stride] / sum);
}

}  // namespace

Kernel softmax(const Node& node) {
  const Operand x = node.input(0), y = node.output(0);
  if (!x.is("float32")) return refusal("only float32 is here");
  const auto axis = static_cast<size_t>(node.attributes<fe_softmax_attributes>().axis);

  const int64_t size = y.shape()[axis];
  int64_t inner = 1;  // distance between elements of a row: the product of the sizes after the axis
  for (const int64_t after : y.shape().subspan(axis + 1)) inner *= after;
  const int64_t x_stride = x.strides()[axis];
  const int64_t rows = size == 0 ? 0 : y.count() / size;

  return {.support = {.kernel = "softmax_rows"}, .run = [=](const Launch& launch) {
            const auto* const from = launch.pointer<const float>(x);
            auto* const to = launch.pointer<float>(y);
            parallel_for(rows, grain_of(size), launch.thread_limit(), [&](int64_t begin, int64_t end, uint32_t) {
              for (int64_t row = begin; row < end; ++row) {
                const int64_t first = row / inner * inner * size + row % inner;  // index of the row's first element
                softmax_row(from + offset_of(x, first), x_stride, to + first, inner, size);
              }
            });
          }};
}

}  // namespace ferrule_backend_name
