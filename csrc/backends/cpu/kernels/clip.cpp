// x limited to [minimum, maximum]; the maximum wins where they cross, NaN in any of them gives NaN: as two ops would.
#include "blocks.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

template <class T>
void run_clip(const void* const* in, void* out, size_t count, const void*) {
  const T *x = static_cast<const T*>(in[0]), *low = static_cast<const T*>(in[1]), *high = static_cast<const T*>(in[2]);
  T* y = static_cast<T*>(out);
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) {
    const T above = x[i] > low[i] || x[i] != x[i] ? x[i] : low[i];
    y[i] = above < high[i] || above != above ? above : high[i];
  }
}
template <class... T>
constexpr auto clips() {
  return blocks(Block{run_clip<T>, {dtype_of<T>, dtype_of<T>, dtype_of<T>}, 3, dtype_of<T>}...);
}

}  // namespace

ELEMENTWISE(clip, (clips<FERRULE_FLOATS, FERRULE_INTEGERS>()))

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
