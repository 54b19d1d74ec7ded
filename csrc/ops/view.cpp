// Views: the same elements under another shape or other strides. The compiler turns them into strides; only a reshape
// that strides cannot express becomes a copy.
#include "ops/rules.h"

#include <algorithm>

namespace ferrule::ops {

OP(reshape)
    .doc("x in another shape of as many elements; one size may be -1, to be found from the others.")
    .by_hand()
    .view()
    .input("x", stored)
    .attribute("shape", AttributeType::integers)
    .result([](Inference& i) {
      auto& sizes = std::get<std::vector<int64_t>>(i.attributes()[0]);
      const int64_t count = element_count(i.input(0).shape);
      const Shape wanted{std::span<const int64_t>(sizes)};
      const auto unknown = std::find(sizes.begin(), sizes.end(), -1);
      if (unknown != sizes.end()) {
        *unknown = 1;
        const bool is_one = std::find(sizes.begin(), sizes.end(), -1) == sizes.end();
        const int64_t others = is_one ? element_count(Shape(std::span<const int64_t>(sizes))) : 0;
        if (others == 0 || count % others != 0)
          i.fail("{} does not fit shape {} with one unknown size", to_string(i.input(0)), to_string(wanted));
        *unknown = count / others;
      }
      const Shape shape{std::span<const int64_t>(sizes)};
      if (element_count(shape) != count)
        i.fail("{} has {} elements, but shape {} has {}", to_string(i.input(0)), count, to_string(shape),
               element_count(shape));
      i.output({i.input(0).dtype, shape});
    });

OP(permute_dims)
    .doc("x with its axes in another order.")
    .by_hand()
    .view()
    .input("x", stored)
    .attribute("axes", AttributeType::integers)
    .result([](Inference& i) {
      auto& axes = std::get<std::vector<int64_t>>(i.attributes()[0]);
      const Shape& shape = i.input(0).shape;
      std::vector<int64_t> seen;
      Shape out;
      for (int64_t& axis : axes) {
        if (axis < -shape.rank() || axis >= shape.rank()) i.fail("axis {} is out of range for {}", axis, i.call());
        if (axis < 0) axis += shape.rank();
        if (std::find(seen.begin(), seen.end(), axis) != seen.end())
          i.fail("axis {} is named twice for {}", axis, i.call());
        seen.push_back(axis);
        out.push_back(shape[static_cast<int>(axis)]);
      }
      if (out.rank() != shape.rank()) i.fail("needs all {} axes of {}, not {}", shape.rank(), i.call(), axes.size());
      if (is_block(i.input(0).dtype) && !axes.empty() && axes.back() + 1 != shape.rank())
        i.fail("the last axis of the dtype {} holds its blocks and stays the last: {}",
               ferrule::name_of(i.input(0).dtype), i.call());
      i.output({i.input(0).dtype, out});
    });

OP(broadcast_to)
    .doc("x repeated to a shape that it broadcasts to.")
    .by_hand()
    .view()
    .input("x", any)
    .attribute("shape", AttributeType::integers)
    .result([](Inference& i) {
      const Shape shape{std::span<const int64_t>(i.attribute().integers("shape"))};
      element_count(shape);
      if (i.input(0).shape.rank() > shape.rank() || broadcast("broadcast_to", i.input(0).shape, shape) != shape)
        i.fail("{} does not broadcast to {}", to_string(i.input(0)), to_string(shape));
      i.output({i.input(0).dtype, shape});
    });

OP(slice)
    .doc("sizes[k] elements of axis k from starts[k] in steps of steps[k], which may be negative.")
    .by_hand()
    .view()
    .input("x", stored)
    .attribute("starts", AttributeType::integers)
    .attribute("sizes", AttributeType::integers)
    .attribute("steps", AttributeType::integers)
    .result([](Inference& i) {
      const Shape& shape = i.input(0).shape;
      const auto &starts = i.attribute().integers("starts"), &sizes = i.attribute().integers("sizes"),
                 &steps = i.attribute().integers("steps");
      if (starts.size() != shape.size() || sizes.size() != shape.size() || steps.size() != shape.size())
        i.fail("needs {} starts, sizes and steps: {}", shape.rank(), i.call());
      const int64_t block = block_elements(i.input(0).dtype);
      for (int k = 0; k < shape.rank(); ++k) {
        const auto axis = static_cast<std::size_t>(k);
        const int64_t start = starts[axis], size = sizes[axis], step = steps[axis];
        if (block != 1 && k + 1 == shape.rank() && size != 0 && (step != 1 || start % block != 0 || size % block != 0))
          i.fail(
              "the last axis of the dtype {} is cut into whole blocks of {} elements: start {}, size {}, step {} of {}",
              ferrule::name_of(i.input(0).dtype), block, start, size, step, to_string(i.input(0)));
        if (size < 0 || step == 0)
          i.fail("axis {}: size {} and step {} are not a slice of {}", k, size, step, i.call());
        if (size == 0) continue;
        // Counts in steps from the start to the end of the axis, which cannot overflow; -step could.
        if (start < 0 || start >= shape[k] || size - 1 > (step > 0 ? (shape[k] - 1 - start) / step : -(start / step)))
          i.fail("axis {}: start {}, size {}, step {} leave {}", k, start, size, step, to_string(i.input(0)));
      }
      i.output({i.input(0).dtype, Shape(std::span<const int64_t>(sizes))});
    });

}  // namespace ferrule::ops
