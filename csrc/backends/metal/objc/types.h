// Types and constants of the Objective-C runtime, Foundation and Metal that the backend uses. Names and values: Apple's
// headers objc/objc.h, Foundation/NSRange.h and Metal/MTL*.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ferrule::metal {

struct objc_object;
struct objc_selector;
using Id = objc_object*;
using Selector = objc_selector*;
// BOOL: bool on Arm, signed char on x86-64. Both are read as one byte.
using Boolean = signed char;
using Unsigned = std::size_t;    // NSUInteger
using Integer = std::ptrdiff_t;  // NSInteger

// MTLSize and NSRange, which are passed by value.
struct Size {
  Unsigned width, height, depth;
};
struct Range {
  Unsigned location, length;
};

enum class CommandBufferStatus : Unsigned {
  not_enqueued = 0,
  enqueued = 1,
  committed = 2,
  scheduled = 3,
  completed = 4,
  error = 5
};

// MTLCommandBufferError.
enum class CommandBufferError : Integer {
  internal = 1,
  timeout = 2,
  page_fault = 3,
  access_revoked = 4,
  not_permitted = 7,
  out_of_memory = 8,
  invalid_resource = 9,
  memoryless = 10,
  device_removed = 11,
  stack_overflow = 12
};

enum class GpuFamily : Integer {
  apple1 = 1001,
  apple6 = 1006,
  apple7 = 1007,
  apple8 = 1008,
  apple9 = 1009,
  mac2 = 2002,
  metal3 = 5001
};

constexpr Unsigned storage_shared = 0 << 4, storage_private = 2 << 4;  // MTLResourceOptions
constexpr Unsigned dispatch_concurrent = 1;                            // MTLDispatchType
constexpr Unsigned barrier_of_buffers = 1;                             // MTLBarrierScope
constexpr Unsigned fail_on_archive_miss = 1 << 2;                      // MTLPipelineOption
constexpr Integer math_mode_safe = 0;                                  // MTLMathMode
constexpr Integer precise_functions = 1;                               // MTLMathFloatingPointFunctions
constexpr Unsigned language_version_2_3 = (2 << 16) + 3;               // MTLLanguageVersion: macOS 11

}  // namespace ferrule::metal
