#include "core/registry/unify_devices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace ferrule::test {
namespace {

using Groups = std::vector<std::vector<std::size_t>>;

DeviceUuid uuid(uint8_t number) {
  DeviceUuid bytes{};
  bytes.back() = number;
  return bytes;
}

DeviceIdentity with_uuid(std::string backend, uint8_t number, std::string address = "") {
  return {std::move(backend), uuid(number), std::move(address), false};
}
DeviceIdentity at(std::string backend, std::string address) {
  return {std::move(backend), std::nullopt, std::move(address), false};
}

Groups unified(const std::vector<DeviceIdentity>& devices) { return unify(devices); }

TEST(Unify, EqualUuidsAreOneDeviceAtAnyAddress) {
  EXPECT_EQ(unified({with_uuid("a", 1), with_uuid("a", 2), with_uuid("b", 2), with_uuid("b", 1)}),
            (Groups{{0, 3}, {1, 2}}));
  EXPECT_EQ(unified({with_uuid("a", 1, "01:00.0"), with_uuid("b", 1, "05:00.0")}), (Groups{{0, 1}}))
      << "a virtual machine has addresses of its own";
  EXPECT_EQ(unified({with_uuid("a", 1), with_uuid("b", 1), with_uuid("c", 1)}), (Groups{{0, 1, 2}}));
}

TEST(Unify, AddressDecidesOnlyIfOneDeviceHasNoUuid) {
  EXPECT_EQ(unified({with_uuid("a", 1, "0000:01:00.0"), at("b", "01:00.0")}), (Groups{{0, 1}}));
  EXPECT_EQ(unified({at("a", "0000:0A:00.0"), at("b", "00000000:0a:00")}), (Groups{{0, 1}}));
  EXPECT_EQ(unified({with_uuid("a", 1, "01:00.0"), with_uuid("b", 2, "01:00.0")}), (Groups{{0}, {1}}));
  EXPECT_EQ(unified({at("a", "01:00.0"), at("b", "02:00.0"), at("c", "0001:01:00.0")}), (Groups{{0}, {1}, {2}}));
  EXPECT_EQ(unified({with_uuid("a", 1), at("b", "01:00.0")}), (Groups{{0}, {1}})) << "they have nothing in common";
}

TEST(Unify, DevicesWithoutIdentityAreNeverUnified) {
  EXPECT_EQ(unified({}), Groups{});
  EXPECT_EQ(unified({at("a", ""), at("b", "")}), (Groups{{0}, {1}}));
  EXPECT_EQ(unified({with_uuid("a", 0), with_uuid("b", 0)}), (Groups{{0}, {1}}));
  EXPECT_EQ(unified({at("a", "0000:00:00.0"), at("b", "0000:00:00.0")}), (Groups{{0}, {1}}));
  EXPECT_EQ(unified({at("a", "the first slot"), at("b", "the first slot")}), (Groups{{0}, {1}}));
}

TEST(Unify, UuidOfZerosIsIgnoredInFavourOfTheAddress) {
  EXPECT_EQ(unified({with_uuid("a", 0, "01:00.0"), with_uuid("b", 7, "01:00.0")}), (Groups{{0, 1}}));
}

TEST(Unify, IdentitySharedByTwoDevicesOfOneBackendIsIgnored) {
  EXPECT_EQ(unified({with_uuid("a", 1), with_uuid("a", 1), with_uuid("b", 1), with_uuid("c", 1)}),
            (Groups{{0}, {1}, {2}, {3}}));
  EXPECT_EQ(unified({at("a", "01:00.0"), at("a", "1:0.0"), at("b", "01:00.0"), at("c", "01:00.0")}),
            (Groups{{0}, {1}, {2}, {3}}));
  EXPECT_EQ(unified({with_uuid("a", 1, "01:00.0"), with_uuid("a", 1, "02:00.0"), at("b", "02:00.0")}),
            (Groups{{0}, {1, 2}}))
      << "the address is left";
  EXPECT_EQ(unified({with_uuid("a", 1, "01:00.0"), with_uuid("a", 2, "01:00.0"), with_uuid("b", 2)}),
            (Groups{{0}, {1, 2}}))
      << "the UUID is left";
}

TEST(Unify, MatchesAreTransitive) {
  EXPECT_EQ(unified({with_uuid("a", 1), with_uuid("b", 1, "01:00.0"), at("c", "01:00.0")}), (Groups{{0, 1, 2}}));
  EXPECT_EQ(
      unified({at("a", "01:00.0"), with_uuid("b", 1, "01:00.0"), with_uuid("c", 1, "02:00.0"), at("d", "02:00.0")}),
      (Groups{{0, 1, 2, 3}}));
}

TEST(Unify, AddressSharedByDifferentDevicesIsNoIdentity) {
  // It is unknown which of the two parts b sees, and whether c sees the same one.
  EXPECT_EQ(
      unified({with_uuid("a", 1, "01:00.0"), with_uuid("a", 2, "01:00.0"), at("b", "01:00.0"), at("c", "01:00.0")}),
      (Groups{{0}, {1}, {2}, {3}}));
  EXPECT_EQ(unified({with_uuid("a", 1, "01:00.0"), at("b", "01:00.0"), with_uuid("c", 2, "01:00.0")}),
            (Groups{{0}, {1}, {2}}))
      << "one with both would be a bridge between two";
  // Joining through b would make a see one device twice.
  EXPECT_EQ(unified({with_uuid("a", 1), at("a", "01:00.0"), with_uuid("b", 1, "01:00.0"), at("c", "01:00.0")}),
            (Groups{{0, 2}, {1}, {3}}));
  // Joining through a and b would let c match either of its two devices, so it matches neither.
  EXPECT_EQ(
      unified({with_uuid("a", 1, "01:00.0"), with_uuid("b", 1, "02:00.0"), at("c", "01:00.0"), at("c", "02:00.0")}),
      (Groups{{0, 1}, {2}, {3}}));
}

TEST(Unify, SimulatedDeviceIsNotUnifiedWithTheRealOne) {
  DeviceIdentity simulated = with_uuid("b", 1, "01:00.0"), other = with_uuid("c", 1);
  simulated.is_simulated = other.is_simulated = true;
  EXPECT_EQ(unified({with_uuid("a", 1, "01:00.0"), simulated, other}), (Groups{{0}, {1, 2}}));
}

TEST(Unify, AddressesAreNormalised) {
  for (const char* text : {"0000:01:00.0", "01:00.0", "1:0", "00000000:01:00.0", "0:1:0.0", "0000:01:00"})
    EXPECT_EQ(normal_pci_address(text), "0000:01:00.0") << text;
  EXPECT_EQ(normal_pci_address("ABCD:EF:1F.7"), "abcd:ef:1f.7");
  EXPECT_EQ(normal_pci_address("12345:01:00.0"), "12345:01:00.0") << "domains of virtual machines are wider";
  for (const char* text :
       {"",        ":",      "::",   "1",    "1:",  ":1",    "1:0.",    "1:0.8",         "100:0",        "1:20",
        "1:2:3:4", "1:0.0 ", " 1:0", "-1:0", "g:0", "0x1:0", "1:0.0.0", "100000000:1:0", "0000:00:00.0", "0:0"})
    EXPECT_EQ(normal_pci_address(text), std::nullopt) << text;
}

// Random device lists. In a consistent one each device has a unique UUID and address, and a backend reports either,
// both or neither; in an inconsistent one both are drawn from a few values.
struct World {
  std::vector<DeviceIdentity> views;
  std::vector<int> physical;
};

World draw(std::mt19937& random, bool is_honest) {
  const auto below = [&](int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); };
  World world;
  const int devices = 1 + below(5);
  for (const char* backend : {"a", "b", "c", "d"})
    for (int device = 0; device < devices; ++device) {
      if (below(4) == 0) continue;
      const int claimed = is_honest ? device : below(3), place = is_honest ? device : below(3);
      DeviceIdentity view{backend, std::nullopt, "", false};
      if (below(2) == 0) view.uuid = uuid(static_cast<uint8_t>(claimed + 1));
      if (below(3) != 0) view.pci_address = "0" + std::to_string(place + 1) + ":00.0";
      world.views.push_back(view);
      world.physical.push_back(device);
    }
  return world;
}

