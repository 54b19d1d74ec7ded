// Guard zones: known bytes before and after all that a module may write in a run, and a look at them afterwards.
#pragma once

#include "core/executor/executable.h"

#include <string>
#include <vector>

namespace ferrule {

class GuardZones {
 public:
  struct Memory {
    std::shared_ptr<Storage> storage;
    uint64_t offset = 0;  // bytes, a multiple of every alignment that an allocation promises
  };
  // Memory for `size` bytes between two zones, at a multiple of `unit` bytes. All of it is filled, so that a result
  // which was not written shows, too.
  Memory allocate(const std::shared_ptr<Device>& device, uint64_t size, std::string what, uint64_t unit = 1);
  // Throws Error(internal) that names what was overrun, and where.
  void check() const;

 private:
  struct Zone {
    Memory memory;
    uint64_t size;
    std::string what;
  };
  std::vector<Zone> zones_;
};

}  // namespace ferrule
