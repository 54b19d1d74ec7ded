// Memory of a device as the SDK hands it around.
#pragma once

#include "memory.h"

namespace ferrule::vulkan {

class Buffer final : public sdk::Buffer {
 public:
  explicit Buffer(Allocation allocation) : allocation_(std::move(allocation)) {}
  const Allocation& allocation() const { return allocation_; }
  uint64_t address() const { return allocation_.address; }  // for shaders

 private:
  Allocation allocation_;
};

inline Buffer& buffer_of(fe_module_buffer* handle) {
  return static_cast<Buffer&>(*reinterpret_cast<sdk::Buffer*>(handle));
}

}  // namespace ferrule::vulkan
