// What metal-cpp needs of Apple's header of this name, to be compiled on Linux.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

using CFTimeInterval = double;
extern "C" void* __CFStringMakeConstantString(const char*);
