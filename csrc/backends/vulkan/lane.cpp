#include "lane.h"

#include <algorithm>

namespace ferrule::vulkan {
namespace {

template <class Condition>
uint64_t last_with(const std::list<Submission>& pending, const Condition& condition) {
  const auto found = std::find_if(pending.rbegin(), pending.rend(), condition);
  return found != pending.rend() ? found->value : 0;
}

}  // namespace

Semaphore::Semaphore(const Context& context) : context_(context) {
  auto kind = typed<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
  kind.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  auto info = typed<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
  info.pNext = &kind;
  check(context_.api().CreateSemaphore(context_.device(), &info, nullptr, &handle_), "vkCreateSemaphore");
}

Semaphore::~Semaphore() { context_.api().DestroySemaphore(context_.device(), handle_, nullptr); }

uint64_t Lane::last_use(const Touched& touched) const {
  return last_with(pending, [&](const Submission& submission) { return submission.touched.meets(touched); });
}

uint64_t Lane::last_use_or_wait(const Touched& touched) const {
  return last_with(pending, [&](const Submission& submission) {
    return !submission.awaited.empty() || submission.touched.meets(touched);
  });
}

void Lane::await(const Awaited& other) {
  const auto found = std::find_if(awaited.begin(), awaited.end(),
                                  [&](const Awaited& known) { return known.semaphore == other.semaphore; });
  if (found == awaited.end())
    awaited.push_back(other);
  else
    found->value = std::max(found->value, other.value);
}

}  // namespace ferrule::vulkan
