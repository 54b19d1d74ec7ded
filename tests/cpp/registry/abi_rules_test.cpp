// Tests which modules fit which core (docs/develop/abi.md) and that incomplete fe_abi data is rejected.
#include "core/registry/abi_compatibility.h"
#include "module_file/abi_version.h"

#include <gtest/gtest.h>

#include <cstring>

#include "loader_fixture.h"

namespace ferrule::test {
namespace {

using module_file::AbiVersion;
using Hashes = std::vector<uint64_t>;

struct Pair {
  const char* what;
  AbiVersion module, core;
  const char* complaint;  // part of the message; "" = compatible
};

// Without this, test names would contain addresses.
void PrintTo(const Pair& pair, std::ostream* out) { *out << pair.what; }

class AbiRules : public testing::TestWithParam<Pair> {};

TEST_P(AbiRules, Hold) {
  const std::string complaint = abi_complaint(GetParam().module, GetParam().core);
  if (std::string_view(GetParam().complaint).empty())
    EXPECT_EQ(complaint, "");
  else
    EXPECT_CONTAINS(complaint, GetParam().complaint);
}

const Pair pairs[] = {
    {"EqualLayoutsFitBeforeTheFirstMajor", {0, 1, {7}}, {0, 1, {7}}, ""},
    {"TheirMinorsMeanNothingBeforeTheFirstMajor", {0, 3, {7}}, {0, 1, {7}}, ""},
    {"OtherLayoutsDoNot", {0, 1, {8}}, {0, 1, {7}}, "other headers of interface 0.1 (layout hash 0x0000000000000008"},
    {"AnEarlierHashDoesNotHelpBeforeTheFirstMajor", {0, 2, {7, 8}}, {0, 1, {7}}, "other headers of interface 0.2"},
    {"MajorsDiffer", {1, 0, {7}}, {0, 1, {7}}, "built for interface 1.0, this ferrule has 0.1"},
    {"AYoungerMajor", {2, 0, {7}}, {1, 4, {7, 8, 9, 10, 11}}, "built for interface 2.0, this ferrule has 1.4"},
    {"Equal", {1, 1, {7, 8}}, {1, 1, {7, 8}}, ""},
    {"OldModuleInNewCore", {1, 0, {7}}, {1, 1, {7, 8}}, ""},
    {"NewModuleInOldCore", {1, 1, {7, 8}}, {1, 0, {7}}, ""},
    {"FarApart", {1, 1, {7, 8}}, {1, 5, {7, 8, 9, 10, 11, 12}}, ""},
    {"TheLowerMinorIsAnother",
     {1, 0, {6}},
     {1, 1, {7, 8}},
     "built for interface 1.0 by headers whose 1.0 differs from ours"},
    {"TheLowerMinorOfAYoungerModuleIsAnother",
     {1, 1, {6, 8}},
     {1, 0, {7}},
     "headers whose 1.0 differs from ours, which has 1.0"},
    {"TheLastMinorIsAnother", {1, 1, {7, 9}}, {1, 1, {7, 8}}, "headers whose 1.1 differs from ours"},
    {"OnlyTheLowerMinorCounts", {1, 2, {7, 8, 9}}, {1, 1, {6, 8}}, ""},
    {"WindowsOfHashesThatOverlap", {1, 70, {7, 8}}, {1, 69, {6, 7}}, ""},
    {"AModuleThatForgotTheCoresMinor",
     {1, 70, {7, 8}},
     {1, 3, {1, 2, 3, 4}},
     "no longer supports 1.3, which this ferrule has"},
    {"ACoreThatForgotTheModulesMinor",
     {1, 3, {1, 2, 3, 4}},
     {1, 70, {7, 8}},
     "which this ferrule, 1.70, no longer supports"},
};

INSTANTIATE_TEST_SUITE_P(Table, AbiRules, testing::ValuesIn(pairs),
                         [](const testing::TestParamInfo<Pair>& info) { return info.param.what; });

TEST(AbiRulesOfThisCore, CoreAcceptsItsOwnInterface) { EXPECT_EQ(abi_complaint(module_file::own_abi()), ""); }

// ---- fe_abi as data

// The data of a fictitious interface 1.2.
struct Abi {
  uint64_t magic = FE_ABI_MAGIC;
  uint32_t struct_size = 48, major = 1, minor = 2, hash_count = 3;
  uint64_t hashes[3] = {7, 8, 9};
};
static_assert(sizeof(Abi) == 48);

std::string parse(const Abi& abi, AbiVersion& version, std::size_t size = sizeof(Abi)) {
  return module_file::parse_abi(std::as_bytes(std::span(&abi, 1)).first(size), size, version);
}
std::string problem(const Abi& abi, std::size_t size = sizeof(Abi)) {
  AbiVersion version;
  return parse(abi, version, size);
}

TEST(AbiData, LayoutHashesAreReadForEveryMinor) {
  AbiVersion version;
  ASSERT_EQ(parse({}, version), "");
  EXPECT_EQ(version, (AbiVersion{1, 2, {7, 8, 9}}));
  EXPECT_EQ(version.layout_hash(), 9u);
  EXPECT_EQ(version.layout_hash_of(0), 7u);
  EXPECT_EQ(version.layout_hash_of(3), std::nullopt);
  ASSERT_EQ(parse({.hash_count = 1}, version), "");
  EXPECT_EQ(version.layout_hash_of(2), 7u);
  EXPECT_EQ(version.layout_hash_of(1), std::nullopt);
}

TEST(AbiData, FieldsAppendedByALaterMinorAreSkipped) {
  struct {
    Abi abi{.struct_size = 56};
    uint64_t appended = 1;
  } larger;
  AbiVersion version;
  EXPECT_EQ(module_file::parse_abi(std::as_bytes(std::span(&larger, 1)), sizeof larger, version), "");
  EXPECT_EQ(version.layout_hashes, (Hashes{7, 8, 9}));
}

TEST(AbiData, IncompleteDataGivesAnErrorMessage) {
  EXPECT_CONTAINS(problem({.magic = 1}), "does not begin with the magic number");
  EXPECT_CONTAINS(problem({.struct_size = 0}), "has a struct_size of 0, and with 3 layout hashes it takes 48 bytes");
  EXPECT_CONTAINS(problem({.struct_size = 47}), "has a struct_size of 47, and with 3 layout hashes it takes 48 bytes");
  EXPECT_CONTAINS(problem({.struct_size = 49}), "has a struct_size of 49, and the file holds 48 bytes of it");
  EXPECT_CONTAINS(problem({.struct_size = 0xffffffff}), "has a struct_size of 4294967295, and the file holds 48 bytes");
  EXPECT_CONTAINS(problem({.hash_count = 0}), "lists 0 layout hashes, and must list 1 to 64");
  EXPECT_CONTAINS(problem({.minor = 99, .hash_count = 65}), "lists 65 layout hashes, and must list 1 to 64");
  EXPECT_CONTAINS(problem({.minor = 1}), "lists 3 layout hashes, and has only the minors 0 to 1");
  EXPECT_CONTAINS(problem({}, 47), "has a struct_size of 48, and the file holds 47 bytes of it");
  EXPECT_CONTAINS(problem({}, 23), "ends after 23 bytes, and has at least 24");
  EXPECT_CONTAINS(problem({}, 0), "ends after 0 bytes");
}

TEST(AbiData, ReadInProcessStopsAtTheEndOfTheStructAndRefusesMisalignedAddresses) {
  alignas(8) char bytes[sizeof(Abi) + 8] = {};
  const Abi abi;
  std::memcpy(bytes, &abi, sizeof abi);
  AbiVersion version;
  EXPECT_EQ(module_file::parse_abi(reinterpret_cast<const fe_abi*>(bytes), version), "");
  EXPECT_EQ(version.layout_hashes, (Hashes{7, 8, 9}));
  std::memcpy(bytes + 4, &abi, sizeof abi);
  EXPECT_CONTAINS(module_file::parse_abi(reinterpret_cast<const fe_abi*>(bytes + 4), version), "not a multiple of 8");
}

// ---- in a module file

class AbiInAFile : public LoaderTest {
 protected:
  // A module with a changed constant, which is located by its bytes.
  template <class Change>
  LoadRow row_after(Change change) {
    const fs::path module = put(root(), "t_plain");
    std::string bytes = text_of_file(module);
    constexpr fe_abi own = FE_ABI_INITIALIZER;
    const std::size_t at = bytes.find(std::string_view(reinterpret_cast<const char*>(&own), sizeof own));
    EXPECT_NE(at, std::string::npos);
    fe_abi abi = own;
    change(abi);
    std::memcpy(bytes.data() + at, &abi, sizeof abi);
    write_file(module, bytes);
    forget_notes();
    LoadRow found = row(load_from({root()}), "t_plain");
    EXPECT_FALSE(noted("opened t_plain")) << found.reason;
    return found;
  }
};

TEST_F(AbiInAFile, DamagedDataGivesAnErrorMessageAndNoCodeRuns) {
  const LoadRow magic = row_after([](fe_abi& abi) { abi.magic = 1; });
  EXPECT_EQ(magic.state, LoadState::error);
  EXPECT_CONTAINS(magic.reason, "does not begin with the magic number");
  EXPECT_CONTAINS(row_after([](fe_abi& abi) { abi.struct_size = 0; }).reason, "has a struct_size of 0");
  EXPECT_CONTAINS(row_after([](fe_abi& abi) { abi.struct_size = 31; }).reason, "has a struct_size of 31");
  EXPECT_CONTAINS(row_after([](fe_abi& abi) { abi.struct_size = 1u << 31; }).reason, "has a struct_size of 2147483648");
  EXPECT_CONTAINS(row_after([](fe_abi& abi) { abi.hash_count = 0; }).reason, "lists 0 layout hashes");
  EXPECT_CONTAINS(row_after([](fe_abi& abi) { abi.hash_count = 1u << 31; }).reason, "lists 2147483648 layout hashes");
}

TEST_F(AbiInAFile, OtherInterfaceIsIncompatibleAndNoCodeRuns) {
  const LoadRow major = row_after([](fe_abi& abi) { abi.major = 7; });
  EXPECT_EQ(major.state, LoadState::incompatible);
  EXPECT_CONTAINS(major.reason, "built for interface 7.1");
  EXPECT_EQ(row_after([](fe_abi& abi) { abi.layout_hashes[0] ^= 1; }).state, LoadState::incompatible);
}

// ---- a module of an earlier minor

TEST_F(LoaderTest, SlotsPastTheTableOfAnOlderModuleAreAbsent) {
  put(root(), "t_older");
  EXPECT_EQ(row(load_from({root()}), "t_older").state, LoadState::loaded);
  const auto backend = Registry::instance().find_backend("t_older");
  ASSERT_NE(backend, nullptr);
  EXPECT_EQ(backend->table().get_proc, nullptr);
  EXPECT_NE(backend->table().execute, nullptr);
}

}  // namespace
}  // namespace ferrule::test
