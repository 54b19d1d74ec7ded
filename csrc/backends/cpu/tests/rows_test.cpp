// Softmax, layer normalisation and attention against their definitions in float64.
#include "backend_fixture.h"

namespace cpu_backend {
namespace {

TEST_F(CpuBackend, SoftmaxAndLayerNormAreRightForAnyWidth) {
  for_each_module([&](Module& module) {
    for (const int64_t width : {1, 7, 16, 100, 1000, 5000}) {
      const Array x = random_array({5, width}, 10), weight = random_array({width}, 1, 2),
                  bias = random_array({width}, 1, 3);
      const fe_softmax_attributes last{sizeof last, 1};
      const fe_layer_norm_attributes epsilon{sizeof epsilon, 1e-5};
      const Array s = compute(module, "softmax", {&x}, "float32", x.shape, &last);
      const Array l = compute(module, "log_softmax", {&x}, "float32", x.shape, &last);
      const Array n = compute(module, "layer_norm", {&x, &weight, &bias}, "float32", x.shape, &epsilon);
      for (int64_t i = 0; i < 5; ++i) {
        const float* row = x.data<float>() + i * width;
        double greatest = -INFINITY, sum = 0, mean = 0, variance = 0;
        for (int64_t j = 0; j < width; ++j) greatest = std::max<double>(greatest, row[j]), mean += row[j];
        mean /= static_cast<double>(width);
        for (int64_t j = 0; j < width; ++j)
          sum += std::exp(row[j] - greatest), variance += (row[j] - mean) * (row[j] - mean);
        variance /= static_cast<double>(width);
        for (int64_t j = 0; j < width; ++j) {
          const double want = std::exp(row[j] - greatest) / sum;
          ASSERT_NEAR(s.data<float>()[i * width + j], want, want * 3e-6);
          ASSERT_NEAR(l.data<float>()[i * width + j], row[j] - greatest - std::log(sum), 4e-6);
          ASSERT_NEAR(n.data<float>()[i * width + j],
                      (row[j] - mean) / std::sqrt(variance + 1e-5) * weight.data<float>()[j] + bias.data<float>()[j],
                      5e-6);
        }
      }
    }
  });
}

TEST_F(CpuBackend, NaNAnywhereInARowMakesTheWholeSoftmaxNaN) {
  const fe_softmax_attributes along_rows{sizeof along_rows, 1};
  for (const int64_t width : {1, 5, 16, 33, 100, 5000})
    for (const int64_t at : {int64_t{0}, width / 2, width - 1}) {
      std::vector<float> values(static_cast<size_t>(width) * 2, 1.0f);
      values[static_cast<size_t>(at)] = NAN;
      if (at > 0) values[0] = INFINITY;
      values[static_cast<size_t>(width)] = -INFINITY;  // in the second row, one longer than width - 1 equal values
      const Array x = array_of("float32", {2, width}, values);
      for_each_module([&](Module& module) {
        const Array y = compute(module, "softmax", {&x}, "float32", x.shape, &along_rows);
        for (size_t i = 0; i < static_cast<size_t>(width); ++i) ASSERT_TRUE(std::isnan(y.data<float>()[i])) << i;
        if (width == 1) return;
        EXPECT_EQ(y.data<float>()[width], 0.0f);
        EXPECT_LE(ulps(y.data<float>()[width + 1], 1.0L / static_cast<long double>(width - 1)), 2);
      });
    }
}

TEST_F(CpuBackend, AttentionMatchesItsDefinition) {
  struct Setup {
    int64_t queries, keys, head, value;
    int mask;
    bool causal;
  };  // mask: 0 none, 1 added, 2 bool
  for_each_module([&](Module& module) {
    for (const Setup s : {Setup{5, 7, 8, 8, 0, false},
                          {130, 300, 64, 64, 1, false},
                          {200, 257, 40, 48, 2, true},
                          {1, 400, 64, 64, 0, true}}) {
      const Array q = random_array({2, 3, s.queries, s.head}, 3), v = random_array({2, 3, s.keys, s.value}, 1, 3);
      // Keys in the layout of a projection: (batch, position, head, element).
      Array k = random_array({2, s.keys, 3, s.head}, 3, 2);
      std::swap(k.shape[1], k.shape[2]);
      std::swap(k.strides[1], k.strides[2]);
      Array added = random_array({s.queries, s.keys}, 2, 4), kept = array("bool", {2, 1, 1, s.keys});
      for (int64_t i = 0; i < kept.count(); ++i) kept.data<uint8_t>()[i] = i % 3 != 0;
      std::vector<const Array*> inputs = {&q, &k, &v};
      if (s.mask == 1) inputs.push_back(&added);
      if (s.mask == 2) inputs.push_back(&kept);
      const fe_scaled_dot_product_attention_attributes attributes{sizeof attributes, 0, s.causal};
      threads = 1;
      const Array y =
          compute(module, "scaled_dot_product_attention", inputs, "float32", {2, 3, s.queries, s.value}, &attributes);
      threads = 3;
      EXPECT_TRUE(
          same_bits(y, compute(module, "scaled_dot_product_attention", inputs, "float32", y.shape, &attributes)));
      for (int64_t b = 0; b < 2; ++b)
        for (int64_t h = 0; h < 3; ++h)
          for (int64_t i = 0; i < s.queries; i += 3) {
            std::vector<double> p(static_cast<size_t>(s.keys));
            double greatest = -INFINITY, sum = 0;
            for (int64_t j = 0; j < s.keys; ++j) {
              double score = 0;
              for (int64_t e = 0; e < s.head; ++e)
                score += static_cast<double>(q.data<float>()[((b * 3 + h) * s.queries + i) * s.head + e]) *
                         k.data<float>()[b * k.strides[0] + h * k.strides[1] + j * k.strides[2] + e];
              score /= std::sqrt(static_cast<double>(s.head));
              if (s.mask == 1) score += added.data<float>()[i * s.keys + j];
              if (s.mask == 2 && !kept.data<uint8_t>()[b * s.keys + j]) score = -INFINITY;
              if (s.causal && j > i + s.keys - s.queries) score = -INFINITY;
              p[static_cast<size_t>(j)] = score;
              greatest = std::max(greatest, score);
            }
            for (double& w : p) w = greatest == -INFINITY ? 0 : std::exp(w - greatest), sum += w;
            for (int64_t e = 0; e < s.value; ++e) {
              double want = 0;
              for (int64_t j = 0; j < s.keys; ++j)
                want += p[static_cast<size_t>(j)] * v.data<float>()[((b * 3 + h) * s.keys + j) * s.value + e];
              if (sum > 0) want /= sum;
              ASSERT_NEAR(y.data<float>()[((b * 3 + h) * s.queries + i) * s.value + e], want, 4e-6);
            }
          }
    }
  });
}

TEST_F(CpuBackend, AttentionOfAFullyMaskedQueryIsZero) {
  const Array q = random_array({4, 8}), k = random_array({6, 8}, 1, 2), v = random_array({6, 8}, 1, 3),
              none = array("bool", {4, 6});
  const fe_scaled_dot_product_attention_attributes attributes{sizeof attributes, 0, 0};
  for_each_module([&](Module& module) {
    const Array y =
        compute(module, "scaled_dot_product_attention", {&q, &k, &v, &none}, "float32", {4, 8}, &attributes);
    for (int64_t i = 0; i < 32; ++i) EXPECT_EQ(y.data<float>()[i], 0);
  });
}

}  // namespace
}  // namespace cpu_backend
