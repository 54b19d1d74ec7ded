// Lifetimes and what extends them: unloading, remnants, lost and removed devices.
#include "core/executor/executable.h"
#include "core/lazy/from_host.h"
#include "core/memory/queue.h"
#include "core/memory/storage.h"
#include "core/platform/libraries/dynamic_library.h"
#include "core/registry/leftover_modules.h"
#include "core/threads/pool.h"
#include "lifecycle_fixture.h"

#if defined(_WIN32)
#include <windows.h>
// after it
#include <tlhelp32.h>
#else
#include "child_report.h"

#include <dlfcn.h>
#endif

#include <atomic>
#include <cstdlib>
#include <filesystem>

namespace ferrule::test {
namespace {

using RegistryLife = LifecycleTest;

#if defined(_WIN32)
bool is_mapped(const fs::path& path) { return GetModuleHandleW(path.c_str()) != nullptr; }
std::ptrdiff_t thread_count() {
  HANDLE const all = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
  std::ptrdiff_t count = 0;
  THREADENTRY32 thread{};
  thread.dwSize = sizeof thread;
  for (BOOL found = Thread32First(all, &thread); found != 0; found = Thread32Next(all, &thread))
    if (thread.th32OwnerProcessID == GetCurrentProcessId()) ++count;
  CloseHandle(all);
  return count;
}
#else
bool is_mapped(const fs::path& path) { return contains(text_of_file("/proc/self/maps"), path.string()); }
std::ptrdiff_t thread_count() { return std::distance(fs::directory_iterator("/proc/self/task"), {}); }
#endif

std::string refusal_of_unload(const std::string& name) {
  const Error error = error_of([&] { Registry::instance().unload(name); });
  EXPECT_EQ(error.code(), FE_INVALID_ARGUMENT);
  return error.what();
}

TEST_F(RegistryLife, UnloadNamesCompiledGraphsAndArrays) {
  const auto device = watching();
  {
    const auto executable = compiled(device);
    EXPECT_CONTAINS(refusal_of_unload("t_watching"), "on device t_watching:0 there still is compiled graph");
  }
  {
    const TensorType type{DType::int8, Shape{2, 5}};
    const auto storage = Storage::allocate(device, type);
    EXPECT_CONTAINS(refusal_of_unload("t_watching"), "there still is array int8(2, 5)");
  }
  registry.unload("t_watching");
  EXPECT_TRUE(noted("closed t_watching"));
}

TEST_F(RegistryLife, UnloadNamesBorrowedMemoryAndPreparedConstants) {
  const auto device = cpu();
  {
    std::vector<float> memory(16);
    const auto storage = Storage::borrow(device, memory.data(), 64, FE_ACCESS_READ, nullptr);
    EXPECT_CONTAINS(refusal_of_unload("cpu"), "borrowed memory of 64 bytes");
  }
  {
    const auto storage = Storage::allocate(device, 128, nullptr, Storage::Origin::prepared);
    EXPECT_CONTAINS(refusal_of_unload("cpu"), "prepared constant of 128 bytes");
  }
}

TEST_F(RegistryLife, UnloadWhileAnotherThreadComputesNamesItsGraph) {
  const std::filesystem::path gate = root() / "gate";
  const Variable waits("FERRULE_TEST_EXECUTE_GATE", gate);
  const auto device = watching();
  std::thread computing([&] {
    auto executable = compiled(device);
    EXPECT_EQ(values_of(run(*executable, ones(device))), std::vector<float>(size, 0));
  });
  while (!std::filesystem::exists(gate)) std::this_thread::yield();
  EXPECT_CONTAINS(refusal_of_unload("t_watching"), "compiled graph");
  std::filesystem::remove(gate);
  computing.join();
  registry.unload("t_watching");
}

TEST_F(RegistryLife, UncomputedArrayDoesNotKeepItsBackend) {
  const auto device = watching();
  fe_scalar one{};
  const ArrayPointer scalar = Array::scalar(DType::float32, device, one);
  const ArrayPointer lazy = Array::record(ops::op_named("exp"), {scalar}, {}, {});
  registry.unload("t_watching");
  EXPECT_EQ(error_of([&] { evaluate({&lazy, 1}); }).code(), FE_NOT_FOUND);
}

TEST_F(RegistryLife, UnloadUnmapsTheFileAndEndsItsThreads) {
  // A joined thread may be listed for a moment longer.
  const auto settle_at = [&](auto count) {
    for (int i = 0; i < 60'000 && thread_count() != count; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return thread_count();
  };
  std::atomic<bool> ends{false};
  std::thread first([&] {
    while (!ends) std::this_thread::yield();
  });
  const auto before = thread_count() - 1;  // with the thread that ThreadSanitizer starts before the first one
  ends = true;
  first.join();
  EXPECT_EQ(settle_at(before), before);
  const auto device = watching();
  EXPECT_EQ(compute_on(device), std::vector<float>(size, 0));
  EXPECT_EQ(settle_at(before + 1), before + 1) << "the device's own thread runs";
  registry.unload("t_watching");
  EXPECT_EQ(settle_at(before), before);
  EXPECT_FALSE(is_mapped(root() / "libferrule-t_watching" MODULE_ENDING));
  EXPECT_TRUE(registry.remaining().empty());
}

// On Windows a module is a private copy, which nobody else opens, and no file asks to stay mapped.
#if !defined(_WIN32)
TEST_F(RegistryLife, FileMappedByAnotherUserIsARemnantUntilItIsClosed) {
  const fs::path module = put(root(), "t_plain");
  void* const user = dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(user, nullptr);
  load(module);
  EXPECT_TRUE(registry.remaining().empty());
  registry.unload("t_plain");
  const auto remaining = registry.remaining();
  ASSERT_EQ(remaining.size(), 1u);
  EXPECT_EQ(remaining[0].path, module.string());
  EXPECT_CONTAINS(remaining[0].reason, "another user");
  ASSERT_EQ(load_from({root("empty")}).remaining.size(), 1u) << "a report shows it";
  load(module);
  EXPECT_TRUE(registry.remaining().empty()) << "what is loaded again does not remain";
  registry.unload("t_plain");
  dlclose(user);
  EXPECT_TRUE(registry.remaining().empty());
}

TEST_F(RegistryLife, NodeleteModuleStaysMappedAndReloadReportsIt) {
  const fs::path module = put(root(), "t_stays");
  load(module);
  const Error error = error_of([] { reload("t_stays"); });
  EXPECT_EQ(error.code(), FE_UNSUPPORTED);
  EXPECT_CONTAINS(std::string(error.what()), "nodelete");
  EXPECT_CONTAINS(reason_left_mapped(module.string()), "nodelete");
  EXPECT_TRUE(is_mapped(module));
}
#endif

TEST_F(RegistryLife, ModuleWithRunningThreadsStaysMapped) {
  const fs::path module = put(root(), "t_leaving");
  {
    const auto library = DynamicLibrary::open(module);
    ModuleSource source;
    source.name = "t_leaving";
    source.path = source.mapped = module;
    source.code = library;
    source.init = library->function<fe_init_function>(FE_INIT_SYMBOL);
    source.leaves_threads = true;
    registry.add(Backend::start(std::move(source)));
  }
  registry.unload("t_leaving");
  EXPECT_TRUE(noted("closed t_leaving"));
  EXPECT_TRUE(is_mapped(module));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // its thread still runs, in code that is still mapped
  EXPECT_CONTAINS(reason_left_mapped(module.string()), "threads");
}

void begin_exit(const fs::path& module) { DynamicLibrary::open(module)->function<void (*)()>("test_exit_began")(); }

TEST_F(RegistryLife, WatchingModuleDetectsCallsAfterExitBegan) {
  const auto device = watching();
  device->open();
  begin_exit(root() / "libferrule-t_watching" MODULE_ENDING);
  static_cast<void>(device->memory());
  EXPECT_TRUE(noted("at exit: device_memory")) << notes();
}

// It forks.
#if !defined(_WIN32)
TEST_F(RegistryLife, NoDriverFunctionIsCalledAtExit) {
  FERRULE_SKIP_FORKS();
  static fs::path module;
  module = root() / "libferrule-t_watching" MODULE_ENDING;
  const auto end_with_everything_alive = [&] {
    const auto device = watching();
    static auto& graphs = *std::make_unique<std::vector<std::shared_ptr<Executable>>>().release();
    static auto& arrays = *std::make_unique<std::vector<StridedArray>>().release();
    graphs.push_back(compiled(device));
    arrays.push_back(ones(device));
    arrays.push_back(run(*graphs[0], arrays[0]));
    fe_scalar one{};
    const ArrayPointer scalar = Array::scalar(DType::float32, device, one);
    const ArrayPointer lazy = Array::record(ops::op_named("exp"), {scalar}, {}, {});
    evaluate({&lazy, 1});  // its executable stays in the core's cache
    parallel_for(1000, 1, 0, [](int64_t, int64_t, uint32_t) {});
    std::atexit([] { begin_exit(module); });  // registered last, so it runs first
    std::exit(0);
  };
  EXPECT_EXIT(end_with_everything_alive(), testing::ExitedWithCode(0), "");
  EXPECT_FALSE(contains(notes(), "at exit:")) << notes();
  EXPECT_FALSE(noted("closed t_watching"));
}
#endif

class RegistryLostDevice : public LifecycleTest {
 protected:
#ifdef FERRULE_NULL_MODULE
  RegistryLostDevice() {
    load(FERRULE_NULL_MODULE);
    lost = registry.by_name("null");
    lost->open({{ "device_lost_at", "1" }});
  }
  ~RegistryLostDevice() override {
    lost.reset();
    registry.unload("null");
  }
  void lose() {
    const auto executable = compiled(lost);
    EXPECT_EQ(error_of([&] { run(*executable, ones(lost)); }).code(), FE_DEVICE_LOST);
  }
#endif
  std::shared_ptr<Device> lost;
};

#ifdef FERRULE_NULL_MODULE
TEST_F(RegistryLostDevice, TurnsItsArraysIntoErrors) {
  const StridedArray array = ones(lost);
  EXPECT_EQ(values_of(array), std::vector<float>(size, 1));
  lose();
  for (int i = 0; i < 2; ++i) {
    const Error error = error_of([&] { values_of(array); });
    EXPECT_EQ(error.code(), FE_DEVICE_LOST);
    EXPECT_CONTAINS(std::string(error.what()), "device null:0 was lost (null: the device was lost at execution 1)");
  }
  EXPECT_EQ(error_of([&] { ones(lost); }).code(), FE_DEVICE_LOST);
  EXPECT_EQ(error_of([&] { compiled(lost); }).code(), FE_DEVICE_LOST);
  EXPECT_EQ(registry.by_name("null"), lost) << "it is listed until somebody refreshes";
}

TEST_F(RegistryLostDevice, IsReplacedByARefreshAndClosedWithTheLastArray) {
  auto array = std::make_unique<StridedArray>(ones(lost));
  lose();
  EXPECT_TRUE(registry.refresh());
  const auto fresh = registry.by_name("null");
  EXPECT_NE(fresh, lost);
  EXPECT_EQ(fresh->name(), "null:0");
  EXPECT_EQ(compute_on(fresh), std::vector<float>(size, 0)) << "opened anew, without the options of the lost one";
  EXPECT_EQ(error_of([&] { values_of(*array); }).code(), FE_DEVICE_LOST) << "old arrays keep their error";
  EXPECT_TRUE(lost->is_open());
  EXPECT_CONTAINS(refusal_of_unload("null"), "array float32(3,)");
  array.reset();
  EXPECT_FALSE(lost->is_open());
  EXPECT_EQ(error_of([&] { lost->open(); }).code(), FE_DEVICE_LOST);
  EXPECT_FALSE(registry.refresh()) << "and there is nothing more to do";
  EXPECT_EQ(registry.by_name("null"), fresh);
}

TEST_F(RegistryLostDevice, IsClosedAtOnceIfUnused) {
  lose();
  EXPECT_TRUE(lost->is_open());
  EXPECT_TRUE(registry.refresh());
  EXPECT_FALSE(lost->is_open());
}

TEST_F(RegistryLostDevice, IsNotRecoveredByAQueueReset) {
  const StridedArray array = ones(lost);
  lose();
  EXPECT_EQ(error_of([&] { reset_queue(*lost); }).code(), FE_DEVICE_LOST);
  EXPECT_EQ(error_of([&] { values_of(array); }).code(), FE_DEVICE_LOST);
  EXPECT_TRUE(registry.refresh());
}
#endif

class RegistryVanishedDevice : public LifecycleTest {
 protected:
  RegistryVanishedDevice() {
    load(put(root(), "t_named"));
    for (int i = 0; i < 3; ++i) before.push_back(registry.by_name("t_named:" + std::to_string(i)));
  }
  void pull_first_out() {
    reinterpret_cast<void (*)()>(registry.find_backend("t_named")->table().get_proc("remove_device"))();
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& device : registry.devices())
      if (device->backend()->name() == "t_named") names.push_back(device->name() + "=" + device->properties().name);
    return names;
  }
  std::vector<std::shared_ptr<Device>> before;
};

TEST_F(RegistryVanishedDevice, IsLostAndLaterDevicesAreRenumberedByTheirProperties) {
  pull_first_out();
  EXPECT_EQ(names().size(), 3u) << "not before somebody refreshes";
  EXPECT_TRUE(registry.refresh());
  EXPECT_EQ(names(), (std::vector<std::string>{"t_named:0=device b", "t_named:1=device c"}));
  const Error lost = error_of([&] { before[0]->open(); });
  EXPECT_EQ(lost.code(), FE_DEVICE_LOST);
  EXPECT_CONTAINS(std::string(lost.what()), "its backend no longer lists it");
  const Error moved = error_of([&] { before[1]->open(); });
  EXPECT_EQ(moved.code(), FE_NOT_FOUND) << "it is t_named:0 now";
  EXPECT_CONTAINS(std::string(moved.what()), "listed other devices");
}

TEST_F(RegistryVanishedDevice, RenumberedDeviceStaysOpenWhileInUseAndIsThenClosed) {
  {
    const DeviceUse lives = before[2]->use("array");
    const DeviceUse on_vanished = before[0]->use("array");
    pull_first_out();
    EXPECT_TRUE(registry.refresh());
    EXPECT_EQ(error_of([&] { before[0]->open(); }).code(), FE_DEVICE_LOST);
    EXPECT_NO_THROW(before[2]->open());
    EXPECT_EQ(registry.by_name("t_named:1")->properties().name, "device c");
    EXPECT_NE(registry.by_name("t_named:1"), before[2]);
    EXPECT_CONTAINS(refusal_of_unload("t_named"), "t_named:0 there still is array");
    EXPECT_FALSE(noted("device closed t_named"));
  }
  EXPECT_FALSE(before[2]->is_open());
  EXPECT_FALSE(before[0]->is_open());
  registry.unload("t_named");
  EXPECT_TRUE(noted("closed t_named")) << notes();
}

TEST_F(RegistryVanishedDevice, AllDevicesMayVanish) {
  for (int i = 0; i < 3; ++i) pull_first_out();
  EXPECT_TRUE(registry.refresh());
  EXPECT_TRUE(names().empty());
  registry.unload("t_named");
}

}  // namespace
}  // namespace ferrule::test
