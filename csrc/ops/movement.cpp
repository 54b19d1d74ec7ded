// Moving elements: copies, indexing, joining, padding, slices with starts that are known only at execution.
#include "ops/rules.h"

namespace ferrule::ops {

OP(copy).doc("The same elements, C-contiguous.").by_hand().input("x", stored).result(same_shape_and_dtype);

OP(take)
    .doc("Elements of x at indices along an axis; a negative index counts from the end, one out of bounds is an error.")
    .by_hand()
    .input("x", stored)
    .input("indices", index)
    .integer_attribute("axis", 0)
    .result([](Inference& i) {
      const Shape &x = i.input(0).shape, &indices = i.input(1).shape;
      const int axis = i.axis("axis", x.rank());
      if (is_block(i.input(0).dtype) && axis + 1 == x.rank())
        i.fail("the dtype {} has no single elements of the last axis: {}", ferrule::name_of(i.input(0).dtype),
               i.call());
      Shape out;
      for (int k = 0; k < axis; ++k) out.push_back(x[k]);
      for (int64_t size : indices) out.push_back(size);
      for (int k = axis + 1; k < x.rank(); ++k) out.push_back(x[k]);
      i.output({i.input(0).dtype, out});
    });

OP(take_along_axis)
    .doc(
        "Elements of x at indices along an axis, where the other axes of x and the indices are the same; a negative "
        "index counts from the end, one out of bounds is an error.")
    .by_hand()
    .host()
    .input("x", any)
    .input("indices", index)
    .integer_attribute("axis", -1)
    .result([](Inference& i) {
      const Shape &x = i.input(0).shape, &indices = i.input(1).shape;
      const int axis = i.axis("axis", x.rank());
      bool same = indices.rank() == x.rank();
      for (int k = 0; same && k < x.rank(); ++k) same = k == axis || indices[k] == x[k];
      if (!same) i.fail("the shapes differ in other axes than {}: {}", axis, i.call());
      i.output({i.input(0).dtype, indices});
    });

OP(concat)
    .doc("Arrays joined along an axis.")
    .by_hand()
    .variadic("arrays", stored)
    .integer_attribute("axis", 0)
    .result([](Inference& i) {
      Shape out = i.input(0).shape;
      const int axis = i.axis("axis", out.rank());
      for (std::size_t k = 1; k < i.input_count(); ++k) {
        const Shape& shape = i.input(k).shape;
        if (i.input(k).dtype != i.input(0).dtype && (is_block(i.input(k).dtype) || is_block(i.input(0).dtype)))
          i.fail("blocks are joined with blocks of their dtype: {}", i.call());
        bool same = shape.rank() == out.rank();
        for (int d = 0; same && d < out.rank(); ++d) same = d == axis || shape[d] == out[d];
        if (!same)
          i.fail("array {} has shape {}, which does not join {} along axis {}", k, to_string(shape),
                 to_string(i.input(0).shape), axis);
        if (shape[axis] > INT64_MAX - out[axis]) i.fail("axis {} of the result is larger than memory can be", axis);
        out[axis] += shape[axis];
      }
      i.output({i.input(0).dtype, out});
    });

OP(pad)
    .doc("x with `before[k]` and `after[k]` elements of the scalar `value` (zero unless given) added around axis k.")
    .by_hand()
    .promoted("x", any)
    .optional("value", any, true)
    .attribute("before", AttributeType::integers)
    .attribute("after", AttributeType::integers)
    .result([](Inference& i) {
      Shape out = i.input(0).shape;
      const auto &before = i.attribute().integers("before"), &after = i.attribute().integers("after");
      if (before.size() != out.size() || after.size() != out.size())
        i.fail("needs {} sizes before and after, not {} and {}: {}", out.rank(), before.size(), after.size(), i.call());
      if (i.input_count() == 2 && i.input(1).shape.rank() != 0) i.fail("value is not a scalar: {}", i.call());
      for (int k = 0; k < out.rank(); ++k) {
        const int64_t b = before[static_cast<std::size_t>(k)], a = after[static_cast<std::size_t>(k)];
        if (b < 0 || a < 0) i.fail("a size to add is negative in axis {}: {}, {}", k, b, a);
        if (b > INT64_MAX / 4 || a > INT64_MAX / 4 || out[k] > INT64_MAX / 4) i.fail("axis {} would be too large", k);
        out[k] += a + b;
      }
      i.output({i.input(0).dtype, out});
    });

OP(scatter)
    .doc(
        "x with `values` in the place of the elements at indices along an axis, or along the number of axes `joined` "
        "from there on as if they were one. A negative index counts from the end, one out of bounds is an error. "
        "Where indices are equal, the last of their values stays. If x has no other reader, only these elements are "
        "written.")
    .by_hand()
    .host()
    .input("x", any)
    .input("indices", index)
    .input("values", any)
    .integer_attribute("axis", 0)
    .integer_attribute("joined", 1)
    .result([](Inference& i) {
      const TensorType &x = i.input(0), &values = i.input(2);
      const Shape& indices = i.input(1).shape;
      const int axis = i.axis("axis", x.shape.rank());
      const int64_t joined = i.attribute().integer("joined");
      if (values.dtype != x.dtype) i.fail("x and values have two dtypes: {}", i.call());
      if (joined < 1 || joined > x.shape.rank() - axis)
        i.fail("{} axes from {} on are none of {}", joined, axis, i.call());
      Shape expected;
      for (int k = 0; k < axis; ++k) expected.push_back(x.shape[k]);
      if (indices.rank() == 1) expected.push_back(indices[0]);
      for (int k = axis + static_cast<int>(joined); k < x.shape.rank(); ++k) expected.push_back(x.shape[k]);
      if (indices.rank() != 1 || values.shape != expected)
        i.fail("values have one element for each of the indices, in place of axis {}, and otherwise x's shape: {}",
               axis, i.call());
      i.output(x);
    });

OP(update_slice)
    .doc(
        "x with `value` in the place of the elements that begin at `starts`, one integer for each axis; the slice must "
        "not leave x. If x has no other reader, only the slice is written.")
    .by_hand()
    .input("x", any)
    .input("value", any)
    .list("starts", index)
    .result([](Inference& i) {
      const TensorType &x = i.input(0), &value = i.input(1);
      if (value.dtype != x.dtype) i.fail("x and value have two dtypes: {}", i.call());
      if (value.shape.rank() != x.shape.rank() || i.input_count() != 2 + x.shape.size())
        i.fail("value and starts have the {} dimensions of x: {}", x.shape.rank(), i.call());
      for (int axis = 0; axis < x.shape.rank(); ++axis) {
        const TensorType& start = i.input(static_cast<std::size_t>(axis) + 2);
        if (start.shape.rank() != 0) i.fail("start {} must be a 0-d integer, not {}", axis, to_string(start));
        if (value.shape[axis] > x.shape[axis]) i.fail("value does not fit into x: {}", i.call());
      }
      i.output(x);
    });

OP(dynamic_slice)
    .doc(
        "`sizes[k]` elements of axis k from the k-th of `starts`, one integer for each axis; the slice must not "
        "leave x. New starts need no recompilation.")
    .by_hand()
    .input("x", stored)
    .list("starts", index)
    .attribute("sizes", AttributeType::integers)
    .result([](Inference& i) {
      const Shape& shape = i.input(0).shape;
      const auto sizes = i.attribute().integers("sizes");
      if (sizes.size() != shape.size() || i.input_count() != 1 + shape.size())
        i.fail("needs {} starts and sizes: {}", shape.rank(), i.call());
      const int64_t block = block_elements(i.input(0).dtype);
      for (std::size_t k = 0; k < sizes.size(); ++k) {
        const int axis = static_cast<int>(k);
        if (i.input(1 + k).shape.rank() != 0)
          i.fail("start {} must be a 0-d integer, not {}", k, to_string(i.input(1 + k)));
        if (sizes[k] < 0 || sizes[k] > shape[axis])
          i.fail("size {} of axis {} does not fit into {}", sizes[k], k, i.call());
        if (block != 1 && axis + 1 == shape.rank() && sizes[k] != shape[axis])
          i.fail("the last axis of the dtype {} is taken whole: size {} of {}", ferrule::name_of(i.input(0).dtype),
                 sizes[k], to_string(i.input(0)));
      }
      i.output({i.input(0).dtype, Shape(std::span<const int64_t>(sizes))});
    });

}  // namespace ferrule::ops
