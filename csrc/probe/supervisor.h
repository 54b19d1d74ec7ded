// The process between ferrule and the worker: it sees the worker end, however it ends, and leaves nothing behind.
#pragma once

#include "probe/limits.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace ferrule::probe {

// Has the module tried in a process of its own. The verdict is an object:
//   verdict: "passed", "refused" (it says itself, in order, that it cannot work here: code, reason), "failed" or
//   "timeout" reason: a sentence; code: the fe_code of a refusal notes: sentences; output: what was printed, bounded;
//   devices: [{name, kind, state, reason}]; threads: how many outlive its close; version; milliseconds
// Nothing of it survives: all descendants are ended. When the descriptor `life` (if not negative) is closed at its
// other end, nobody waits for the verdict any more, and everything ends at once.
nlohmann::json supervise(const std::string& module, const Limits& limits, int life);

}  // namespace ferrule::probe
