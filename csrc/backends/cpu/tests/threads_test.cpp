// Thread counts of the CPU module: set_n_threads and the limit of an execution.
#include <ferrule/procs.h>

#include "backend_fixture.h"

namespace cpu_backend {
namespace {

TEST_F(CpuBackend, SetNThreadsLimitsTheThreadsOfEachKind) {
  const Array x = random_array({300, 400}), w = random_array({400, 200}, 1, 2);
  struct Work {
    const char* op;
    std::vector<const Array*> inputs;
    std::vector<int64_t> shape;
    const void* attributes;
  };
  const int64_t last = 1;
  const fe_softmax_attributes along_rows{sizeof along_rows, last};
  const fe_sum_attributes of_rows{sizeof of_rows, {&last, 1}, 0};
  const std::vector<Work> works = {{"exp", {&x}, {300, 400}, nullptr},
                                   {"softmax", {&x}, {300, 400}, &along_rows},
                                   {"sum", {&x}, {300}, &of_rows},
                                   {"matmul", {&x, &w}, {300, 200}, nullptr}};
  struct Row {
    uint32_t of_module, of_execution, expected;  // 0 = all
  };
  const Row table[] = {{0, 0, 4}, {1, 0, 1}, {3, 0, 3}, {100, 0, 4}, {3, 2, 2}, {2, 3, 2}, {0, 2, 2}, {0, 0, 4}};
  for_each_module([&](Module& module) {
    const auto set_n_threads = reinterpret_cast<fe_set_n_threads_function>(module.backend.get_proc(FE_SET_N_THREADS));
    ASSERT_NE(set_n_threads, nullptr);
    threads = 4;
    for (const Work& work : works) {
      const Array first = compute(module, work.op, work.inputs, "float32", work.shape, work.attributes);
      for (const Row& row : table) {
        set_n_threads(row.of_module);
        uint32_t most = 1;
        before_parallel = [&](uint32_t hands) { most = std::max(most, hands); };
        Array again = array("float32", work.shape);
        OneNode node(work.op, work.inputs, {&again}, work.attributes);
        node.thread_limit = row.of_execution;
        EXPECT_EQ(node.run(module), "");
        before_parallel = nullptr;
        set_n_threads(0);
        EXPECT_EQ(most, row.expected) << work.op << " with " << row.of_module << " and " << row.of_execution;
        EXPECT_TRUE(same_bits(again, first)) << work.op << " with " << row.of_module << " and " << row.of_execution;
      }
    }
  });
}

}  // namespace
}  // namespace cpu_backend
