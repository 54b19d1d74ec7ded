# The variants of the CPU module on the processor that is compiled for: everything that differs among them. Each lists
# the processor features that it requires, with the names of csrc/sdk/ferrule/cpp/cpu_features.hpp. The manifest, the
# module's score and the compiler flags of the kernels come from this list. -march names are not used, because their
# meaning depends on the compiler. FERRULE_CPU_<variant>_RANK orders the variants that a machine can run, and is the score
# of a module that can run. FERRULE_CPU_<variant>_NEEDS says for people what it has beyond the ones before it.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  include(${CMAKE_CURRENT_LIST_DIR}/x86_64.cmake)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$")
  include(${CMAKE_CURRENT_LIST_DIR}/aarch64.cmake)
else()
  message(FATAL_ERROR "csrc/backends/cpu/variants has no file for the processor ${CMAKE_SYSTEM_PROCESSOR}")
endif()

set(FERRULE_CPU_BASE_FLAGS -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -fwrapv -fvisibility=hidden
    $<$<CXX_COMPILER_ID:Clang>:-Wno-unknown-pragmas> # of "GCC ivdep"
    -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-asynchronous-unwind-tables)
foreach(variant IN LISTS FERRULE_CPU_VARIANTS)
  list(APPEND FERRULE_CPU_${variant}_FLAGS -DFERRULE_CPU_TARGET=${FERRULE_CPU_${variant}_TARGET})
  # A C++ namespace: armv8.2 becomes armv8_2.
  string(MAKE_C_IDENTIFIER ${variant} FERRULE_CPU_${variant}_NAMESPACE)
endforeach()
