// MTLEvent, MTLSharedEvent and MTLFence.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "metal/simulated/device.h"
#include "metal/simulated/labelled.h"

namespace simulated {

class Event : public Object {
 public:
  static const objc::Class& own_class();
  explicit Event(Device& device) : Event(device, own_class()) {}
  Device& device() const { return *device_; }

  // False if the value was not reached in time.
  bool wait(std::uint64_t value, std::chrono::milliseconds limit);
  // A value that is less than the last one is a fault.
  void signal(std::uint64_t value);

 protected:
  Event(Device& device, const objc::Class& isa) : Object(isa), device_(&device) {}
  std::uint64_t value() const;
  Object* its_device() const { return device_.get(); }

 private:
  const Owned<Device> device_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t value_ = 0;

 public:
  Label label;
};

class SharedEvent : public Event {
 public:
  static const objc::Class& own_class();
  explicit SharedEvent(Device& device) : Event(device, own_class()) {}

 private:
  void set_value(std::uint64_t value) { signal(value); }
  std::uint64_t get_value() const { return value(); }
  bool wait_for(std::uint64_t value, std::uint64_t milliseconds);
};

class Fence : public Object {
 public:
  static const objc::Class& own_class();
  explicit Fence(Device& device) : Object(own_class()), device_(&device) {}
  Device& device() const { return *device_; }

 private:
  Object* its_device() const { return device_.get(); }
  const Owned<Device> device_;

 public:
  Label label;
};

// The event, if it is a shared one, or one of this device; else a fault that names the caller, and null.
Event* checked_event(Object* object, const Device& device, const char* caller);

}  // namespace simulated
