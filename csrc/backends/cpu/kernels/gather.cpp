// Copies strided elements into the buffers of the interpreter of fused bodies.
#include "strided_copy.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {

void gather(void* to, const void* from, int64_t stride, size_t count, size_t item_size);
void gather(void* to, const void* from, int64_t stride, size_t count, size_t item_size) {
  with_item(item_size, [&](auto zero) {
    using T = decltype(zero);
    T* y = static_cast<T*>(to);
    const T* x = static_cast<const T*>(from);
    if (stride == 0) {
      const T value = *x;
      for (size_t i = 0; i < count; ++i) y[i] = value;
    } else {
      for (size_t i = 0; i < count; ++i) y[i] = x[static_cast<int64_t>(i) * stride];
    }
  });
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
