// What an open device was asked to get wrong, for tests of those who use it. Numbers count from 1; 0 is never.
#pragma once

#include <ferrule/backend.hpp>

#include <atomic>

namespace ferrule::vulkan {

struct Faults {
  explicit Faults(const sdk::Options& options)
      : out_of_memory_at(options.integer("out_of_memory_at", 0)),
        device_lost_at(options.integer("device_lost_at", 0)),
        shader_fails_at(options.integer("shader_fails_at", 0)) {}

  const int64_t out_of_memory_at;
  const int64_t device_lost_at;
  const int64_t shader_fails_at;
  std::atomic<int64_t> allocations{0};
  std::atomic<int64_t> executions{0};
  std::atomic<int64_t> shaders{0};
};

}  // namespace ferrule::vulkan
