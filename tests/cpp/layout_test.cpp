// The binary interface as it lay in memory when it was last looked at: a slot that moves does not compile. A deliberate
// change is `./dev abi` and a commit that shows the difference.
#include <ferrule/layout.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>

#define FE_OFFSET(structure, slot, bytes) static_assert(offsetof(structure, slot) == (bytes), #structure "." #slot);
#define FE_SIZE(structure, bytes) static_assert(sizeof(structure) == (bytes), #structure);
#include "layout_snapshot.inc"

namespace {

TEST(Layout, TheSizeOfAStructIsItsFirstSlot) {
  EXPECT_EQ(offsetof(fe_host, struct_size), 0u);
  EXPECT_EQ(offsetof(fe_backend, struct_size), 0u);
  EXPECT_EQ(offsetof(fe_execution, struct_size), 0u);
  EXPECT_EQ(offsetof(fe_graph_view, struct_size), 0u);
}

TEST(Layout, AbiIsDataWithoutPointersOrPadding) {
  const fe_abi abi = FE_ABI_INITIALIZER;
  EXPECT_EQ(sizeof(abi), 32u);
  EXPECT_EQ(abi.struct_size, sizeof(abi));
  EXPECT_NE(abi.layout_hash, 0u);
}

// What a module built against a header with one slot fewer tells of itself.
TEST(Layout, ASlotPastTheSizeIsAbsent) {
  fe_backend backend{};
  backend.get_proc = [](const char*) -> void* { return nullptr; };
  backend.struct_size = sizeof(backend);
  EXPECT_TRUE(FE_HAS_SLOT(&backend, get_proc));
  backend.struct_size = offsetof(fe_backend, get_proc);
  EXPECT_FALSE(FE_HAS_SLOT(&backend, get_proc));
  EXPECT_FALSE(FE_HAS_SLOT(&backend, close));
}

TEST(Layout, EverySlotIsInTheSnapshot) {
  std::ifstream file(FERRULE_TEST_SOURCE_DIR "/layout_snapshot.inc");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
#define EXPECT_SLOT(result, name, parameters) \
  EXPECT_NE(text.find("FE_OFFSET(" + structure + ", " #name ", "), std::string::npos) << #name;
#define EXPECT_FIELD(type, name) EXPECT_SLOT(type, name, )
  std::string structure = "fe_host";
  FE_HOST_SLOTS(EXPECT_SLOT)
  structure = "fe_backend";
  FE_BACKEND_SLOTS(EXPECT_SLOT)
  structure = "fe_execution";
  FE_EXECUTION_FIELDS(EXPECT_FIELD)
}

}  // namespace
