#include "loader_fixture.h"

#include <thread>

namespace ferrule::test {
namespace {

using RegistryTest = LoaderTest;

class RegistryWithModules : public LoaderTest {
 protected:
  RegistryWithModules() { load(put(root(), "t_two")); }
  Registry& registry = Registry::instance();
  // The names of devices of the test modules, in the registry's order.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& device : registry.devices())
      if (device->name().starts_with("t_")) names.push_back(device->name());
    return names;
  }
};

TEST_F(RegistryTest, RegisterOfNullIsAnError) {
  EXPECT_EQ(error_of([] { Registry::instance().add(static_cast<const fe_static_module*>(nullptr)); }).code(),
            FE_INVALID_ARGUMENT);
  const fe_static_module empty{};
  EXPECT_EQ(error_of([&] { Registry::instance().add(&empty); }).code(), FE_INVALID_ARGUMENT);
}

TEST_F(RegistryTest, RegisterChecksTheAbiAndTheScore) {
  static bool is_initialised;
  fe_abi abi = FE_ABI_INITIALIZER;
  abi.major = 99;
  fe_static_module module{sizeof module,
                          "t_static",
                          "",
                          &abi,
                          [] { return 0; },
                          [](const fe_host*, fe_backend*) -> fe_error* { return is_initialised = true, nullptr; },
                          0};
  EXPECT_EQ(error_of([&] { Registry::instance().add(&module); }).code(), FE_ABI_MISMATCH);
  abi.major = FE_ABI_MAJOR;
  EXPECT_EQ(error_of([&] { Registry::instance().add(&module); }).code(), FE_UNSUPPORTED);
  EXPECT_FALSE(is_initialised);
}

TEST_F(RegistryTest, RegisterAppliesTheEnvironmentVariables) {
  static bool is_initialised;
  const fe_abi abi = FE_ABI_INITIALIZER;
  fe_static_module module{sizeof module,
                          "t_static",
                          "",
                          &abi,
                          nullptr,
                          [](const fe_host*, fe_backend*) -> fe_error* { return is_initialised = true, nullptr; },
                          0};
  for (const auto& [variable, value] : {std::pair("FERRULE_DISABLE", "T_STATIC"), std::pair("FERRULE_ONLY", "cpu")}) {
    const Variable set(variable, value);
    const Error error = error_of([&] { Registry::instance().add(&module); });
    EXPECT_EQ(error.code(), FE_UNSUPPORTED);
    EXPECT_CONTAINS(std::string(error.what()), "register: backend t_static is switched off: " + std::string(variable));
  }
  EXPECT_FALSE(is_initialised);
}

TEST_F(RegistryWithModules, DevicesAreFoundByNameInAnyCase) {
  EXPECT_EQ(registry.by_name("t_two")->name(), "t_two:0");
  EXPECT_EQ(registry.by_name("T_Two:1")->name(), "t_two:1");
  EXPECT_EQ(registry.by_name("t_two:1")->index(), 1u);
  EXPECT_EQ(registry.find_backend("T_TWO")->name(), "t_two");
  EXPECT_EQ(registry.find_backend("t_absent"), nullptr);
}

TEST_F(RegistryWithModules, UnknownNamesAreNotFoundAndTheErrorListsTheDevices) {
  for (const char* name : {"t_two:2", "t_absent", "accelerator", "test:99"}) {
    const Error error = error_of([&] { registry.by_name(name); });
    EXPECT_EQ(error.code(), FE_NOT_FOUND) << name;
    EXPECT_CONTAINS(std::string(error.what()), "t_two:0, t_two:1");
  }
  for (const char* name : {"", ":1", "t_two:", "t_two:x", "t_two:1x", "t_two:-1"})
    EXPECT_EQ(error_of([&] { registry.by_name(name); }).code(), FE_INVALID_ARGUMENT) << name;
}

TEST_F(RegistryWithModules, DevicesAreOrderedByKindPreferenceAndName) {
  load(put_with_manifest(root(), "t_other_gpu", {{"preference", 1}}));
  load(put(root(), "t_gpu"));
  load(put(root(), "t_plain"));
  EXPECT_EQ(names(),
            (std::vector<std::string>{"t_other_gpu:0", "t_gpu:0", "t_gpu:1", "t_plain:0", "t_two:0", "t_two:1"}));
  EXPECT_EQ(registry.by_kind(FE_DEVICE_GPU)->name(), "t_other_gpu:0");
  EXPECT_EQ(registry.by_name("gpu:2")->name(), "t_gpu:1") << "i counts within the kind";
  EXPECT_EQ(registry.best()->name(), "t_other_gpu:0");
  std::vector<std::string> backends;
  for (const auto& backend : registry.backends())
    if (backend->name().starts_with("t_")) backends.push_back(backend->name());
  EXPECT_EQ(backends, (std::vector<std::string>{"t_other_gpu", "t_gpu", "t_plain", "t_two"}));
}

TEST_F(RegistryWithModules, BestNeverTakesATestDevice) {
  try {
    EXPECT_NE(registry.best()->kind(), FE_DEVICE_TEST);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), FE_NOT_FOUND);
  }
}

