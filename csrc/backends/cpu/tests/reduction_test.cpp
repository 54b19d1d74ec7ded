// Reductions against float64 and exact integers.
#include "backend_fixture.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace cpu_backend {
namespace {

fe_sum_attributes axes(const std::vector<int64_t>& list) {
  fe_sum_attributes attributes{};
  attributes.struct_size = sizeof attributes;
  attributes.axis = {list.data(), list.size()};
  return attributes;
}

TEST_F(CpuBackend, SumsOverAnyAxesAndStridesAreRight) {
  const Array x = random_array({13, 70, 37});
  const std::vector<std::vector<int64_t>> all_axes = {{}, {0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}};
  for_each_module([&](Module& module) {
    for (const bool turn : {false, true})
      for (const auto& list : all_axes) {
        const Array view = turn ? transposed(x) : x;
        const auto attributes = axes(list);
        std::vector<bool> reduced(3, list.empty());
        for (const int64_t axis : list) reduced[static_cast<size_t>(axis)] = true;
        std::vector<int64_t> shape, kept(3, 0);
        int64_t stride = 1;
        for (size_t k = 3; k-- > 0;)
          if (!reduced[k]) kept[k] = stride, stride *= view.shape[k], shape.insert(shape.begin(), view.shape[k]);
        std::vector<double> want(static_cast<size_t>(stride), 0), magnitude(want), greatest(want.size(), -INFINITY);
        for (int64_t a = 0; a < view.shape[0]; ++a)
          for (int64_t b = 0; b < view.shape[1]; ++b)
            for (int64_t c = 0; c < view.shape[2]; ++c) {
              const double v = view.data<float>()[a * view.strides[0] + b * view.strides[1] + c * view.strides[2]];
              const auto at = static_cast<size_t>(a * kept[0] + b * kept[1] + c * kept[2]);
              want[at] += v;
              magnitude[at] += std::fabs(v);
              greatest[at] = std::max(greatest[at], v);
            }
        for (uint32_t n : {1u, 3u}) {
          threads = n;
          const Array sum = compute(module, "sum", {&view}, "float32", shape, &attributes);
          const Array max = compute(module, "max", {&view}, "float32", shape, &attributes);
          for (size_t i = 0; i < want.size(); ++i) {
            ASSERT_NEAR(sum.data<float>()[i], want[i], magnitude[i] * 0x1p-21) << i;
            ASSERT_EQ(max.data<float>()[i], greatest[i]);
          }
        }
      }
  });
}

TEST_F(CpuBackend, LongSumsAreWithinAFewUlpAndEqualForAnyThreadCount) {
  const Array x = random_array({300001}), columns = random_array({20011, 17}, 1, 2);
  const std::vector<int64_t> zero = {0};
  const auto attributes = axes(zero);
  for_each_module([&](Module& module) {
    double want = 0, magnitude = 0;
    for (int64_t i = 0; i < x.count(); ++i) want += x.data<float>()[i], magnitude += std::fabs(x.data<float>()[i]);
    threads = 1;
    const Array sum = compute(module, "sum", {&x}, "float32", {}, &attributes);
    const Array column_sums = compute(module, "sum", {&columns}, "float32", {17}, &attributes);
    EXPECT_NEAR(*sum.data<float>(), want, magnitude * 0x1p-23);
    for (uint32_t n : {2u, 3u}) {
      threads = n;
      EXPECT_TRUE(same_bits(sum, compute(module, "sum", {&x}, "float32", {}, &attributes)));
      EXPECT_TRUE(same_bits(column_sums, compute(module, "sum", {&columns}, "float32", {17}, &attributes)));
    }
  });
}

TEST_F(CpuBackend, ReductionsOfIntegersBoolsAndEmptyArraysAreRight) {
  const Array integers = array_of<int64_t>("int64", {4}, {INT64_MAX, 1, 5, -3}), empty = array("float32", {3, 0});
  const Array flags = array_of<uint8_t>("bool", {2, 2}, {1, 0, 1, 1});
  const std::vector<int64_t> one = {1}, none = {};
  const auto last = axes(one), all = axes(none);
  for_each_module([&](Module& module) {
    EXPECT_EQ(*compute(module, "sum", {&integers}, "int64", {}, &all).data<int64_t>(), INT64_MIN + 2);
    EXPECT_EQ(*compute(module, "prod", {&integers}, "int64", {}, &all).data<int64_t>(),
              static_cast<int64_t>(static_cast<uint64_t>(INT64_MAX) * static_cast<uint64_t>(-15)));
    const Array every = compute(module, "all", {&flags}, "bool", {2}, &last),
                some = compute(module, "any", {&flags}, "bool", {2}, &last);
    EXPECT_EQ(every.data<uint8_t>()[0], 0);
    EXPECT_EQ(every.data<uint8_t>()[1], 1);
    EXPECT_EQ(some.data<uint8_t>()[0], 1);
    const Array sum = compute(module, "sum", {&empty}, "float32", {3}, &last),
                prod = compute(module, "prod", {&empty}, "float32", {3}, &last);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(sum.data<float>()[i], 0);
      EXPECT_EQ(prod.data<float>()[i], 1);
    }
  });
}

