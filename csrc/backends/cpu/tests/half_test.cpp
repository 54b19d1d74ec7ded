// float16 and bfloat16 in the CPU module: conversions against the format definitions, ops against float32.
#include "backend_fixture.h"
#include "narrow_float_reference.h"

namespace cpu_backend {
namespace {

using ferrule::test::half_formats;
using ferrule::test::NarrowFormat;

template <class T>
Array vector_of(const char* dtype, const std::vector<T>& values) {
  return array_of<T>(dtype, {static_cast<int64_t>(values.size())}, values);
}

Array every_half(const NarrowFormat& format) {
  std::vector<uint16_t> bits(65536);
  std::iota(bits.begin(), bits.end(), uint16_t{0});
  return vector_of(format.name().c_str(), bits);
}

template <class T>
void expect_rounded_once(Module& module, const char* dtype, const std::vector<T>& values) {
  const Array x = vector_of(dtype, values);
  for (const NarrowFormat& format : half_formats()) {
    const Array y = cast(module, x, format.name());
    for (size_t i = 0; i < values.size(); ++i) {
      const uint16_t bits = y.data<uint16_t>()[i];
      if (values[i] != values[i])
        ASSERT_TRUE(format.is_nan(bits)) << dtype << " -> " << format.name() << ": " << i;
      else
        ASSERT_EQ(bits, format.nearest(static_cast<long double>(values[i])))
            << dtype << " -> " << format.name() << ": " << +values[i];
    }
  }
}

TEST_F(CpuBackend, FloatsConvertToTheNearestHalf) {
  std::vector<double> doubles;
  for (const NarrowFormat& format : half_formats()) {
    const std::vector<double> cases = format.hard_cases();
    doubles.insert(doubles.end(), cases.begin(), cases.end());
  }
  std::vector<float> floats(doubles.begin(), doubles.end());
  std::mt19937 generator(2);
  for (int i = 0; i < 200000; ++i) floats.push_back(__builtin_bit_cast(float, static_cast<uint32_t>(generator())));
  for (const uint32_t nan : {0x7f800001U, 0x7fffffffU, 0xff800001U, 0xffffffffU, 0x7fc00000U})  // all stay NaN
    floats.push_back(__builtin_bit_cast(float, nan));
  doubles.push_back(std::numeric_limits<double>::quiet_NaN());
  for_each_module([&](Module& module) {
    expect_rounded_once(module, "float64", doubles);
    expect_rounded_once(module, "float32", floats);
  });
}

TEST_F(CpuBackend, IntegersConvertToTheNearestHalf) {
  for_each_module([&](Module& module) {
    expect_rounded_once(module, "int64", ferrule::test::hard_integers<int64_t>());
    expect_rounded_once(module, "uint64", ferrule::test::hard_integers<uint64_t>());
    expect_rounded_once(module, "int32", ferrule::test::hard_integers<int32_t>());
    expect_rounded_once(module, "uint32", ferrule::test::hard_integers<uint32_t>());
    expect_rounded_once(module, "int16", ferrule::test::hard_integers<int16_t>());
    expect_rounded_once(module, "uint16", ferrule::test::hard_integers<uint16_t>());
    expect_rounded_once(module, "int8", ferrule::test::hard_integers<int8_t>());
    expect_rounded_once(module, "uint8", ferrule::test::hard_integers<uint8_t>());
  });
}

template <class T>
void expect_saturated(const Array& y, const NarrowFormat& format) {
  constexpr auto low = static_cast<double>(std::numeric_limits<T>::min());
  constexpr auto high = static_cast<double>(std::numeric_limits<T>::max());
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const double x = format.value(static_cast<uint16_t>(bits));
    const T expected = std::isnan(x) ? T{0}
                       : x <= low    ? std::numeric_limits<T>::min()
                       : x >= high   ? std::numeric_limits<T>::max()
                                     : static_cast<T>(x);
    ASSERT_EQ(y.data<T>()[bits], expected) << format.name() << " " << x;
  }
}

TEST_F(CpuBackend, EveryHalfConvertsExactlyToFloat32) {
  for_each_module([&](Module& module) {
    for (const NarrowFormat& format : half_formats()) {
      const NarrowFormat& other = half_formats()[&format == half_formats().data() ? 1 : 0];
      const Array x = every_half(format);
      const Array f = cast(module, x, "float32"), d = cast(module, x, "float64"), b = cast(module, x, "bool"),
                  h = cast(module, x, other.name()), again = cast(module, f, format.name());
      for (unsigned bits = 0; bits < 65536; ++bits) {
        const auto half = static_cast<uint16_t>(bits);
        const double value = format.value(half);
        ASSERT_EQ(b.data<uint8_t>()[bits], value != 0) << bits;
        if (format.is_nan(half)) {
          ASSERT_TRUE(std::isnan(f.data<float>()[bits]) && std::isnan(d.data<double>()[bits])) << bits;
          ASSERT_TRUE(other.is_nan(h.data<uint16_t>()[bits])) << bits;
          ASSERT_TRUE(format.is_nan(again.data<uint16_t>()[bits])) << bits;
          continue;
        }
        ASSERT_EQ(f.data<float>()[bits], value) << bits;
        ASSERT_EQ(d.data<double>()[bits], value) << bits;
        ASSERT_EQ(std::signbit(d.data<double>()[bits]), std::signbit(value)) << bits;
        ASSERT_EQ(h.data<uint16_t>()[bits], other.nearest(value)) << bits;
        ASSERT_EQ(again.data<uint16_t>()[bits], half) << bits;
      }
      expect_saturated<int8_t>(cast(module, x, "int8"), format);
      expect_saturated<uint16_t>(cast(module, x, "uint16"), format);
      expect_saturated<int32_t>(cast(module, x, "int32"), format);
      expect_saturated<int64_t>(cast(module, x, "int64"), format);
      expect_saturated<uint64_t>(cast(module, x, "uint64"), format);
    }
  });
}

// The result equals a float32 computation rounded once, for each layout and with an epilogue.
TEST_F(CpuBackend, ProductsOfHalfMatricesAccumulateInFloat32) {
  const Array left = random_array({70, 130}), right = random_array({130, 90}, 1, 2),
              turned = random_array({90, 130}, 1, 3);
  for_each_module([&](Module& module) {
    for (const char* half : {"float16", "bfloat16"}) {
      const Array a = cast(module, left, half), b = cast(module, right, half), c = cast(module, turned, half);
      const Array a32 = cast(module, a, "float32"), b32 = cast(module, b, "float32"), c32 = cast(module, c, "float32");
      const auto expect = [&](const Array& x, const Array& y, const Array& x32, const Array& y32) {
        const std::vector<int64_t> shape = {x.shape[0], y.shape[1]};
        const Array product = compute(module, "matmul", {&x, &y}, half, shape);
        const Array wide = compute(module, "matmul", {&x32, &y32}, "float32", shape);
        EXPECT_TRUE(same_bits(product, cast(module, wide, half))) << half;
        const BodySpec body = {{half}, {{"tanh", half, {0}}}, {1}};
        Array fused = array(half, shape);
        OneNode("matmul", {&x, &y}, {&fused}, nullptr, &body).run(module);
        EXPECT_TRUE(same_bits(fused, compute(module, "tanh", {&product}, half, shape))) << half;
      };
      expect(a, b, a32, b32);
      expect(a, transposed(c), a32, transposed(c32));
      const Array few = [&] {
        Array rows = a;
        rows.shape[0] = 2;
        return rows;
      }();
      const Array few32 = cast(module, few, "float32");
      expect(few, b, few32, b32);
    }
  });
}

}  // namespace
}  // namespace cpu_backend