TEST_F(RegistryWithModules, DevicesOpenOnFirstUseAndOnce) {
  const auto device = registry.by_name("t_two");
  EXPECT_FALSE(device->is_open());
  EXPECT_FALSE(device->memory().free) << "unknown until opened";
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { EXPECT_NE(device->open(), nullptr); });
  for (std::thread& thread : threads) thread.join();
  const std::string text = notes();
  EXPECT_EQ(text.find("device opened"), text.rfind("device opened"));
}

TEST_F(RegistryWithModules, OptionsAreCheckedAndKept) {
  const auto device = registry.by_name("t_two");
  const Error unknown = error_of([&] { device->open({{"colour", "red"}}); });
  EXPECT_EQ(unknown.code(), FE_INVALID_ARGUMENT);
  EXPECT_STREQ(unknown.what(), "device t_two:0 has no option 'colour'; its options are delay, memory");
  EXPECT_EQ(error_of([&] { device->open({{"delay", "-1"}}); }).code(), FE_INVALID_ARGUMENT);
  EXPECT_FALSE(device->is_open());
  fe_module_device* handle = device->open({{"delay", "5"}});
  EXPECT_EQ(device->open({{"delay", "5"}}), handle);
  EXPECT_EQ(device->open(), handle);
  EXPECT_CONTAINS(std::string(error_of([&] {
                                device->open({{"delay", "6"}});
                              }).what()),
                  "is open with delay=5, and cannot be opened with delay=6");
}

TEST_F(RegistryWithModules, WrongOptionIsAnErrorThatSaysWhereItComesFrom) {
  const auto device = registry.by_name("t_two");
  const auto reason = [&](const DeviceOptions& options) {
    return std::string(error_of([&] { device->open(options); }).what());
  };
  EXPECT_EQ(reason({{"delay", "1s"}}), "device t_two:0: option delay is '1s', and must be an integer");
  EXPECT_EQ(reason({{"delay", "-1"}}), "delay is -1, and must not be negative");
  const Variable memory("FERRULE_T_TWO_MEMORY", "7");
  {
    const Variable word("FERRULE_T_TWO_DELAY", "1s");
    EXPECT_EQ(reason({}), "device t_two:0: FERRULE_T_TWO_DELAY is '1s', and must be an integer");
  }
  {
    const Variable negative("FERRULE_T_TWO_DELAY", "-1");
    EXPECT_EQ(reason({}), "delay is -1, and must not be negative; the environment has FERRULE_T_TWO_DELAY=-1");
  }
  EXPECT_FALSE(device->is_open());
}

TEST_F(RegistryWithModules, OptionsComeFromTheEnvironmentUnlessGiven) {
  const auto device = registry.by_name("t_two");
  {
    const Variable bad("FERRULE_T_TWO_DELAY", "-1");
    EXPECT_EQ(error_of([&] { device->open(); }).code(), FE_INVALID_ARGUMENT);
    EXPECT_NO_THROW(device->open({{"delay", "1"}}));
  }
}

TEST_F(RegistryWithModules, UnloadIsRefusedWithTheListOfLiveObjects) {
  const auto device = registry.by_name("t_two:1");
  {
    const DeviceUse first = device->use("array float32(2, 3)");
    DeviceUse second = device->use("executable of 7 nodes");
    const DeviceUse moved = std::move(second);
    EXPECT_EQ(device->use_count(), 2u);
    const Error error = error_of([&] { registry.unload("t_two"); });
    EXPECT_EQ(error.code(), FE_INVALID_ARGUMENT);
    EXPECT_STREQ(error.what(),
                 "backend t_two cannot be unloaded: on device t_two:1 there still is array float32(2, 3), executable "
                 "of 7 nodes");
    EXPECT_CONTAINS(std::string(error_of([&] { registry.shutdown(); }).what()), "shutdown: backend t_two cannot");
    EXPECT_NO_THROW(registry.by_name("t_two:0")->open()) << "a refusal changes nothing";
  }
  registry.unload("t_two");
  registry.add_static_modules();
  EXPECT_TRUE(noted("closed t_two")) << notes();
}

