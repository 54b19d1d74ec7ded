// Words of MSL, in the language that clang compiles: C++ for OpenCL.
//
// There the code that runs is generated with device memory as a part of the global address space, constant memory as
// global memory that cannot be written, and pointers without an address space as generic ones, because C++ for OpenCL
// copies no structures out of __constant. What this lets pass is refused by the strict checks, which see the address
// spaces that Metal has.
#pragma once

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#ifdef FERRULE_STRICT
#define device __global
#define constant __constant
#define ferrule_constant_data __constant
#else
#define device __attribute__((opencl_global_device))
#define constant const __global
#endif
#define thread __private
#define threadgroup __local

// Address-space qualifiers behind the parameters of a method.
#define ferrule_method_device __global
#define ferrule_method_constant __constant
#define ferrule_method_thread __private
#ifdef FERRULE_STRICT
#define ferrule_method_any __private
#else
#define ferrule_method_any  // for temporary objects, too, which are in no address space
#endif
#define ferrule_method_threadgroup __local

#define ferrule_export __attribute__((visibility("default")))
// Qualifiers of the functions of MSL.
#define ferrule_inline inline __attribute__((always_inline))

// Only the shim may use float64, where a result in float32 is rounded once.
typedef double ferrule_wide;

// clang has types of these names.
#define atomic_int ferrule_atomic_int
#define atomic_uint ferrule_atomic_uint
#define atomic_float ferrule_atomic_float
#define atomic_ulong ferrule_atomic_ulong
