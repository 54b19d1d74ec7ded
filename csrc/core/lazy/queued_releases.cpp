#include "core/lazy/queued_releases.h"

#include "core/sync/immortal.h"
#include "core/sync/mutexes.h"

#include <mutex>
#include <utility>

namespace ferrule {
namespace {

struct Release {
  fe_release_function function;
  void* argument;
  Release* next = nullptr;
};

// First in, first out. The list links the releases themselves, so that queueing one needs no memory.
class Queue {
 public:
  void push(Release* release) noexcept {
    const std::scoped_lock lock(mutex_);
    *end_ = release;
    end_ = &release->next;
  }
  Release* take_all() noexcept {
    const std::scoped_lock lock(mutex_);
    end_ = &first_;
    return std::exchange(first_, nullptr);
  }

 private:
  BriefMutex mutex_;
  Release* first_ = nullptr;
  Release** end_ = &first_;
};

Queue& queue() { return Immortal<Queue>::get(); }  // owners may outlive every static object

}  // namespace

std::shared_ptr<void> owner_of_borrowed_memory(fe_release_function release, void* argument) {
  if (!release) return nullptr;
  Queue* const releases = &queue();
  std::unique_ptr<Release> queued;
  try {
    queued = std::make_unique<Release>(Release{release, argument});
  } catch (const std::bad_alloc&) {
    release(argument);
    throw;
  }
  return {queued.release(), [releases](Release* last) { releases->push(last); }};
}

std::size_t drain_releases() {
  std::size_t count = 0;
  for (Release* next = queue().take_all(); next; ++count) {
    const std::unique_ptr<Release> release(next);
    next = release->next;
    release->function(release->argument);
  }
  return count;
}

}  // namespace ferrule
