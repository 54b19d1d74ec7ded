// From init to close: the lifecycle of a module, and what remains of its objects.
#include "conformance/graph.h"
#include "conformance/process.h"

#include <fstream>
#include <optional>

namespace ferrule::conformance {
namespace {

// Compiles and runs the first node that the device supports, if any.
void compute(const Device& device, const Subject& subject) {
  std::vector<const Sample*> found;
  try {
    found = supported_samples(device, subject);
  } catch (const NotApplicable&) {
    return;  // a new module may not support any op yet
  }
  const auto graph = graph_of(*found.front());
  const Executable executable(device, graph->view());
  Bound bound(device, device.queue(), *graph, executable, subject.seed);
  expect(execute(device, device.queue(), executable, bound.execution()), name_of(*found.front()));
}

void init_twice(const Subject& subject, Report& report, const void*) {
  const Module module(subject.path);
  Backend first(module);
  fe_backend table{};
  table.struct_size = sizeof table;
  report.now("the second init");
  const Outcome second = module.init(table);
  if (!second) {
    expect_error(report, second, "a second init");
    report.now("the first backend after a second init that was refused");
    compute(Device(first, subject.device), subject);
    return;
  }
  if (table.self == first.table().self) return report.problem("a second init gives the first backend once more");
  report.now("closing the first of two backends");
  first.close();
  report.now("the second backend after the first was closed");
  {
    const Backend third(module);
    compute(Device(third, subject.device), subject);
  }
  table.close(table.self);
}

// Whether the system takes a closed library out of memory. musl never does.
#if defined(__linux__) && !defined(__GLIBC__)
constexpr bool closing_unmaps = false;
#else
constexpr bool closing_unmaps = true;
#endif

bool is_mapped(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.size() > path.size() && line.ends_with(path)) return true;
  return false;
}

void close_releases(const Subject& subject, Report& report, const void*) {
  Module module(subject.path);
  {
    Backend backend(module);
    Device device(backend, subject.device);
    compute(device, subject);
    report.now("device_close");
    device.close();
    report.now("a device once more, after one was closed");
    compute(Device(backend, subject.device), subject);
    report.now("close");
    backend.close();
  }
  report.now("dlclose");
  module.close();
  if (const std::string real = real_path(subject.path); closing_unmaps && is_mapped(real))
    report.problem("the file stays in memory after it was closed: something pins it, so that unload is a lie");
}

void enumerates_without_memory(const Subject& subject, Report& report, const void*) {
  constexpr uint64_t most = 32u << 20;
  const uint64_t before = private_bytes();
  const size_t threads = thread_count();
  Module module(subject.path);
  const Backend backend(module);
  const uint32_t count = backend->device_count(backend->self);
  for (uint32_t i = 0; i < count; ++i) {
    fe_device_properties properties{};
    properties.struct_size = sizeof properties;
    const std::string device = "device " + std::to_string(i);
    expect(take(backend->device_properties(backend->self, i, &properties)), "device_properties of " + device);
    if (!properties.name || !*properties.name) report.problem(device + " has no name");
    if (properties.kind >= FE_DEVICE_KIND_COUNT)
      report.problem(device + " is of kind " + std::to_string(properties.kind) + ", which is none");
  }
  fe_device_properties properties{};
  properties.struct_size = sizeof properties;
  expect_error(report, take(backend->device_properties(backend->self, count, &properties)),
               "the properties of device " + std::to_string(count) + " of " + std::to_string(count));
  if (const uint64_t after = private_bytes(); after > before + most)
    report.problem("listing devices took " + std::to_string((after - before) >> 20) + " MiB of host memory; at most " +
                   std::to_string(most >> 20) + " MiB are right before a device is opened");
  if (const size_t now = thread_count(); now > threads) {
    report.problem("listing devices started " + std::to_string(now - threads) + " threads");
    module.stay_mapped();  // unmapping their code would crash and hide the message
  }
}

void options(const Subject& subject, Report& report, const void*) {
  const Module module(subject.path);
  const Backend backend(module);
  const uint32_t count = backend->device_count(backend->self);
  const auto open = [&](uint32_t index, const fe_option* given, uint32_t number) {
    fe_module_device* device = nullptr;
    Outcome outcome = take(backend->device_open(backend->self, index, given, number, &device));
    if (device && outcome) backend->device_close(device);
    if (device && !outcome) report.problem("device_open gave an error and a device");
    return outcome;
  };
  expect_error(report, open(count, nullptr, 0),
               "opening device " + std::to_string(count) + " of " + std::to_string(count));
  if (subject.device >= count) throw NotApplicable{"it shows no device"};
  const fe_option unknown{sizeof(fe_option), "no_such_option", "1"};
  expect_error(report, open(subject.device, &unknown, 1), "an option that the device does not know");
  const fe_option nameless{sizeof(fe_option), nullptr, "1"};
  expect_error(report, open(subject.device, &nameless, 1), "an option without a key");
  const fe_option empty{sizeof(fe_option), "no_such_option", nullptr};
  expect_error(report, open(subject.device, &empty, 1), "an option without a value");
}

}  // namespace

void add_lifecycle_checks(Checks& checks) {
  checks.push_back({"init_twice", "a second init is refused, or gives a backend that outlives the first", init_twice});
  checks.push_back({"close", "what was opened closes, opens again, and leaves the file free to go", close_releases});
  checks.push_back({"enumerates_without_memory", "listing devices opens none", enumerates_without_memory});
  checks.push_back({"options", "device_open refuses what it does not know", options});
}

}  // namespace ferrule::conformance
