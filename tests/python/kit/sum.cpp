// A second op for a generated backend: its kernel receives empty tensors, but only with a non-empty result.
#include "kernels.h"

#include <array>
#include <cstdlib>
#include <vector>

namespace ferrule_backend_name {

Kernel sum(const Node& node) {
  const Operand x = node.input(0), y = node.output(0);
  if (!x.is("float32")) return refusal("only float32 is here");
  const fe_int64_list axes = node.attributes<fe_sum_attributes>().axis;
  std::array<bool, FE_MAX_RANK> reduced{};
  for (size_t i = 0; i < axes.count; ++i) reduced[static_cast<size_t>(axes.data[i])] = true;
  if (axes.count == 0) reduced.fill(true);

  const auto rank = static_cast<size_t>(x.rank());
  std::array<int64_t, FE_MAX_RANK> y_strides{};  // for each axis of x
  int64_t stride = 1;
  for (size_t axis = rank; axis-- > 0;)
    if (!reduced[axis]) {
      y_strides[axis] = stride;
      stride *= x.shape()[axis];
    }

  return {.support = {.kernel = "sum_elements"}, .run = [=](const Launch& launch) {
            const auto* const from = launch.pointer<const float>(x);
            std::vector<double> sums(static_cast<size_t>(y.count()));
            for (int64_t i = 0; i < x.count(); ++i) {
              int64_t at = 0, rest = i;
              for (size_t axis = rank; axis-- > 0; rest /= x.shape()[axis])
                at += rest % x.shape()[axis] * y_strides[axis];
              sums[static_cast<size_t>(at)] += from[offset_of(x, i)];
            }
            auto* to = launch.pointer<float>(y);
            for (const double total : sums) *to++ = static_cast<float>(total);
          }};
}

}  // namespace ferrule_backend_name
