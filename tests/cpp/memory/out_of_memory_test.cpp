// Running out of memory returns an error and leaves everything usable.
#include "api_handles.h"
#include "core/api/handles.h"
#include "core/api/load_options.h"
#include "core/api/load_report.h"
#include "core/json_object.h"
#include "core/lazy/array.h"
#include "core/lazy/queued_releases.h"
#include "core/loader/search/find_candidates.h"
#include "core/platform/drivers/driver_files.h"
#include "core/threads/pool.h"
#include "failing_allocations.h"
#include "lifecycle_fixture.h"

#include <array>

namespace ferrule::test {
namespace {

class OutOfMemory : public LifecycleTest, public testing::WithParamInterface<Shortage> {
 protected:
  // Makes each allocation of a host API function fail in turn.
  template <class Function>
  void expect_an_error_for_each_allocation(const char* name, Function function) {
    SCOPED_TRACE(name);
    const std::size_t failed = for_each_allocation([&](std::size_t n) {
      bool has_failed = false;
      ErrorPointer error;
      {
        const FailingAllocation failing(n, GetParam());
        error.reset(function());
        has_failed = failing.has_failed();
      }
      EXPECT_TRUE(!error || fe_error_code(error.get()) == FE_OUT_OF_MEMORY) << n << ": " << message_of(error.get());
      return has_failed;
    });
    EXPECT_GT(failed, 0u);
  }
};
INSTANTIATE_TEST_SUITE_P(Of, OutOfMemory, testing::Values(Shortage::once, Shortage::lasting),
                         [](const auto& info) { return info.param == Shortage::once ? "One" : "All"; });

TEST_P(OutOfMemory, FailedEvaluationLeavesItsArraysUnchanged) {
  const DeviceHandle home(new fe_device{cpu()});
  set_thread_count(1);  // the countdown counts allocations of this thread only
  const auto ones = LifecycleTest::ones(home->device);
  const ArrayPointer x = Array::computed(ones.type, home->device, ones.data, "");
  const auto apply = [](const char* op, std::vector<ArrayPointer> inputs) {
    return Array::record(ops::op_named(op), std::move(inputs), {}, {});
  };
  const std::size_t failed = for_each_allocation([&](std::size_t n) {
    clear_compile_cache();
    const ArrayPointer sum = apply("add", {x, x}), product = apply("multiply", {sum, x}), all[] = {sum, product};
    bool has_failed = false;
    ErrorPointer error;
    {
      const FailingAllocation failing(n, GetParam());
      error.reset(guarded([&] { evaluate(all); }));
      has_failed = failing.has_failed();
    }
    EXPECT_TRUE(!error || code_of(error.get()) == FE_OUT_OF_MEMORY) << n << ": " << message_of(error.get());
    evaluate(all);
    const StridedArray view = product->strided_array();
    EXPECT_EQ(static_cast<const float*>(view.data.storage->host_pointer())[view.data.offset], 2) << n;
    return has_failed;
  });
  EXPECT_GT(failed, 20u);
  set_thread_count(0);
}

TEST_P(OutOfMemory, ChainOfArraysIsDestroyedWithoutAllocating) {
  const auto device = cpu();
  const auto ones = LifecycleTest::ones(device);
  const ArrayPointer first = Array::computed(ones.type, device, ones.data, "");
  ArrayPointer last = first;
  for (int i = 0; i < 100; ++i) last = Array::record(ops::op_named("add"), {last, first}, {}, {});
  bool has_failed = false;
  {
    const FailingAllocation failing(1, GetParam());
    last.reset();
    has_failed = failing.has_failed();
  }
  EXPECT_FALSE(has_failed);
}

TEST_P(OutOfMemory, BorrowedMemoryIsReleasedOnceWithoutAllocating) {
  drain_releases();
  int released = 0;
  const auto release = [](void* count) { ++*static_cast<int*>(count); };
  std::shared_ptr<void> owner = owner_of_borrowed_memory(release, &released);
  {
    const FailingAllocation failing(1, GetParam());
    owner.reset();
    EXPECT_FALSE(failing.has_failed());
  }
  EXPECT_EQ(released, 0);
  EXPECT_EQ(drain_releases(), 1u);
  EXPECT_EQ(released, 1);
  // The same if the memory cannot be borrowed.
  const std::size_t failed = for_each_allocation([&](std::size_t n) {
    released = 0;
    bool has_failed = false;
    {
      const FailingAllocation failing(n, GetParam());
      const ErrorPointer error(guarded([&] { owner_of_borrowed_memory(release, &released); }));
      has_failed = failing.has_failed();
    }
    drain_releases();
    EXPECT_EQ(released, 1) << n;
    return has_failed;
  });
  EXPECT_EQ(failed, 2u);
}

TEST_P(OutOfMemory, ReadingJsonReturnsAnError) {
  LoadReport report;
  report.roots.push_back({"/root", "dirs", 2, ""});
  report.rows.resize(2);
  report.rows[1].devices = {"a", "b"};
  const std::string text = to_json(report);
  expect_an_error_for_each_allocation("parse_json", [&] { return guarded([&] { parse_json(text); }); });
  expect_an_error_for_each_allocation("parse_json of what is none", [&]() -> fe_error* {
    try {
      parse_json(R"({"a": [1, [2, 3]], "b": {"c": "a string that is too long to be short", "d": )");
    } catch (const Error&) {
    } catch (...) {
      return to_error_of_current_exception();
    }
    return nullptr;
  });
  const fe_load_report handle(report);
  for (const char* const format : {"text", "json"})
    expect_an_error_for_each_allocation("load_report_format",
                                        [&] { return text_of(fe_load_report_format, &handle, format); });
  const char* const versions[] = {"a version that is too long to be short", nullptr};
  expect_an_error_for_each_allocation("load_report_explain",
                                      [&] { return text_of(fe_load_report_explain, &handle, "cpu", versions); });
}

TEST_P(OutOfMemory, WritingJsonReturnsAnError) {
  const DeviceHandle home(new fe_device{cpu()});
  const auto float32 = static_cast<fe_dtype>(DType::float32);
  constexpr std::array<int64_t, 1> shape{8};
  fe_graph* graph = nullptr;
  ASSERT_EQ(fe_graph_create(home.get(), &graph), nullptr);
  const GraphHandle owner(graph);
  uint32_t x = 0, sum = 0;
  ASSERT_EQ(fe_graph_input(graph, "x", float32, 1, shape.data(), nullptr, &x), nullptr);
  const std::array<uint32_t, 1> inputs{x};
  constexpr int64_t first = 0;
  const fe_attribute axis = fe_attribute_int64_list("axis", &first, 1);
  ASSERT_EQ(fe_graph_apply(graph, "sum", inputs.data(), nullptr, 1, &axis, 1, nullptr, &sum, 1), nullptr);
  ASSERT_EQ(fe_graph_output(graph, sum), nullptr);
  fe_compiled* compiled = nullptr;
  ASSERT_EQ(fe_graph_compile(graph, nullptr, &compiled), nullptr);
  const CompiledHandle compiled_owner(compiled);
  expect_an_error_for_each_allocation("graph_text", [&] { return text_of(fe_graph_text, graph, "json"); });
  expect_an_error_for_each_allocation("compiled_plan", [&] { return text_of(fe_compiled_plan, compiled); });
  expect_an_error_for_each_allocation("compiled_placement", [&] { return text_of(fe_compiled_placement, compiled); });
  LoadReport report;
  report.rows.resize(2);
  expect_an_error_for_each_allocation("to_json", [&] { return guarded([&] { to_json(report); }); });
}

TEST_P(OutOfMemory, ReadingTheOptionsOfALoadReturnsAnError) {
  const char* const texts[] = {"/a/path/that/is/too/long/to/be/short", "a name that is too long to be short"};
  fe_load_options options{};
  options.struct_size = sizeof options;
  options.dirs = options.only = texts;
  options.dir_count = options.only_count = 2;
  expect_an_error_for_each_allocation("load_all_options", [&] { return guarded([&] { load_all_options(&options); }); });
}

TEST_P(OutOfMemory, SearchForModulesReturnsAnError) {
  put(root(), "t_plain");
  put(root(), "t_two");
  LoadOptions options;
  options.dirs = {root()};
  expect_an_error_for_each_allocation("find_candidates", [&] { return guarded([&] { find_candidates(options); }); });
}

TEST_P(OutOfMemory, SearchForDriverFilesReturnsAnError) {
  const fs::path folder = folder_ / "t_drivers" / "icd.d";
  fs::create_directories(folder);
  write_file(folder / "a.json", R"({"ICD": {"library_path": "/lib/libt_driver.so"}})");
  write_file(folder / "b.json", R"({"layers": [{"library_path": "libt_layer.so"}, 1]})");
  const Variable data("XDG_DATA_HOME", folder_);
  const DriverNeed driver = {
      .library = "libt_driver.so.1", .floor = "", .version_file = "", .folders = {"t_drivers/icd.d"}};
  expect_an_error_for_each_allocation("driver_files_state",
                                      [&] { return guarded([&] { driver_files_state(driver); }); });
}

}  // namespace
}  // namespace ferrule::test
