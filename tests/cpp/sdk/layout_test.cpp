// The form of the binary interface's structs, and the hash of their layout.
#include <ferrule/backend.h>

#include <gtest/gtest.h>

#include <cstddef>

#include "sdk/layout/layout_hash.h"

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
