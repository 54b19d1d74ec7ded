// Checks at compile time that the layout hashes in the headers are those of the headers' text.
#include "sdk/layout/layout_hash.h"
#include "sdk/layout/layout_text.h"

namespace ferrule {
namespace {

constexpr fe_abi own = FE_ABI_INITIALIZER;

constexpr bool are_hashes_right() {
  const auto hashes = layout_hashes<FE_LAYOUT_HASH_COUNT>(layout_text, FE_ABI_MINOR);
  for (std::size_t i = 0; i < hashes.size(); ++i)
    if (own.layout_hashes[i] != hashes[i]) return false;
  return true;
}

static_assert(are_marks_in_order(layout_text, FE_ABI_MINOR),
              "the marks FE_SINCE(n) of a list rise from 1 to the headers' own minor");
static_assert(are_hashes_right(), "the headers changed: run `./dev lint --fix` and look at the difference");
static_assert(own.layout_hashes[FE_LAYOUT_HASH_COUNT - 1] == FE_LAYOUT_HASH);

}  // namespace
}  // namespace ferrule