// The documented rule, in quadratic time.
bool match(const DeviceIdentity& a, const DeviceIdentity& b) {
  if (a.uuid && b.uuid) return a.uuid == b.uuid;
  return !a.pci_address.empty() && a.pci_address == b.pci_address;
}

Groups connected(const std::vector<DeviceIdentity>& views) {
  std::vector<std::size_t> group(views.size());
  std::iota(group.begin(), group.end(), 0);
  for (std::size_t i = 0; i < views.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (match(views[i], views[j])) std::replace(group.begin(), group.end(), group[i], std::size_t{group[j]});
  std::map<std::size_t, std::vector<std::size_t>> by_number;
  for (std::size_t i = 0; i < views.size(); ++i) by_number[group[i]].push_back(i);
  Groups groups;
  for (auto& [number, members] : by_number) groups.push_back(std::move(members));
  std::sort(groups.begin(), groups.end());
  return groups;
}

// Whether the UUID identifies a device: no backend reports it for two of its devices.
bool identifies(const std::vector<DeviceIdentity>& views, const DeviceUuid& value) {
  std::set<std::string> backends;
  return std::all_of(views.begin(), views.end(), [&](const DeviceIdentity& view) {
    return view.uuid != value || backends.insert(view.backend).second;
  });
}

TEST(Unify, ConsistentIdentitiesAreUnifiedExactlyByTheRule) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    const World world = draw(random, true);
    const Groups groups = unify(world.views);
    ASSERT_EQ(groups, connected(world.views)) << "round " << round;
    for (const auto& group : groups)
      for (const std::size_t view : group) ASSERT_EQ(world.physical[view], world.physical[group[0]]) << round;
  }
}