TEST_F(RegistryWithModules, DeviceHandlesOutliveTheirBackend) {
  const auto device = registry.by_name("t_two");
  device->open();
  registry.unload("t_two");
  EXPECT_EQ(device->name(), "t_two:0");
  EXPECT_EQ(device->properties().name, "test device");
  EXPECT_EQ(error_of([&] { device->open(); }).code(), FE_NOT_FOUND);
  EXPECT_EQ(error_of([&] { static_cast<void>(device->use("array")); }).code(), FE_NOT_FOUND);
  EXPECT_FALSE(device->memory().free);
}

struct Attachment {
  explicit Attachment(Device& owner) : device(owner) { device.open(); }
  ~Attachment() { was_open_at_the_end = device.is_open(); }
  Device& device;
  static inline bool was_open_at_the_end = false;
};

TEST_F(RegistryWithModules, AttachmentsEndBeforeTheirDeviceIsClosed) {
  const auto device = registry.by_name("t_two");
  Attachment& attachment = device->attached<Attachment>();
  EXPECT_EQ(&attachment, &device->attached<Attachment>());
  registry.unload("t_two");
  EXPECT_TRUE(Attachment::was_open_at_the_end);
  EXPECT_TRUE(noted("closed t_two"));
}

TEST_F(RegistryWithModules, AnnouncedDevicesAppear) {
  const auto first = registry.by_name("t_two:0");
  const fe_backend& table = registry.find_backend("t_two")->table();
  reinterpret_cast<void (*)()>(table.get_proc("add_device"))();
  EXPECT_EQ(names(), (std::vector<std::string>{"t_two:0", "t_two:1", "t_two:2"}));
  EXPECT_EQ(registry.by_name("t_two:0"), first);
  registry.refresh();
  EXPECT_EQ(names().size(), 3u);
}

TEST_F(RegistryWithModules, TheFirstCpuIsOneOfTheDevicesThatThereAreNow) {
  const auto first_of = [&](const std::vector<std::shared_ptr<Device>>& devices) -> std::shared_ptr<Device> {
    for (const auto& device : devices)
      if (device->kind() == FE_DEVICE_CPU) return device;
    return nullptr;
  };
  const auto call = [&](const char* name) {
    reinterpret_cast<void (*)()>(registry.find_backend("t_cpu")->table().get_proc(name))();
  };
  const auto before = first_of(registry.cpus());
  EXPECT_EQ(before, first_of(registry.devices()));
  load(put_with_manifest(root(), "t_cpu", {{"preference", 1}}));
  const auto loaded = first_of(registry.cpus());
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->name(), "t_cpu:0");
  EXPECT_EQ(loaded->properties().name, "device a");
  EXPECT_EQ(first_of(registry.cpus()), loaded);
  {
    const Variable preferred("FERRULE_PREFER", "cpu");
    EXPECT_EQ(first_of(registry.cpus()), loaded) << "nothing has listed the devices";
    EXPECT_EQ(registry.by_kind(FE_DEVICE_CPU), before ? before : loaded);
    EXPECT_EQ(first_of(registry.cpus()), before ? before : loaded);
  }
  EXPECT_EQ(registry.by_kind(FE_DEVICE_CPU), loaded);
  call("add_device");
  EXPECT_EQ(first_of(registry.cpus()), loaded);
  call("remove_device");
  EXPECT_EQ(first_of(registry.cpus()), loaded) << "it is listed until somebody refreshes";
  EXPECT_TRUE(registry.refresh());
  const auto moved = first_of(registry.cpus());
  ASSERT_TRUE(moved);
  EXPECT_NE(moved, loaded);
  EXPECT_EQ(moved->properties().name, "device b");
  registry.unload("t_cpu");
  EXPECT_EQ(first_of(registry.cpus()), before);
}

TEST_F(RegistryWithModules, AnAnnouncedCpuIsFoundAtOnce) {
  load(put_with_manifest(root(), "t_cpu", {{"preference", 1}}));
  const auto call = [&](const char* name) {
    reinterpret_cast<void (*)()>(registry.find_backend("t_cpu")->table().get_proc(name))();
  };
  const auto before = registry.cpus().at(0);
  call("remove_device");
  call("add_device");  // the module announces it, and now lists two other devices
  const auto now = registry.cpus().at(0);
  EXPECT_NE(now, before);
  EXPECT_EQ(now->properties().name, "device b");
}

TEST_F(RegistryWithModules, DevicesMayBeListedWhileOtherThreadsLoadAndUnload) {
  const fs::path module = put(root(), "t_plain");
  std::thread changing([&] {
    for (int i = 0; i < 20; ++i) {
      load(module);
      registry.unload("t_plain");
    }
  });
  for (int i = 0; i < 200; ++i) {
    for (const auto& device : registry.devices()) EXPECT_FALSE(device->name().empty());
    EXPECT_EQ(registry.by_name("t_two:1")->index(), 1u);
  }
  changing.join();
}

}  // namespace
}  // namespace ferrule::test