TEST_F(CpuBackend, MaxOfRowsAndColumnsPropagatesNaN) {
  Array x = random_array({100, 70});
  x.data<float>()[33 * 70 + 5] = NAN;
  const std::vector<int64_t> zero = {0}, one = {1};
  const auto columns = axes(zero), rows = axes(one);
  for_each_module([&](Module& module) {
    for (const char* op : {"max", "min"}) {
      const Array down = compute(module, op, {&x}, "float32", {70}, &columns);
      const Array along = compute(module, op, {&x}, "float32", {100}, &rows);
      for (int64_t i = 0; i < 70; ++i) EXPECT_EQ(std::isnan(down.data<float>()[i]), i == 5);
      for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(std::isnan(along.data<float>()[i]), i == 33);
    }
  });
}

TEST_F(CpuBackend, ArgmaxReturnsTheFirstMaximumAndPrefersNaN) {
  Array x = random_array({7, 5000});
  x.data<float>()[100] = x.data<float>()[4200] = 9;                   // row 0: equal
  x.data<float>()[5000 + 4100] = x.data<float>()[5000 + 4999] = NAN;  // row 1: NaN
  x.data<float>()[10000 + 4999] = 5;
  fe_argmax_attributes attributes{};
  attributes.struct_size = sizeof attributes;
  attributes.axis = 1;
  for_each_module([&](Module& module) {
    const Array at = compute(module, "argmax", {&x}, "int64", {7}, &attributes);
    EXPECT_EQ(at.data<int64_t>()[0], 100);
    EXPECT_EQ(at.data<int64_t>()[1], 4100);
    EXPECT_EQ(at.data<int64_t>()[2], 4999);
  });
}

// The extreme of a block may have been overwritten by the time its index is searched for.
TEST_F(CpuBackend, ArgmaxAndArgminStayInBoundsWhileTheirInputIsWritten) {
  constexpr int64_t count = 4096;
  fe_argmax_attributes attributes{};
  attributes.struct_size = sizeof attributes;
  for_each_module([&](Module& module) {
    for (const char* op : {"argmax", "argmin"}) {
      Array x = array("float64", {count});
      std::atomic_ref<double> last(x.data<double>()[count - 1]);
      std::atomic<bool> stop = false;
      std::thread writer([&] {
        const double step = op == std::string("argmax") ? 1 : -1;
        for (double value = step; !stop; value += step) last.store(value, std::memory_order_relaxed);
      });
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
      while (std::chrono::steady_clock::now() < end) {
        const Array at = compute(module, op, {&x}, "int64", {}, &attributes);
        if (*at.data<int64_t>() >= 0 && *at.data<int64_t>() < count) continue;
        ADD_FAILURE() << op << " is " << *at.data<int64_t>();
        break;
      }
      stop = true;
      writer.join();
    }
  });
}

}  // namespace
}  // namespace cpu_backend
