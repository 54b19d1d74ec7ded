// What the library exports beside Apple's functions, for tests.
#pragma once

// The texts are valid until the next call on the same thread.
extern "C" {
// The faults that were recorded (FERRULE_EMULATION_METAL_FAULTS=collect), a line for each one; "" if there are none.
const char* simulated_metal_faults();
void simulated_metal_forget_faults();
// What a program has made and not released: a line "<class> <count>" for each class; "" if there is nothing. A device
// is counted once for each reference to it.
const char* simulated_metal_live_objects();
}
