// MTLSharedEvent.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "metal/objc/object.h"

namespace simulated {

class SharedEvent : public objc::Object {
 public:
  static const objc::Class& own_class();
  SharedEvent() : Object(own_class()) {}
  // False if the value was not reached in time.
  bool wait(std::uint64_t value, std::chrono::milliseconds limit);
  // A value that is less than the last one is a fault.
  void signal(std::uint64_t value);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t value_ = 0;
};

}  // namespace simulated
