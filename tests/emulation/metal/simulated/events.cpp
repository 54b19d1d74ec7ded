#include "metal/simulated/events.h"

#include <string>

#include "metal/objc/faults.h"

namespace simulated {

bool SharedEvent::wait(std::uint64_t value, std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [&] { return value_ >= value; });
}

void SharedEvent::signal(std::uint64_t value) {
  std::uint64_t before = 0;
  {
    const std::scoped_lock lock(mutex_);
    before = value_;
    if (value >= before) value_ = value;
  }
  if (value < before)
    objc::report_fault(isa->name() + ": the value " + std::to_string(value) + " is signaled after " +
                       std::to_string(before) + ", values must increase");
  changed_.notify_all();
}

const objc::Class& SharedEvent::own_class() {
  static const auto& one = *new objc::Class("MTLSharedEvent", &objc::root_class(), objc::Class::Kind::inner, nullptr,
                                            {objc::method<&SharedEvent::signal>("setSignaledValue:")});
  return one;
}

}  // namespace simulated
