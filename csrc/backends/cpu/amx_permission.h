// Whether this process may use the tile registers of AMX, which a process asks the system for.
#pragma once

namespace ferrule::cpu {

// Asks at the first call. False also where the system has no such request, or where a thread has an alternative signal
// stack that is too small for the registers.
bool may_use_amx();

}  // namespace ferrule::cpu
