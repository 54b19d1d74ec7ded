// The native code of pipelines, kept on disk for the next process: an MTLBinaryArchive, as an entry of ferrule's cache
// (ferrule/cache.h).
#pragma once

#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "device/physical_device.h"

namespace ferrule::metal {

// Without a usable archive, pipelines are compiled as if there were none. Thread-safe.
class BinaryArchive {
 public:
  // The host keeps entries of at most 63 MiB.
  static constexpr uint64_t default_max_bytes = uint64_t{60} << 20;

  // Metal only adds to an archive: when it exceeds `max_bytes`, a new one begins. With 0 there is no archive.
  explicit BinaryArchive(const PhysicalDevice& device, uint64_t max_bytes = default_max_bytes)
      : device_(device), max_bytes_(max_bytes) {}
  BinaryArchive(const BinaryArchive&) = delete;
  BinaryArchive& operator=(const BinaryArchive&) = delete;

  // The pipeline of an MTLComputePipelineDescriptor, whose code is taken from the archive, or compiled and added to it.
  // Null if Metal cannot make it; `error` then is the NSError. The caller has an autorelease pool.
  Owned pipeline(Id descriptor, Id* error);
  // Writes the archive to disk if code was added to it. Call it after compiling, because Metal may not be called when a
  // process ends. The first code of a process is written at once; a large archive then is written less often: after as
  // many pipelines as it has MiB.
  void save() noexcept;

 private:
  void open() noexcept;
  // An archive with the code that another process has kept, or an empty one; null if Metal makes none.
  Owned archive_of(const std::vector<uint8_t>& bytes) const;
  Owned empty_archive() const;
  void add(Id descriptor);
  std::vector<uint8_t> bytes_of_archive() const;

  const PhysicalDevice& device_;
  const uint64_t max_bytes_;
  std::once_flag opening_;
  // Metal does not say which methods of an archive may run side by side: lookups share the mutex, others hold it alone.
  std::shared_mutex mutex_;
  std::string key_;
  Owned archive_;               // an MTLBinaryArchive; null if there is none
  uint64_t added_ = 0;          // pipelines since it was written
  uint64_t written_bytes_ = 0;  // by this process at the last time
  bool is_kept_ = true;         // false when it could not be written: nothing is added any more
};

}  // namespace ferrule::metal
