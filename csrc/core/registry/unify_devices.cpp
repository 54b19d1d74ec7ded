// Listing one device twice costs one entry in a list; merging two devices computes on a device that was not asked for.
// So in doubt views are kept apart:
// - A UUID or address that one backend gives to two of its devices is ignored for all backends. So are a UUID of zeros
//   and the address 0000:00:00.0, which is the host bridge's.
// - Views with different UUIDs are different devices, even at one address, like the parts of a partitioned GPU.
// - Views with the same UUID are one device, even at different addresses: a virtual machine has its own addresses.
// - A view without a UUID is identified by its address, unless different devices are known to be there: two UUIDs, or
//   two devices of one backend in the resulting group. Then its device is unknown, and it stays alone.
// - Matches are transitive: views with one UUID are one device with the views at any of their addresses.
// - A simulated device (kinds software and test) that copies the identity of a real device is not that device.
#include "core/registry/unify_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

namespace ferrule {
namespace {

template <class Value>
using Key = std::pair<bool, Value>;  // whether it is simulated, and its UUID or address

// The identifying value of each device, or nullopt. `value_of` gives the value that the backend reported.
template <class Value, class ValueOf>
std::vector<std::optional<Key<Value>>> keys_of(std::span<const DeviceIdentity> devices, ValueOf value_of) {
  std::vector<std::optional<Key<Value>>> keys;
  std::set<std::pair<Key<Value>, std::string_view>> seen;
  std::set<Key<Value>> shared;
  for (const DeviceIdentity& device : devices) {
    auto& key = keys.emplace_back();
    std::optional<Value> value = value_of(device);
    if (!value) continue;
    key.emplace(device.is_simulated, std::move(*value));
    if (!seen.emplace(*key, device.backend).second) shared.insert(*key);
  }
  for (auto& key : keys)
    if (key && shared.contains(*key)) key.reset();
  return keys;
}

std::optional<DeviceUuid> usable_uuid(const DeviceIdentity& device) {
  return device.uuid == DeviceUuid{} ? std::nullopt : device.uuid;
}

using Group = std::vector<std::size_t>;

struct Place {
  std::set<Group*> with_uuid;  // groups that have a view at this address
  Group without_uuid;
  bool is_clear = true;
};

// Ignores addresses that would make a backend see the device twice, were all views at its addresses merged with it:
// which of the backend's two views is the device is unknown.
void find_contradictions(std::span<const DeviceIdentity> devices, const Group& group,
                         const std::vector<Place*>& places) {
  std::map<std::string_view, int> sightings;
  for (const std::size_t view : group) ++sightings[devices[view].backend];
  for (const Place* place : places)
    for (const std::size_t view : place->without_uuid) ++sightings[devices[view].backend];
  for (Place* place : places)
    for (const std::size_t view : place->without_uuid)
      if (sightings[devices[view].backend] > 1) place->is_clear = false;
}

// Reads a hexadecimal number of at most `greatest` and removes it from the text.
std::optional<uint32_t> take_number(std::string_view& text, uint32_t greatest) {
  uint32_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (problem != std::errc() || number > greatest) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, char expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::vector<std::vector<std::size_t>> unify(std::span<const DeviceIdentity> devices) {
  const auto uuids = keys_of<DeviceUuid>(devices, usable_uuid);
  const auto addresses =
      keys_of<std::string>(devices, [](const auto& device) { return normal_pci_address(device.pci_address); });

  std::map<Key<DeviceUuid>, Group> by_uuid;
  std::map<Key<std::string>, Place> places;
  std::map<Group*, std::set<Place*>> places_of;
  std::vector<Group> groups;
  for (std::size_t view = 0; view < devices.size(); ++view) {
    Place* const place = addresses[view] ? &places[*addresses[view]] : nullptr;
    if (uuids[view]) {
      Group& group = by_uuid[*uuids[view]];
      group.push_back(view);
      if (place) place->with_uuid.insert(&group), places_of[&group].insert(place);
    } else if (place) {
      place->without_uuid.push_back(view);
    } else {
      groups.push_back({view});
    }
  }
  for (auto& [key, place] : places) place.is_clear = place.with_uuid.size() <= 1;
  for (const auto& [group, theirs] : places_of) {
    std::vector<Place*> clear;
    std::copy_if(theirs.begin(), theirs.end(), std::back_inserter(clear), [](Place* place) { return place->is_clear; });
    find_contradictions(devices, *group, clear);
  }
  for (auto& [key, place] : places) {
    if (place.is_clear && place.with_uuid.size() == 1)
      (*place.with_uuid.begin())
          ->insert((*place.with_uuid.begin())->end(), place.without_uuid.begin(), place.without_uuid.end());
    else if (place.is_clear && !place.without_uuid.empty())
      groups.push_back(std::move(place.without_uuid));
    else
      for (const std::size_t view : place.without_uuid) groups.push_back({view});
  }
  for (auto& [key, group] : by_uuid) groups.push_back(std::move(group));
  for (Group& group : groups) std::sort(group.begin(), group.end());
  std::sort(groups.begin(), groups.end());
  return groups;
}

std::optional<std::string> normal_pci_address(std::string_view text) {
  // [domain:]bus:device[.function]
  const bool has_domain = std::count(text.begin(), text.end(), ':') == 2;
  std::optional<uint32_t> domain = 0;
  if (has_domain) {
    domain = take_number(text, UINT32_MAX);
    if (!domain || !take(text, ':')) return std::nullopt;
  }
  const auto bus = take_number(text, 0xff);
  if (!bus || !take(text, ':')) return std::nullopt;
  const auto device = take_number(text, 0x1f);
  if (!device) return std::nullopt;
  std::optional<uint32_t> function = 0;
  if (take(text, '.')) function = take_number(text, 7);
  if (!function || !text.empty()) return std::nullopt;
  if (*domain == 0 && *bus == 0 && *device == 0 && *function == 0) return std::nullopt;
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", *domain, *bus, *device, *function);
}

}  // namespace ferrule
