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
  FaultCopies() = default;
  FaultCopies(const FaultCopies&) = delete;
  FaultCopies& operator=(const FaultCopies&) = delete;
  ~FaultCopies();
  // A Fault of kind `none`, which goes back by itself.
  std::shared_ptr<Fault> take();

 private:
  std::mutex mutex_;
  std::vector<Fault*> free_;
};

}  // namespace ferrule::cuda
