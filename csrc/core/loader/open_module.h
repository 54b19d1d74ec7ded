// Step five of a load: opens a module, calls its score and initialises it. From here on the module's code runs.
#pragma once

#include "core/loader/candidate/candidate.h"
#include "core/loader/probe/prober.h"
#include "core/registry/backend.h"

#include <memory>
#include <optional>

namespace ferrule {

// Checks the hash, probes the module if the policy requires it, opens the file and calls its score. On failure refuses
// the candidate and returns nullopt.
std::optional<ModuleSource> open_module(Candidate& candidate, const Prober& prober);

// Initialises an opened module and adds it to the registry. On failure refuses the candidate and returns null.
std::shared_ptr<Backend> start_module(Candidate& candidate, ModuleSource source);

}  // namespace ferrule
