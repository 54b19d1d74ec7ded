// Releases of borrowed memory, queued until drain_releases() runs them on a thread that may call the owner.
#pragma once

#include <ferrule/ferrule.h>

#include <cstddef>
#include <memory>

namespace ferrule {

// A reference to the owner of borrowed memory; the last one queues the release. The queue entry is allocated here: if
// that fails, the release is called at once and bad_alloc is thrown. Null for a null function: the memory lives
// forever.
std::shared_ptr<void> owner_of_borrowed_memory(fe_release_function release, void* argument);
// Runs the queued releases; returns their number.
std::size_t drain_releases();

}  // namespace ferrule
