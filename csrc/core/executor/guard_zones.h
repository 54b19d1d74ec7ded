// Guard zones: known bytes before and after all memory that a module may write in a run, checked afterwards.
#pragma once

#include "core/executor/executable.h"

#include <string>
#include <vector>

namespace ferrule {

class GuardZones {
 public:
  struct Memory {
    std::shared_ptr<Storage> storage;
    uint64_t offset = 0;  // in bytes, a multiple of every alignment that allocations guarantee
  };
  // Memory of `size` bytes between two zones, aligned to `unit` bytes. All of it is filled, so that results that were
  // not written are noticed as well.
  Memory allocate(const std::shared_ptr<Device>& device, uint64_t size, std::string what, uint64_t unit = 1);
  // Throws Error(internal) that names the memory and the byte that was overwritten.
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
