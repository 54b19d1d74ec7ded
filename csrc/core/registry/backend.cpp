#include "core/registry/backend.h"

#include "core/log.h"
#include "core/registry/module_calls.h"
#include "core/sync/fork.h"
#include "core/sync/fork_generation.h"

#include <algorithm>
#include <utility>

namespace ferrule {
namespace {

// Largest accepted number of devices, more than any machine has. A larger count, such as one from uninitialised memory,
// is an error.
constexpr uint32_t max_devices = 4096;

}  // namespace

std::shared_ptr<Backend> Backend::start(ModuleSource source) {
  auto backend = std::make_shared<Backend>(std::move(source));
  backend->initialise();
  try {
    backend->enumerate(false);
  } catch (...) {
    backend->close();
    throw;
  }
  return backend;
}

Backend::Backend(ModuleSource source) : Module(std::move(source)) {}

Backend::~Backend() {
  if (abandoned_in_generation_ == fork_generation()) close_and_unmap();
}

std::vector<DeviceProperties> Backend::read_devices() const {
  const HoldsForks holds_forks;
  std::vector<DeviceProperties> all;
  begin_step("enumerate");
  const uint32_t count = call_module("device_count", [&] { return table().device_count(table().self); });
  if (count > max_devices) fail(FE_INTERNAL, "it reports {} devices; the limit is {}", count, max_devices);
  all.reserve(count);
  for (uint32_t index = 0; index < count; ++index)
    all.push_back(call_module("device_properties", [&] { return read_properties(table(), index); }));
  return all;
}

bool Backend::enumerate(bool renews_lost) {
  const std::scoped_lock changing(changing_);
  if (is_closed() || belongs_to_parent()) return false;
  stale_.store(false, std::memory_order_release);
  const std::vector<DeviceProperties> found = read_devices();
  std::vector<std::shared_ptr<Device>> before, now;
  {
    const std::scoped_lock lock(mutex_);
    before = devices_;
  }
  for (uint32_t index = 0; index < found.size(); ++index) {
    const bool stays = index < before.size() && is_same_device(before[index]->properties(), found[index]) &&
                       !(renews_lost && before[index]->is_lost());
    now.push_back(stays ? before[index] : std::make_shared<Device>(shared_from_this(), *this, index, found[index]));
  }
  // A device that left its index has only moved if the same device appeared at another index.
  std::vector<std::shared_ptr<Device>> retired, come;
  for (std::size_t i = 0; i < std::max(before.size(), now.size()); ++i) {
    if (i < before.size() && i < now.size() && before[i] == now[i]) continue;
    if (i < before.size()) retired.push_back(before[i]);
    if (i < now.size()) come.push_back(now[i]);
  }
  // From here on Backend::close finds the retired devices, even if an exception follows.
  std::vector<std::shared_ptr<Device>> all_retired = retired_;
  std::erase_if(all_retired, [](const auto& device) { return !device->is_open(); });  // closed meanwhile
  all_retired.insert(all_retired.end(), retired.begin(), retired.end());
  {
    const std::scoped_lock lock(mutex_);
    devices_.swap(now);
    retired_.swap(all_retired);
  }
  for (const auto& device : retired) {
    const auto place = std::find_if(come.begin(), come.end(), [&](const auto& other) {
      return is_same_device(device->properties(), other->properties());
    });
    device->retire(place != come.end() ? "" : "its backend no longer lists it");
    if (place != come.end()) come.erase(place);
  }
  return !retired.empty();
}

bool Backend::refresh() {
  announce_devices();
  try {
    return enumerate(true);
  } catch (const Error& error) {
    log_warning("refresh: backend {} cannot describe its devices: {}", name(), error.what());
    return false;
  }
}

std::vector<std::shared_ptr<Device>> Backend::devices() {
  if (stale_.load(std::memory_order_acquire)) {
    try {
      enumerate(false);
    } catch (const Error& error) {
      log_warning("backend {} announced a device and could not describe it: {}", name(), error.what());
    }
  }
  const std::scoped_lock lock(mutex_);
  return devices_;
}

std::vector<std::shared_ptr<Device>> Backend::all_devices() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::shared_ptr<Device>> all = devices_;
  all.insert(all.end(), retired_.begin(), retired_.end());
  return all;
}

bool Backend::belongs_to_parent() const {
  const auto all = all_devices();
  return std::any_of(all.begin(), all.end(), [](const auto& device) { return device->belongs_to_parent(); });
}

void Backend::check_is_ours() const {
  if (is_closed()) fail(FE_NOT_FOUND, "backend {} is no longer loaded", name());
  if (belongs_to_parent())
    fail(FE_UNSUPPORTED,
         "backend {} cannot be unloaded here: a device of it was opened before this process was forked, and is the "
         "parent's",
         name());
}

void Backend::abandon() {
  const std::scoped_lock changing(changing_);
  check_is_ours();
  const std::vector<std::shared_ptr<Device>> devices = all_devices();
  mark_closed();
  abandoned_in_generation_ = fork_generation();
  {
    const std::scoped_lock lock(mutex_);
    devices_.clear();
    retired_.clear();
  }
  for (const auto& device : devices) device->retire("its backend was reloaded by force");
}

void Backend::close() {
  const std::scoped_lock changing(changing_);
  const HoldsForks holds_forks;
  check_is_ours();
  if (holds_ > 0)
    fail_argument("backend {} cannot be unloaded: a handle of it holds a function that it offers by name", name());
  const std::vector<std::shared_ptr<Device>> devices = all_devices();
  std::size_t begun = 0;
  try {
    for (; begun < devices.size(); ++begun) devices[begun]->begin_closing();
  } catch (...) {
    for (std::size_t i = 0; i < begun; ++i) devices[i]->cancel_closing();
    throw;
  }
  mark_closed();
  for (const auto& device : devices) device->finish_closing();
  {
    const std::scoped_lock lock(mutex_);
    devices_.clear();
    retired_.clear();
  }
  close_and_unmap();
}

}  // namespace ferrule
