// Explains from the last load why a requested device is missing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ferrule {

// The outcome of a name in the last load: that of the loaded module, else of the one that got furthest.
struct KnownModule {
  std::string name;
  std::string state;  // as in the load report
  std::string reason;
  std::vector<std::string> device_kinds = {};  // as its manifest lists them; empty when that is unknown
};
using LastLoad = std::optional<std::vector<KnownModule>>;  // nullopt before the first load

// A clause that says why there is no device: "nothing matches FERRULE_ONLY=cpy; found are cpu, vulkan; did you mean
// 'cpu'?"
std::string reason_for_no_device(const LastLoad& load);

// A clause that says why a backend is missing: "cpu is disabled: FERRULE_ONLY does not name it", "did you mean 'cpu'?",
// or "no module named npu was found". "" before the first load.
std::string reason_for_no_backend(const LastLoad& load, std::string_view name);

// A clause that says why each module that may drive devices of a kind drives none: "cuda is incompatible: the NVIDIA
// driver is not installed". "" before the first load.
std::string reason_for_no_kind(const LastLoad& load, std::string_view kind);

// A sentence about the names in FERRULE_DISABLE that neither a module of the last load nor a backend of this project
// has: "FERRULE_DISABLE names cpuu, but no such backend was found; found: cpu; did you mean 'cpu'?" "" if there are
// none.
std::string warning_of_disabled(const LastLoad& load);

}  // namespace ferrule
