// Host memory that the device copies faults to.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "parameters/common.h"

namespace ferrule::cuda {

// Thread-safe. Exists as long as the copies that it gives out.
class FaultCopies : public std::enable_shared_from_this<FaultCopies> {
 public:
  explicit FaultCopies(int device) : device_(device) {}
  FaultCopies(const FaultCopies&) = delete;
  FaultCopies& operator=(const FaultCopies&) = delete;
  ~FaultCopies();
  // A Fault of kind `none`, which goes back by itself. The device must be the calling thread's current one.
  std::shared_ptr<Fault> take();

 private:
  const int device_;
  std::mutex mutex_;
  size_t count_ = 0;  // of all copies, those that are given out among them
  std::vector<Fault*> free_;
};

}  // namespace ferrule::cuda
