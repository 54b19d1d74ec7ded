#include "metal/simulated/events.h"

#include <algorithm>
#include <string>

#include "metal/objc/faults.h"

namespace simulated {

using objc::method;

bool Event::wait(std::uint64_t value, std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [&] { return value_ >= value; });
}

void Event::signal(std::uint64_t value) {
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

std::uint64_t Event::value() const {
  const std::scoped_lock lock(mutex_);
  return value_;
}

bool SharedEvent::wait_for(std::uint64_t value, std::uint64_t milliseconds) {
  constexpr std::uint64_t most = 1'000'000'000;  // 11 days: longer times overflow the clock
  return wait(value, std::chrono::milliseconds(std::min(milliseconds, most)));
}

Event* checked_event(Object* object, const Device& device, const char* caller) {
  if (object == nullptr) {
    objc::report_fault(std::string(caller) + ": the event must not be nil");
    return nullptr;
  }
  const objc::Known about = objc::known(object);
  if (about.state == objc::Known::State::live && about.isa == &SharedEvent::own_class())
    return static_cast<SharedEvent*>(object);
  auto* const own = objc::checked<Event>(object, caller);
  if (own == nullptr || &own->device() == &device) return own;
  objc::report_fault(std::string(caller) + ": the event is one of another device");
  return nullptr;
}

const objc::Class& Event::own_class() {
  static const auto& one =
      *new objc::Class("MTLEvent", &objc::root_class(), objc::Class::Kind::inner, nullptr,
                       {method<&Event::its_device>("device"), set_label<Event>(), get_label<Event>()});
  return one;
}

const objc::Class& SharedEvent::own_class() {
  static const auto& one = *new objc::Class(
      "MTLSharedEvent", &Event::own_class(), objc::Class::Kind::inner, nullptr,
      {method<&SharedEvent::set_value>("setSignaledValue:"), method<&SharedEvent::get_value>("signaledValue"),
       method<&SharedEvent::wait_for>("waitUntilSignaledValue:timeoutMS:")});
  return one;
}

const objc::Class& Fence::own_class() {
  static const auto& one =
      *new objc::Class("MTLFence", &objc::root_class(), objc::Class::Kind::inner, nullptr,
                       {method<&Fence::its_device>("device"), set_label<Fence>(), get_label<Fence>()});
  return one;
}

}  // namespace simulated
