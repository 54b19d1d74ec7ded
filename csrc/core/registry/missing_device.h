// Why a device that is asked for is not there, as far as the last load knows.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ferrule {

// A module of each name that the last load found: the loaded one, else the one that came furthest.
struct KnownModule {
  std::string name;
  std::string state;  // in the word of the load report
  std::string reason;
};
using LastLoad = std::optional<std::vector<KnownModule>>;  // nothing while nothing was looked for

// Why there is no device at all, as a clause: "nothing matches FERRULE_ONLY=cpy; found are cpu, vulkan; did you mean
// 'cpu'?"
std::string reason_for_no_device(const LastLoad& load);

// Why the backend of a name is not there: "cpu is disabled: FERRULE_ONLY does not name it", or
// "did you mean 'cpu'?". "" when nothing is known.
std::string reason_for_no_backend(const LastLoad& load, std::string_view name);

}  // namespace ferrule
