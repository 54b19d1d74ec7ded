#include "core/lazy/deferred.h"

#include "core/threads/immortal.h"
#include "core/threads/mutexes.h"

#include <mutex>
#include <vector>

namespace ferrule {
namespace {

struct Release {
  fe_release_function function;
  void* argument;
};

struct Queue {
  BriefMutex mutex;
  std::vector<Release> releases;
};

Queue& queue() { return Immortal<Queue>::get(); }  // lenders may outlive every static object

}  // namespace

std::shared_ptr<void> lender(fe_release_function release, void* argument) {
  if (!release) return nullptr;
  // Something to point at even when the argument is null.
  return {static_cast<void*>(&queue()), [release, argument](void*) {
            const std::scoped_lock lock(queue().mutex);
            queue().releases.push_back({release, argument});
          }};
}

std::size_t drain_releases() {
  std::vector<Release> releases;
  {
    const std::scoped_lock lock(queue().mutex);
    releases.swap(queue().releases);
  }
  for (const Release& release : releases) release.function(release.argument);
  return releases.size();
}

}  // namespace ferrule
