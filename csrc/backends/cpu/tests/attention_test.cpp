// Attention against its definition in float64.
#include "backend_fixture.h"

namespace cpu_backend {
namespace {

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
