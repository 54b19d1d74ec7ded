// Releases of borrowed memory, queued until drain_releases() runs them on a thread that may call its owner.
#pragma once

#include <ferrule/ferrule.h>

#include <cstddef>
#include <memory>

namespace ferrule {

// The pointer that stands for the owner of borrowed memory; its last reference queues the release. Memory for the queue
// entry is taken here: where there is none, the release is called at once and bad_alloc is thrown. Null for a null
// function: the memory lives forever.
std::shared_ptr<void> owner_of_borrowed_memory(fe_release_function release, void* argument);
// Runs what is queued; how many.
std::size_t drain_releases();

}  // namespace ferrule
