#include "core/environment.h"
#include "core/log.h"
#include "loader_fixture.h"

#include <algorithm>
#include <thread>

extern "C" const fe_static_module ferrule_module_null;

namespace ferrule::test {
namespace {

// t_seen_a and t_seen_b list the same two GPUs in different orders; t_seen_c lists the second one, by address only.
class UnifiedDevices : public LoaderTest {
 protected:
  Registry& registry = Registry::instance();

  static bool is_ours(const Device& device) { return device.backend()->name().starts_with("t_"); }
  // "gpu:0=t_seen_a:0" for each listed device of the test modules.
  std::vector<std::string> listed() const {
    std::vector<std::string> texts;
    for (const auto& device : registry.devices())
      if (is_ours(*device)) texts.push_back(device->name() + "=" + device->view_name());
    return texts;
  }
  std::vector<std::string> views() const {
    std::vector<std::string> names;
    for (const auto& view : registry.listing().views)
      if (is_ours(*view)) names.push_back(view->view_name());
    return names;
  }
  std::vector<std::string> seen_by(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& backend : registry.backends_of(registry.by_name(name))) names.push_back(backend->name());
    return names;
  }
  using Texts = std::vector<std::string>;
};

TEST_F(UnifiedDevices, DeviceOfSeveralBackendsIsListedOnce) {
  for (const char* stem : {"t_seen_a", "t_seen_b", "t_seen_c"}) load(put(root(), stem));
  EXPECT_EQ(listed(), (Texts{"gpu:0=t_seen_a:0", "gpu:1=t_seen_a:1"}));
  EXPECT_EQ(views(), (Texts{"t_seen_a:0", "t_seen_a:1", "t_seen_b:0", "t_seen_b:1", "t_seen_c:0"}));
  EXPECT_EQ(seen_by("gpu:0"), (Texts{"t_seen_a", "t_seen_b"}));
  EXPECT_EQ(seen_by("gpu:1"), (Texts{"t_seen_a", "t_seen_b", "t_seen_c"}));
  EXPECT_EQ(seen_by("t_seen_c"), (Texts{"t_seen_a", "t_seen_b", "t_seen_c"})) << "asked of any view";
}

TEST_F(UnifiedDevices, TheOrderOfLoadingDoesNotMatter) {
  Texts stems = {"t_other_gpu", "t_seen_a", "t_seen_b", "t_seen_c"};
  const Texts expected = {"t_other_gpu:0=t_other_gpu:0", "gpu:1=t_seen_a:0", "gpu:2=t_seen_a:1"};
  do {
    for (const std::string& stem : stems) load(put(root(), stem));
    EXPECT_EQ(listed(), expected) << "loaded from " << stems.front() << " to " << stems.back();
    for (const std::string& stem : stems) registry.unload(stem);
  } while (std::next_permutation(stems.begin(), stems.end()));
}

TEST_F(UnifiedDevices, EveryListedNameFindsItsDevice) {
  for (const char* stem : {"t_seen_b", "t_seen_c", "t_mixed", "t_gpu", "t_two"}) load(put(root(), stem));
  for (const auto& device : registry.devices()) EXPECT_EQ(registry.by_name(device->name()), device) << device->name();
  for (const auto& view : registry.listing().views) EXPECT_EQ(registry.by_name(view->view_name()), view);
}

TEST_F(UnifiedDevices, NumberedNameFollowsTheBackendAndBareNameIsTheBestDevice) {
  load(put(root(), "t_mixed"));
  EXPECT_EQ(registry.by_name("t_mixed:0")->kind(), FE_DEVICE_SOFTWARE);
  EXPECT_EQ(registry.by_name("t_mixed:1")->kind(), FE_DEVICE_GPU);
  EXPECT_EQ(registry.by_name("t_mixed")->view_name(), "t_mixed:1");
}

TEST_F(UnifiedDevices, UserPreferencePrecedesManifestPreferenceWhichPrecedesName) {
  load(put_with_manifest(root(), "t_seen_a", {{"preference", 1}}));
  load(put_with_manifest(root(), "t_seen_b", {{"preference", 2}}));
  load(put(root(), "t_seen_c"));
  load(put(root(), "t_other_gpu"));
  EXPECT_EQ(listed(), (Texts{"gpu:0=t_seen_b:0", "gpu:1=t_seen_b:1", "t_other_gpu:0=t_other_gpu:0"}));
  {
    const Variable prefer("FERRULE_PREFER", "T_Seen_C, t_seen_a");
    EXPECT_EQ(listed(), (Texts{"gpu:0=t_seen_c:0", "gpu:1=t_seen_a:0", "t_other_gpu:0=t_other_gpu:0"}));
    EXPECT_EQ(seen_by("gpu:0"), (Texts{"t_seen_c", "t_seen_a", "t_seen_b"}));
    EXPECT_EQ(registry.best()->view_name(), "t_seen_c:0");
    EXPECT_EQ(registry.by_kind(FE_DEVICE_GPU)->view_name(), "t_seen_c:0");
  }
  const Variable prefer("FERRULE_PREFER", "t_other_gpu");
  EXPECT_EQ(listed(), (Texts{"t_other_gpu:0=t_other_gpu:0", "gpu:1=t_seen_b:0", "gpu:2=t_seen_b:1"}))
      << "it orders devices, too";
  EXPECT_EQ(registry.backends().front()->name(), "t_other_gpu");
}

TEST_F(UnifiedDevices, NamesDependOnLoadedBackendsAndIdentityDoesNot) {
  load(put(root(), "t_seen_b"));
  const auto device = registry.by_name("t_seen_b:1");
  const uint64_t id = device->id();
  EXPECT_EQ(device->name(), "t_seen_b:1");
  const std::string& before = device->name();

  load(put(root(), "t_seen_a"));
  EXPECT_EQ(device->name(), "t_seen_b:1") << "not preferred: it keeps its name";
  const auto preferred = registry.by_name("gpu:0");
  EXPECT_EQ(preferred->view_name(), "t_seen_a:0");
  EXPECT_NE(preferred->id(), id);
  const std::string& while_both = preferred->name();
  EXPECT_EQ(while_both, "gpu:0");

  registry.unload("t_seen_b");
  EXPECT_EQ(preferred->name(), "t_seen_a:0") << "one backend: its own name again";
  EXPECT_EQ(while_both, "gpu:0") << "what was returned stays valid";
  EXPECT_EQ(before, "t_seen_b:1");
  EXPECT_EQ(device->id(), id);
  EXPECT_EQ(registry.backends_of(device).size(), 1u) << "an unloaded one is seen by its own backend only";

  load(put(root(), "t_seen_b"));
  EXPECT_NE(registry.by_name("t_seen_b:1")->id(), id) << "another life, another device";
}

TEST_F(UnifiedDevices, UnloadingThePreferredViewFreesItsName) {
  load(put(root(), "t_seen_a"));
  load(put(root(), "t_seen_b"));
  const auto former = registry.by_name("gpu:0");
  registry.unload("t_seen_a");
  EXPECT_EQ(former->name(), "t_seen_a:0");
  EXPECT_EQ(listed(), (Texts{"t_seen_b:0=t_seen_b:0", "t_seen_b:1=t_seen_b:1"}));
}

TEST_F(UnifiedDevices, ViewOfAnotherBackendIsTheSameDevice) {
  for (const char* stem : {"t_seen_a", "t_seen_b", "t_seen_c", "t_other_gpu"}) load(put(root(), stem));
  const auto view = [&](const char* name, const char* backend) {
    return registry.view(registry.by_name(name), backend)->view_name();
  };
  EXPECT_EQ(view("gpu:1", "t_seen_b"), "t_seen_b:1");
  EXPECT_EQ(view("gpu:2", "T_SEEN_B"), "t_seen_b:0");
  EXPECT_EQ(view("t_seen_b:0", "t_seen_c"), "t_seen_c:0");
  EXPECT_EQ(view("gpu:1", "t_seen_a"), "t_seen_a:0");
  const Error not_seen = error_of([&] { view("gpu:1", "t_seen_c"); });
  EXPECT_EQ(not_seen.code(), FE_NOT_FOUND);
  EXPECT_STREQ(not_seen.what(), "device gpu:1 is not seen by backend 't_seen_c'; it is seen by t_seen_a, t_seen_b");
  EXPECT_STREQ(
      error_of([&] { view("t_other_gpu", "t_absent"); }).what(),
      "device t_other_gpu:0 is not seen by backend 't_absent', which is not loaded; it is seen by t_other_gpu");
  EXPECT_CONTAINS(std::string(error_of([&] { registry.by_name("gpu:9"); }).what()),
                  "gpu:1 (seen by t_seen_a, t_seen_b), gpu:2 (seen by t_seen_a, t_seen_b, t_seen_c)");
}

std::vector<std::string>& warnings() {
  static std::vector<std::string> lines;
  return lines;
}

TEST_F(UnifiedDevices, UnknownPreferencesGiveOneWarning) {
  load(put(root(), "t_plain"));
  const Variable prefer("FERRULE_PREFER", "t_cudda,t_plain,t_vulcan");
  warnings().clear();
  set_log_callback([](void*, fe_log_level, const char* message) { warnings().emplace_back(message); }, nullptr);
  registry.warn_of_unknown_names();
  registry.warn_of_unknown_names();
  set_log_callback(nullptr, nullptr);
  ASSERT_EQ(warnings().size(), 1u);
  EXPECT_CONTAINS(warnings()[0], "FERRULE_PREFER names t_cudda, t_vulcan, but no such backend is loaded; loaded: ");
  EXPECT_CONTAINS(warnings()[0], "t_plain");
}

TEST_F(UnifiedDevices, StaticModuleHasAPreference) {
  if (registry.find_backend("null")) registry.unload("null");
  fe_static_module module = ferrule_module_null;
  module.preference = 7;
  EXPECT_EQ(registry.add(&module)->preference(), 7);
  registry.unload("null");
  module.struct_size = offsetof(fe_static_module, preference);
  EXPECT_EQ(registry.add(&module)->preference(), 0) << "it was compiled before there was one";
  registry.unload("null");
  registry.add_static_modules();
}

TEST_F(UnifiedDevices, NamesMayBeReadWhileBackendsAreLoadedAndUnloaded) {
  load(put(root(), "t_seen_a"));
  const fs::path other = put(root(), "t_seen_b");
  const auto device = registry.by_name("t_seen_a:0");
  std::thread changing([&] {
    for (int i = 0; i < 50; ++i) {
      load(other);
      registry.unload("t_seen_b");
    }
  });
  for (int i = 0; i < 500; ++i) {
    const std::string name = device->name();
    EXPECT_TRUE(name == "t_seen_a:0" || name.starts_with("gpu:")) << name;
    EXPECT_EQ(registry.by_name("t_seen_a:0"), device);
  }
  changing.join();
  EXPECT_EQ(device->name(), "t_seen_a:0");
}

}  // namespace
}  // namespace ferrule::test
