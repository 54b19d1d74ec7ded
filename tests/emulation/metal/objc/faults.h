// Faults of a program that uses the simulated Metal. A fault is something that is undefined, or that ends the process,
// with Apple's frameworks and their validation.
#pragma once

#include <string>

namespace objc {

// Writes the fault to stderr and aborts. With FERRULE_EMULATION_METAL_FAULTS=collect it is recorded instead, and the
// caller does nothing of what was asked for.
void report_fault(const std::string& text);

// The recorded faults, a line for each one.
std::string recorded_faults();
void forget_faults();

}  // namespace objc
