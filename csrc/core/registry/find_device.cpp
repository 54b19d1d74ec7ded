// The registry's searches for devices.
#include "core/environment.h"
#include "core/registry/device_kind.h"
#include "core/registry/registry.h"
#include "core/warn_once.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

namespace ferrule {
namespace {

std::vector<std::string> names_of(const PhysicalDevice& device) {
  std::vector<std::string> names;
  names.reserve(device.size());
  for (const auto& view : device) names.push_back(view->backend()->name());
  return names;
}

}  // namespace

Listing Registry::listing() const {
  const uint64_t begun = names_.begin();
  const uint64_t changes = [&] {
    const std::scoped_lock lock(mutex_);
    return device_changes_;
  }();
  const std::vector<std::shared_ptr<Backend>> snapshot = open_backends();
  // devices() may call the module, so it is not called under the lock.
  std::vector<std::shared_ptr<Device>> views;
  for (const auto& backend : snapshot)
    for (auto& view : backend->devices()) views.push_back(std::move(view));
  Listing listing = list_devices(std::move(views), BackendOrder::from_environment());
  names_.assign(begun, listing);
  const std::vector<std::shared_ptr<Device>> cpus = listing.all(FE_DEVICE_CPU);
  const std::scoped_lock lock(mutex_);
  if (cpus_.changes <= changes) cpus_ = {changes, {cpus.begin(), cpus.end()}};
  return listing;
}

std::string Registry::what_there_is(const Listing& listing) const {
  std::vector<std::string> names;
  names.reserve(listing.devices.size());
  for (const PhysicalDevice& device : listing.devices) {
    const std::string seen_by = device.size() > 1 ? fmt::format(" (seen by {})", joined(names_of(device))) : "";
    names.push_back(device.front()->name() + seen_by);
  }
  return names.empty() ? "there is no device at all: " + reason_for_no_device(last_load())
                       : "there is " + joined(names);
}

std::vector<std::shared_ptr<Device>> Registry::devices() const { return listing().preferred(); }

void Registry::warn_of_unknown_names() const {
  if (const std::string warning = warning_of_disabled(last_load()); !warning.empty()) warn_once(warning);
  std::vector<std::string> unknown, loaded;
  const BackendOrder order = BackendOrder::from_environment();
  for (const std::string& name : order.preferred())
    if (!find_backend(name)) unknown.push_back(name);
  if (unknown.empty()) return;
  for (const auto& backend : backends()) loaded.push_back(backend->name());
  warn_once(fmt::format("FERRULE_PREFER names {}, but no such backend is loaded; loaded: {}", joined(unknown),
                        loaded.empty() ? "none" : joined(loaded)));
}

std::shared_ptr<Device> Registry::by_name(std::string_view name) const {
  const Listing all = listing();
  const DeviceName wanted = parse_device_name(name);
  const std::vector<std::shared_ptr<Device>> matching = all.matching(wanted);
  if (!matching.empty()) return matching.front();
  std::string reason;
  if (!all.devices.empty() && !find_backend(wanted.word)) {
    const auto kind = device_kind(wanted.word);
    if (!kind)
      reason = reason_for_no_backend(last_load(), wanted.word);
    else if (!all.first(*kind))
      reason = reason_for_no_kind(last_load(), name_of(*kind));
  }
  fail(FE_NOT_FOUND, "there is no device '{}'; {}{}{}", name, what_there_is(all), reason.empty() ? "" : "; ", reason);
}

std::shared_ptr<Device> Registry::view(const std::shared_ptr<Device>& device, std::string_view backend) const {
  const std::string wanted = lower_case(backend);
  const PhysicalDevice views = listing().device_of(device);
  for (const auto& view : views)
    if (view->backend()->name() == wanted) return view;
  fail(FE_NOT_FOUND, "device {} is not seen by backend '{}'{}; it is seen by {}", device->name(), backend,
       find_backend(wanted) ? "" : ", which is not loaded", joined(names_of(views)));
}

std::vector<std::shared_ptr<Backend>> Registry::backends_of(const std::shared_ptr<Device>& device) const {
  std::vector<std::shared_ptr<Backend>> backends;
  for (const auto& view : listing().device_of(device)) backends.push_back(view->backend());
  return backends;
}

std::shared_ptr<Device> Registry::by_kind(fe_device_kind kind) const {
  const Listing all = listing();
  if (std::shared_ptr<Device> device = all.first(kind)) return device;
  const std::string reason = all.devices.empty() ? "" : reason_for_no_kind(last_load(), name_of(kind));
  fail(FE_NOT_FOUND, "there is no device of the kind {}; {}{}{}", name_of(kind), what_there_is(all),
       reason.empty() ? "" : "; ", reason);
}

std::shared_ptr<Device> Registry::best() const {
  const Listing all = listing();
  for (const fe_device_kind kind : {FE_DEVICE_GPU, FE_DEVICE_INTEGRATED_GPU, FE_DEVICE_CPU})
    if (std::shared_ptr<Device> device = all.first(kind)) return device;
  std::string more;
  if (!all.devices.empty()) {
    // Test devices compute nothing, and software devices are slower than the CPU.
    more = ", which is used if it is named";
    for (const char* variable : {"FERRULE_DISABLE", "FERRULE_ONLY"})
      if (const auto names = environment(variable)) more += fmt::format("; {} is '{}'", variable, *names);
  }
  fail(FE_NOT_FOUND, "there is no device of the kinds gpu, integrated_gpu, cpu; {}{}", what_there_is(all), more);
}

}  // namespace ferrule
