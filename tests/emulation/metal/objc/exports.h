// The functions that the library exports.
#pragma once

#define SIMULATED_EXPORT extern "C" __attribute__((visibility("default")))
