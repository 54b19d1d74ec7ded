// Real devices, and helpers that build graphs and run them.
#pragma once

#include "core/compiler/plan.h"
#include "core/copy/transfer.h"
#include "core/executor/executable.h"
#include "core/graph/graph.h"
#include "core/lazy/from_host.h"
#include "core/loader/load.h"
#include "core/memory/allocator.h"
#include "core/memory/storage.h"
#include "core/registry/device.h"
#include "core/registry/registry.h"
#include "core/threads/pool.h"
#include "error_of.h"
#include "ops/table.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace ferrule::test {

// A result read back from its device: elements in C order.
template <class T>
std::vector<T> values_of(const StridedArray& view) {
  std::vector<T> values(static_cast<std::size_t>(element_count(view.type.shape)));
  if (!values.empty()) read_to_host(view, values.data(), values.size() * sizeof(T));
  return values;
}

inline std::vector<float> random_floats(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-2, 2);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = uniform(generator);
  return values;
}

class ExecutorTest : public testing::Test {
 protected:
  ExecutorTest() {
    if (Registry::instance().backends().empty()) load_all();
    cpu = Registry::instance().by_name("cpu");
  }
  ~ExecutorTest() override { set_thread_count(0); }

  template <class T>
  static StridedArray array(const std::shared_ptr<Device>& device, Shape shape, const std::vector<T>& values,
                            DType dtype = DType::float32) {
    const TensorType type{dtype, shape};
    StridedArray view{type, {nullptr, 0, contiguous_strides(shape)}};
    if (values.empty()) return view;
    view.data.storage = Storage::allocate(device, values.size() * sizeof(T));
    write_from_host(view, values.data(), values.size() * sizeof(T));
    return view;
  }

  ValueId input(Shape shape, DType dtype = DType::float32) {
    return graph.add_input(fmt::format("x{}", graph.inputs.size()), {dtype, shape});
  }
  ValueId add(const char* op, const std::vector<ValueId>& operands,
              const std::vector<ops::NamedAttribute>& attributes = {},
              const std::shared_ptr<Device>& device = nullptr) {
    return graph.add(ops::op_named(op), operands, attributes, device.get());
  }
  std::shared_ptr<Executable> build(const std::shared_ptr<Device>& device, bool fuse = true,
                                    Fallback fallback = Fallback::error) const {
    return build_executable(graph, device, fallback, fuse);
  }
  // Waits for the results, and throws if their computation failed.
  static std::vector<StridedArray> run(Executable& executable, const std::vector<StridedArray>& inputs) {
    std::vector<StridedArray> results = executable.compute(inputs, executable.plan().scalar_defaults);
    for (const StridedArray& result : results)
      if (result.data.storage) result.data.storage->finish_write();
    return results;
  }
  std::shared_ptr<Device> cpu;
  Graph graph;
};

}  // namespace ferrule::test
