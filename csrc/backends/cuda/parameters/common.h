// Parts of the parameters of kernels, for the host and for the device. The host's compiler, nvcc and NVRTC read this
// file.
#pragma once

#ifndef __CUDACC_RTC__
#include <cstdint>
#else  // NVRTC has no headers
using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned;
using int64_t = long long;
using uint64_t = unsigned long long;
#endif

namespace ferrule::cuda {

inline constexpr int max_rank = 8;  // FE_MAX_RANK

// Shape and strides without axes of size one, with neighbouring axes merged where one stride serves both. The last axis
// is first.
struct Layout {
  uint32_t rank;
  uint32_t is_near;  // 1 if element numbers and offsets fit in 31 bits
  int64_t shape[max_rank];
  int64_t strides[max_rank];  // in elements
};

// An address that the host fills in for each execution. Until then it is an offset in bytes from where the value, or
// the scratch memory of the node, begins.
using Address = uint64_t;

// The first error that a kernel of a queue finds in its operands, as sdk::Fault, which nvcc and NVRTC do not read.
struct Fault {
  enum Kind : uint32_t { none, index, power, length, start = 5 };
  uint32_t kind, what;  // `what` is an fe_op or, of a power, an fe_dtype
  int64_t found, limit, axis;
};

}  // namespace ferrule::cuda
