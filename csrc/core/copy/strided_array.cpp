#include "core/copy/strided_array.h"

#include "core/memory/queue.h"
#include "core/registry/device.h"

namespace ferrule {

StridedArray new_array(const std::shared_ptr<Device>& device, const TensorType& type) {
  const auto bytes = static_cast<uint64_t>(byte_count(type));
  return {type,
          {bytes ? Storage::allocate(device, type, queue_of(*device, FE_QUEUE_COMPUTE)) : nullptr, 0,
           contiguous_strides(type.shape)}};
}

}  // namespace ferrule
