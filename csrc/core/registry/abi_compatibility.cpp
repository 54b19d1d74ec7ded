#include "core/registry/abi_compatibility.h"

#include <fmt/format.h>

#include <algorithm>

namespace ferrule {
namespace {

// Major 0 promises no compatibility: only equal layouts fit, whatever the minors are.
std::string complaint_before_the_first_major(const module_file::AbiVersion& module,
                                             const module_file::AbiVersion& core) {
  if (module.layout_hash() == core.layout_hash()) return "";
  return fmt::format(
      "it was built against other headers of interface {}.{} (layout hash {:#018x}, ours is {:#018x}); rebuild it",
      module.major, module.minor, module.layout_hash(), core.layout_hash());
}

}  // namespace

std::string abi_complaint(const module_file::AbiVersion& module, const module_file::AbiVersion& core) {
  if (module.major != core.major)
    return fmt::format("it was built for interface {}.{}, this ferrule has {}.{}", module.major, module.minor,
                       core.major, core.minor);
  if (core.major == 0) return complaint_before_the_first_major(module, core);
  const uint32_t common = std::min(module.minor, core.minor);
  const auto of_module = module.layout_hash_of(common), of_core = core.layout_hash_of(common);
  if (!of_module)
    return fmt::format(
        "it was built for interface {}.{} and no longer supports {}.{}, which this ferrule has; update ferrule",
        module.major, module.minor, core.major, common);
  if (!of_core)
    return fmt::format("it was built for interface {}.{}, which this ferrule, {}.{}, no longer supports; rebuild it",
                       module.major, module.minor, core.major, core.minor);
  if (*of_module == *of_core) return "";
  return fmt::format(
      "it was built for interface {}.{} by headers whose {}.{} differs from ours, which has {}.{} (layout hash "
      "{:#018x}, ours is {:#018x}); rebuild it",
      module.major, module.minor, core.major, common, core.major, core.minor, *of_module, *of_core);
}

std::string abi_complaint(const fe_abi* abi, module_file::AbiVersion& version) {
  if (std::string problem = module_file::parse_abi(abi, version); !problem.empty()) return problem;
  return abi_complaint(version);
}

}  // namespace ferrule
