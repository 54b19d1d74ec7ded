#include "core/registry/physical_devices.h"

#include "core/registry/backend.h"
#include "core/registry/device_kind.h"
#include "core/registry/unify_devices.h"
#include "core/sync/immortal.h"
#include "core/sync/mutexes.h"

#include <mutex>
#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace ferrule {
namespace {

DeviceIdentity identity_of(const Device& device) {
  const DeviceProperties& properties = device.properties();
  return {device.backend()->name(), properties.uuid, properties.pci_address,
          device.kind() == FE_DEVICE_SOFTWARE || device.kind() == FE_DEVICE_TEST};
}

// Returns a copy of the text that is never freed: callers may hold a name that has been replaced since. There are few
// such texts: "gpu:0", "gpu:1", ...
const std::string* intern(std::string text) {
  struct Texts {
    BriefMutex mutex;
    std::set<std::string> texts;
  };
  Texts& kept = Immortal<Texts>::get();
  const std::scoped_lock lock(kept.mutex);
  return &*kept.texts.insert(std::move(text)).first;
}

bool has_backend(const Listing& listing, std::string_view name) {
  return std::any_of(listing.views.begin(), listing.views.end(),
                     [&](const auto& view) { return view->backend()->name() == name; });
}

}  // namespace

std::vector<std::shared_ptr<Device>> Listing::preferred() const {
  std::vector<std::shared_ptr<Device>> first;
  first.reserve(devices.size());
  for (const PhysicalDevice& device : devices) first.push_back(device.front());
  return first;
}

std::shared_ptr<Device> Listing::first(fe_device_kind kind) const {
  for (const PhysicalDevice& device : devices)
    if (device.front()->kind() == kind) return device.front();
  return nullptr;
}

std::vector<std::shared_ptr<Device>> Listing::all(fe_device_kind kind) const {
  std::vector<std::shared_ptr<Device>> found;
  for (const PhysicalDevice& device : devices)
    if (device.front()->kind() == kind) found.push_back(device.front());
  return found;
}

PhysicalDevice Listing::device_of(const std::shared_ptr<Device>& view) const {
  for (const PhysicalDevice& device : devices)
    if (std::find(device.begin(), device.end(), view) != device.end()) return device;
  return {view};
}

std::vector<std::shared_ptr<Device>> Listing::matching(const DeviceName& name) const {
  std::vector<std::shared_ptr<Device>> all;
  if (has_backend(*this, name.word)) {
    // The index is the backend's own, for devices of any kind. Without an index, all devices match.
    std::copy_if(views.begin(), views.end(), std::back_inserter(all), [&](const auto& view) {
      return view->backend()->name() == name.word && view->index() == name.index.value_or(view->index());
    });
  } else if (const auto kind = device_kind(name.word)) {
    all = this->all(*kind);
    if (name.index) all = *name.index < all.size() ? PhysicalDevice{all[*name.index]} : PhysicalDevice{};
  }
  return all;
}

Listing list_devices(std::vector<std::shared_ptr<Device>> views, const BackendOrder& order) {
  sort_devices(views, order);
  std::vector<DeviceIdentity> identities;
  identities.reserve(views.size());
  for (const auto& view : views) identities.push_back(identity_of(*view));

  Listing listing;
  std::map<const Device*, PhysicalDevice> by_preferred;
  std::vector<std::shared_ptr<Device>> preferred;
  for (const std::vector<std::size_t>& group : unify(identities)) {
    PhysicalDevice device;
    device.reserve(group.size());
    for (const std::size_t view : group) device.push_back(views[view]);
    // sort_devices would order by kind, but the backends may report different kinds; the preferred one decides.
    std::sort(device.begin(), device.end(),
              [&](const auto& a, const auto& b) { return order.place(*a) < order.place(*b); });
    preferred.push_back(device.front());
    by_preferred.emplace(device.front().get(), std::move(device));
  }
  sort_devices(preferred, order);
  for (const auto& first : preferred) listing.devices.push_back(std::move(by_preferred.at(first.get())));
  listing.views = std::move(views);
  return listing;
}

uint64_t DeviceNames::begin() {
  const std::scoped_lock lock(mutex_);
  return ++last_begun_;
}

void DeviceNames::assign(uint64_t begun, const Listing& listing) {
  std::map<const Device*, const std::string*> names;
  std::map<fe_device_kind, std::size_t> counts;
  for (const PhysicalDevice& device : listing.devices) {
    const Device& first = *device.front();
    const std::size_t number = counts[first.kind()]++;
    // When a backend has the name of a kind, the word means that backend's devices.
    if (device.size() > 1 && !has_backend(listing, name_of(first.kind())))
      names[&first] = intern(fmt::format("{}:{}", name_of(first.kind()), number));
  }
  std::vector<std::shared_ptr<Device>> former;  // released after the lock
  const std::scoped_lock lock(mutex_);
  if (begun < last_assigned_) return;
  last_assigned_ = begun;
  // Includes devices that are no longer listed.
  for (const auto& renamed : renamed_)
    if (auto device = renamed.lock()) former.push_back(std::move(device));
  for (const auto& device : former)
    if (!names.contains(device.get())) device->listed_name_.store(&device->name_, std::memory_order_release);
  renamed_.clear();
  for (const PhysicalDevice& device : listing.devices) {
    const auto name = names.find(device.front().get());
    if (name == names.end()) continue;
    device.front()->listed_name_.store(name->second, std::memory_order_release);
    renamed_.push_back(device.front());
  }
}

}  // namespace ferrule
