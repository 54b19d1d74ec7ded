// Releases of lent memory, kept until somebody drains them on a thread that may call the lender.
#pragma once

#include <ferrule/ferrule.h>

#include <cstddef>
#include <memory>

namespace ferrule {

// The last reference queues the release, for which memory is taken here: without it the release is called at once, and
// bad_alloc thrown. A null function lends forever.
std::shared_ptr<void> lender(fe_release_function release, void* argument);
// Runs what is queued; how many.
std::size_t drain_releases();

}  // namespace ferrule
