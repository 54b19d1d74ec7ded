// A reduction whose input changes meanwhile.
#include "backend_fixture.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace cpu_backend {
namespace {

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
