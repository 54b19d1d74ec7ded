// Discrete Fourier transforms.
#include "ops/rules.h"

namespace ferrule::ops {
OP(fft_complex)
    .doc(
        "The discrete Fourier transform of complex numbers over axes, times `scale`: the sum of x[j] * "
        "exp(-2 pi i j k / n), or with `inverse` of x[j] * exp(2 pi i j k / n).")
    .by_hand()
    .host()
    .input("x", complex)
    .axes_attribute("axes")
    .boolean_attribute("inverse", false)
    .real_attribute("scale", 1)
    .result([](Inference& i) {
      const Shape& shape = i.input(0).shape;
      for (const int64_t axis : i.axes("axes", shape.rank()))
        if (shape[static_cast<int>(axis)] == 0) i.fail("axis {} of {} is empty", axis, i.call());
      i.output(i.input(0));
    });

OP(fft_real)
    .doc(
        "The first n // 2 + 1 elements of the discrete Fourier transform of n real numbers along an axis, times "
        "`scale`; the others are their conjugates.")
    .by_hand()
    .host()
    .input("x", full_precision)
    .integer_attribute("axis", -1)
    .real_attribute("scale", 1)
    .result([](Inference& i) {
      Shape shape = i.input(0).shape;
      if (is_complex(i.input(0).dtype)) i.fail("x is {}, but needs a real dtype", to_string(i.input(0)));
      const int axis = i.axis("axis", shape.rank());
      if (shape[axis] == 0) i.fail("axis {} of {} is empty", axis, i.call());
      shape[axis] = shape[axis] / 2 + 1;
      i.output({complex_dtype_of(i.input(0).dtype), shape});
    });

OP(fft_to_real)
    .doc(
        "The inverse of fft_real, times `scale`: `size` real numbers along an axis from size // 2 + 1 complex ones. "
        "The imaginary parts of the first one, and of the last one where `size` is even, are not read.")
    .by_hand()
    .host()
    .input("x", complex)
    .attribute("size", AttributeType::integer)
    .integer_attribute("axis", -1)
    .real_attribute("scale", 1)
    .result([](Inference& i) {
      Shape shape = i.input(0).shape;
      const int axis = i.axis("axis", shape.rank());
      const int64_t size = i.attribute().integer("size");
      if (size < 1) i.fail("size is {}", size);
      if (shape[axis] != size / 2 + 1)
        i.fail("{} real numbers need {} complex ones: axis {} of {}", size, size / 2 + 1, axis, i.call());
      shape[axis] = size;
      i.output({real_dtype_of(i.input(0).dtype), shape});
    });

}  // namespace ferrule::ops