TEST(Unify, EachBackendSeesADeviceAtMostOnceInAnyOrder) {
  std::mt19937 random(2);
  int united = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::vector<DeviceIdentity> views = draw(random, false).views;
    const Groups groups = unify(views);
    std::vector<std::size_t> all;
    for (const auto& group : groups) {
      std::set<std::string> backends;
      std::set<DeviceUuid> uuids;
      united += group.size() > 1;
      for (const std::size_t view : group) {
        all.push_back(view);
        ASSERT_TRUE(backends.insert(views[view].backend).second) << round;
        if (views[view].uuid && identifies(views, *views[view].uuid)) uuids.insert(*views[view].uuid);
      }
      ASSERT_LE(uuids.size(), 1u) << "different UUIDs are different devices; round " << round;
    }
    std::sort(all.begin(), all.end());
    std::vector<std::size_t> each(views.size());
    std::iota(each.begin(), each.end(), 0);
    ASSERT_EQ(all, each) << "each view is in one group";

    std::vector<std::size_t> order = each;
    std::shuffle(order.begin(), order.end(), random);
    std::vector<DeviceIdentity> shuffled;
    shuffled.reserve(order.size());
    for (const std::size_t view : order) shuffled.push_back(views[view]);
    Groups back;
    for (const auto& group : unify(shuffled)) {
      auto& members = back.emplace_back();
      for (const std::size_t view : group) members.push_back(order[view]);
      std::sort(members.begin(), members.end());
    }
    std::sort(back.begin(), back.end());
    ASSERT_EQ(back, groups) << round;
  }
  EXPECT_GT(united, 1000) << "chance must give something to unite";
}

// A quadratic algorithm would exceed the time limit of a test.
TEST(Unify, ManyDevicesAreUnifiedInLinearTime) {
  std::vector<DeviceIdentity> views;
  constexpr std::size_t count = 100'000;
  for (const char* backend : {"a", "b"})
    for (std::size_t i = 0; i < count; ++i) {
      DeviceUuid bytes{1};
      for (std::size_t byte = 0; byte < 4; ++byte) bytes[12 + byte] = static_cast<uint8_t>(i >> (8 * byte));
      views.push_back({backend, bytes, "", false});
    }
  EXPECT_EQ(unify(views).size(), count);
}

}  // namespace
}  // namespace ferrule::test
