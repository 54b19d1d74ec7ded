// The header that real texts in MSL include. It has macros only, which the preprocessor replaces before the emulator
// reads the text. Types and functions come with all.h, which the compiler includes.
#pragma once

// Memory of a threadgroup, declared in kernels: FERRULE_THREADGROUP(float, tile, [32][33]);
#define FERRULE_THREADGROUP(...) ferrule_threadgroup_memory(__VA_ARGS__)
