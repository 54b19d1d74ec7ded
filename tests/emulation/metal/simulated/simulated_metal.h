// Functions that the library exports for tests, beside Apple's.
#pragma once

// The texts are valid until the next call on the same thread.
extern "C" {
// The faults that were recorded (FERRULE_EMULATION_METAL_FAULTS=collect), a line for each one; "" if there are none.
const char* simulated_metal_faults();
void simulated_metal_forget_faults();
// Lists the objects that a program has made and not released: a line "<class> <count>" for each class; "" if there are
// none. A device is counted once for each reference to it.
const char* simulated_metal_live_objects();
}
