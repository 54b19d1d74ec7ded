#include "core/cancel.h"

#include "core/sync/immortal.h"
#include "core/sync/mutexes.h"

#include <atomic>
#include <deque>
#include <mutex>

namespace ferrule {
namespace {

constinit std::atomic<const Cancel*> current{nullptr};

struct Given {
  BriefMutex mutex;
  std::deque<Cancel> all;  // a computation may still ask an earlier one
};

}  // namespace

Cancel Cancel::of_process() noexcept {
  const Cancel* const cancel = current.load(std::memory_order_acquire);
  return cancel != nullptr ? *cancel : Cancel{};
}

void Cancel::set_for_process(const Cancel& cancel) {
  Given& given = Immortal<Given>::get();
  const std::scoped_lock lock(given.mutex);
  current.store(&given.all.emplace_back(cancel), std::memory_order_release);
}

}  // namespace ferrule
