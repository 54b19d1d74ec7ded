#include "core/registry/abi.h"

#include <fmt/format.h>

namespace ferrule {

std::string abi_complaint(uint32_t major, uint32_t minor, uint64_t layout_hash) {
  if (major != FE_ABI_MAJOR)
    return fmt::format("it was built for interface {}.{}, this ferrule has {}.{}", major, minor, FE_ABI_MAJOR,
                       FE_ABI_MINOR);
  // Of two minors the lower one's hash would be compared, once there is a table of them; before 1.0 all are one.
  if (layout_hash != FE_LAYOUT_HASH)
    return fmt::format(
        "it was built against other headers of interface {}.{} (layout hash {:#018x}, ours is {:#018x}); rebuild it",
        major, minor, layout_hash, FE_LAYOUT_HASH);
  return "";
}

std::string abi_complaint(const fe_abi& abi) {
  if (abi.magic != FE_ABI_MAGIC) return "its ferrule_backend_abi does not begin with the magic number";
  if (abi.struct_size < sizeof(fe_abi))
    return fmt::format("its ferrule_backend_abi has {} bytes instead of {}", abi.struct_size, sizeof(fe_abi));
  return abi_complaint(abi.major, abi.minor, abi.layout_hash);
}

}  // namespace ferrule
