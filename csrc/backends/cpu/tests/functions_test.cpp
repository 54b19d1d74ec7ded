// Elementary functions and activations are within stated ULP bounds of long double.
#include "backend_fixture.h"

namespace cpu_backend {
namespace {

TEST_F(CpuBackend, ElementaryFunctionsStayWithinTwoUlpOfLongDouble) {
  struct Function {
    const char* op;
    long double (*oracle)(long double);
  };
  const std::vector<Function> functions = {{"exp", expl},   {"log", logl},     {"expm1", expm1l}, {"log1p", log1pl},
                                           {"log2", log2l}, {"log10", log10l}, {"sin", sinl},     {"cos", cosl},
                                           {"tan", tanl},   {"tanh", tanhl},   {"erf", erfl},     {"sqrt", sqrtl},
                                           {"asin", asinl}, {"acos", acosl},   {"atan", atanl},   {"sinh", sinhl},
                                           {"cosh", coshl}, {"asinh", asinhl}, {"acosh", acoshl}, {"atanh", atanhl}};
  std::vector<float> values = {0.0f,    -0.0f,    INFINITY, -INFINITY, NAN,      1e-45f,   -1e-45f, 1.17549435e-38f,
                               3.4e38f, -3.4e38f, 88.7228f, 88.7229f,  -103.97f, -103.98f, 1.0f,    -1.0f,
                               0.5f,    1e6f,     1e7f,     1e20f};
  for (uint32_t bits = 0; bits < 0xff000000u; bits += 104729) {
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    values.push_back(value);
  }
  const Array x = array_of("float32", {static_cast<int64_t>(values.size())}, values);
  for_each_module([&](Module& module) {
    for (const Function& function : functions) {
      const Array y = compute(module, function.op, {&x}, "float32", x.shape);
      double worst = 0;
      float at = 0;
      for (size_t i = 0; i < values.size(); ++i) {
        const double error = ulps(y.data<float>()[i], function.oracle(values[i]));
        if (error > worst) worst = error, at = values[i];
      }
      EXPECT_LE(worst, 2.0) << function.op << " at " << at;
    }
  });
}

TEST_F(CpuBackend, SigmoidAndSiluAreAccurateInBothTails) {
  std::vector<float> values = {0.0f, -0.0f, 1e-45f, -1e-40f, 87.0f, -87.0f, 87.1f, -87.1f, -100.0f, 3e38f, -3e38f, NAN};
  for (double v = -104; v < 100; v += 0.000937) values.push_back(static_cast<float>(v));
  for (double v = 1e-6; v < 1; v *= 1.0003)
    values.insert(values.end(), {static_cast<float>(v), static_cast<float>(-v)});
  const Array x = array_of("float32", {static_cast<int64_t>(values.size())}, values);
  for_each_module([&](Module& module) {
    const Array sigmoid = compute(module, "sigmoid", {&x}, "float32", x.shape);
    const Array silu = compute(module, "silu", {&x}, "float32", x.shape);
    for (size_t i = 0; i < values.size(); ++i) {
      const long double v = values[i];
      ASSERT_LE(ulps(sigmoid.data<float>()[i], 1 / (1 + expl(-v))), 2) << v;
      ASSERT_LE(ulps(silu.data<float>()[i], v / (1 + expl(-v))), 2) << v;
    }
  });
}

TEST_F(CpuBackend, GeluIsAccurateInBothTails) {
  std::vector<float> values;
  for (double v = -15; v < 14; v += 0.000371) values.push_back(static_cast<float>(v));
  for (double v = 1e-6; v < 1; v *= 1.0003)
    values.insert(values.end(), {static_cast<float>(v), static_cast<float>(-v)});
  for (float v : {0.0f, -0.0f, 1e-30f, -1e-40f, 3e38f, -3e38f, INFINITY, -INFINITY, NAN}) values.push_back(v);
  const Array x = array_of("float32", {static_cast<int64_t>(values.size())}, values);
  const fe_gelu_attributes exact{sizeof exact, "none"}, approximate{sizeof approximate, "tanh"};
  for_each_module([&](Module& module) {
    const Array y = compute(module, "gelu", {&x}, "float32", x.shape, &exact);
    const Array z = compute(module, "gelu", {&x}, "float32", x.shape, &approximate);
    double worst = 0;
    float at = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const long double v = values[i];
      if (std::isinf(values[i])) {
        EXPECT_EQ(y.data<float>()[i], std::max(v, 0.0L));
        EXPECT_EQ(z.data<float>()[i], std::max(v, 0.0L));
        continue;
      }
      const double error = ulps(y.data<float>()[i], 0.5L * v * erfcl(-v * 0.70710678118654752440L));
      if (error > worst) worst = error, at = values[i];
      const long double u = 0.79788456080286535588L * (v + 0.044715L * v * v * v);
      ASSERT_LE(ulps(z.data<float>()[i], v / (1 + expl(-2 * u))), 2) << v;
    }
    EXPECT_TRUE(std::signbit(y.data<float>()[values.size() - 8])) << "gelu(-0) is -0";
    EXPECT_LE(worst, 5.5) << "gelu at " << at;
    RecordProperty("gelu_worst_ulp", std::to_string(worst));
  });
}

}  // namespace
}  // namespace cpu_backend
