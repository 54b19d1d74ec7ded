// Step five of a load: opens a module, asks its score and initialises it. From here on the module's code runs.
#pragma once

#include "core/loader/candidate/candidate.h"
#include "core/loader/probe/prober.h"
#include "core/registry/backend.h"

#include <memory>
#include <optional>

namespace ferrule {

// Checks the hash, has the module probed where that is wanted, opens the file and asks its score. Nothing, and the
// candidate is refused, when that fails.
std::optional<ModuleSource> open_module(Candidate& candidate, const Prober& prober);

// Initialises an opened module and puts it into the registry. Null, and the candidate is refused, when that fails.
std::shared_ptr<Backend> start_module(Candidate& candidate, ModuleSource source);

}  // namespace ferrule
