#include "amx_permission.h"

#if defined(__linux__) && defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace ferrule::cpu {

bool may_use_amx() {
#if defined(FERRULE_SIMULATED_AMX)
  return true;
#elif defined(__linux__) && defined(__x86_64__)
  // asm/prctl.h of Linux 5.16: ARCH_REQ_XCOMP_PERM of the state component XTILEDATA.
  constexpr int request_permission = 0x1023, tile_data = 18;
  static const bool permitted = syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  return permitted;
#else
  return false;
#endif
}

}  // namespace ferrule::cpu
