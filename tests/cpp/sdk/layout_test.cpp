// The binary interface of the last snapshot: a moved or retyped field fails to compile. A deliberate change is made by
// `./dev abi` and a commit that shows the difference.
#include <ferrule/cache.h>
#include <ferrule/ferrule.h>
#include <ferrule/op_table.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <type_traits>

#include "sdk/layout/layout_hash.h"
#include "sdk/layout/layout_text.h"

#define FE_ABI(major, minor) static_assert(FE_ABI_MAJOR == (major) && FE_ABI_MINOR == (minor));
#define FE_HASH(minor, hash) \
  static_assert(ferrule::layout_hash(ferrule::layout_text, minor) == UINT64_C(hash), "minor " #minor);
#define FE_SIZE(structure, bytes) static_assert(sizeof(structure) == (bytes), #structure);
#define FE_SLOT(structure, slot, bytes, kind) \
  static_assert(offsetof(structure, slot) == (bytes), #structure "." #slot " " kind);
#define FE_VALUE(type, name, value) static_assert(static_cast<int>(name) == (value), #type "." #name);
#define FE_POINTER(name, result, parameters) static_assert(std::is_same_v<name, result(*) parameters>, #name);
#define FE_FUNCTION(name, result, parameters) \
  static_assert(std::is_same_v<decltype(&(name)), result(*) parameters>, #name);
#define FE_OP(name, revision)
#define FE_ATTRIBUTE(op, name, offset, kind, since)
#include <ferrule/abi_snapshot.inc>
#undef FE_OP
#undef FE_ATTRIBUTE

namespace {

TEST(Layout, StructSizeIsTheFirstSlot) {
  EXPECT_EQ(offsetof(fe_host, struct_size), 0u);
  EXPECT_EQ(offsetof(fe_backend, struct_size), 0u);
  EXPECT_EQ(offsetof(fe_execution, struct_size), 0u);
  EXPECT_EQ(offsetof(fe_graph_view, struct_size), 0u);
}

TEST(Layout, AbiStructHasNoPointersAndNoPadding) {
  const fe_abi abi = FE_ABI_INITIALIZER;
  EXPECT_EQ(sizeof(abi), 24u + 8u * FE_LAYOUT_HASH_COUNT);
  EXPECT_EQ(abi.struct_size, sizeof(abi));
  EXPECT_EQ(abi.hash_count, FE_LAYOUT_HASH_COUNT);
  EXPECT_EQ(abi.layout_hashes[FE_LAYOUT_HASH_COUNT - 1], FE_LAYOUT_HASH);
}

// ABI data of a module that was built against a header with one slot fewer.
TEST(Layout, SlotPastStructSizeIsAbsent) {
  fe_backend backend{};
  backend.get_proc = [](const char*) -> void* { return nullptr; };
  backend.struct_size = sizeof(backend);
  EXPECT_TRUE(FE_HAS_SLOT(&backend, get_proc));
  backend.struct_size = offsetof(fe_backend, get_proc);
  EXPECT_FALSE(FE_HAS_SLOT(&backend, get_proc));
  EXPECT_FALSE(FE_HAS_SLOT(&backend, close));
}

TEST(Layout, EverySlotIsInTheSnapshot) {
  std::ifstream file(FERRULE_TEST_SOURCE_DIR "/../../csrc/sdk/ferrule/abi_snapshot.inc");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
#define EXPECT_SLOT(result, name, parameters) \
  EXPECT_NE(text.find("FE_SLOT(" + structure + ", " #name ", "), std::string::npos) << #name;
#define EXPECT_FIELD(type, name) EXPECT_SLOT(type, name, )
  std::string structure = "fe_host";
  FE_HOST_SLOTS(EXPECT_SLOT)
  structure = "fe_backend";
  FE_BACKEND_SLOTS(EXPECT_SLOT)
  structure = "fe_execution";
  FE_EXECUTION_FIELDS(EXPECT_FIELD)
}

// Attributes of an op are data shared by core and kernel, like slots.
TEST(Layout, AttributeOffsetsAndRevisionsMatchTheSnapshot) {
  struct Row {
    const char* op;
    const char* name;
    std::size_t offset;
    uint32_t since;
  };
  const Row rows[] = {
#define FE_ATTRIBUTE(op, name, offset, kind, since) {#op, #name, offset, since},
#define FE_OP(name, revision)
#undef FE_ABI
#undef FE_HASH
#undef FE_SIZE
#undef FE_SLOT
#undef FE_VALUE
#undef FE_POINTER
#undef FE_FUNCTION
#define FE_ABI(major, minor)
#define FE_HASH(minor, hash)
#define FE_SIZE(structure, bytes)
#define FE_SLOT(structure, slot, bytes, kind)
#define FE_VALUE(type, name, value)
#define FE_POINTER(name, result, parameters)
#define FE_FUNCTION(name, result, parameters)
#include <ferrule/abi_snapshot.inc>
  };
  std::size_t index = 0;
  for (const ferrule::sdk::OpInfo& op : ferrule::sdk::op_table)
    for (const ferrule::sdk::AttributeInfo& attribute : op.attributes) {
      ASSERT_LT(index, std::size(rows)) << op.name << "." << attribute.name << " is not in it: run ./dev abi";
      EXPECT_STREQ(op.name, rows[index].op);
      EXPECT_STREQ(attribute.name, rows[index].name);
      EXPECT_EQ(attribute.offset, rows[index].offset) << op.name << "." << attribute.name;
      EXPECT_EQ(attribute.since, rows[index].since) << op.name << "." << attribute.name;
      ++index;
    }
  EXPECT_EQ(index, std::size(rows));
}

// ---- markers of minors in the hashed text

using ferrule::are_marks_in_order;
using ferrule::layout_hash;

TEST(LayoutHash, HashOfAMinorCoversOnlySlotsUpToThatMinor) {
  EXPECT_EQ(layout_hash("a{x;@1;y;}b{z;}", 0), layout_hash("a{x;}b{z;}", 0));
  EXPECT_EQ(layout_hash("a{x;@1;y;}b{z;}", 1), layout_hash("a{x;y;}b{z;}", 0));
  EXPECT_EQ(layout_hash("a{x;@1;y;@12;w;}b{z;@12;v;}", 11), layout_hash("a{x;y;}b{z;}", 0));
  EXPECT_NE(layout_hash("a{x;y;}", 0), layout_hash("a{y;x;}", 0));
  EXPECT_EQ(layout_hash("a{int x;}", 0), layout_hash("a{ int  x; }", 0));
}

TEST(LayoutHash, InsertedAndRemovedSlotsChangeTheHashesOfEarlierMinors) {
  const uint64_t first = layout_hash("a{x;y;}", 0);
  EXPECT_NE(layout_hash("a{x;w;y;}", 0), first);
  EXPECT_NE(layout_hash("a{x;@1;w;y;}", 0), first);
  EXPECT_NE(layout_hash("a{x;}", 0), first);
}

TEST(LayoutHash, MinorMarksIncreaseInEachList) {
  EXPECT_TRUE(are_marks_in_order("a{x;}", 0));
  EXPECT_TRUE(are_marks_in_order("a{x;@1;y;@3;z;}b{v;@1;w;}", 3));
  EXPECT_FALSE(are_marks_in_order("a{x;@2;y;@1;z;}", 3));
  EXPECT_FALSE(are_marks_in_order("a{x;@1;y;@1;z;}", 3));
  EXPECT_FALSE(are_marks_in_order("a{x;@0;y;}", 3));
  EXPECT_FALSE(are_marks_in_order("a{x;@4;y;}", 3)) << "a minor that the headers do not have yet";
}

}  // namespace
