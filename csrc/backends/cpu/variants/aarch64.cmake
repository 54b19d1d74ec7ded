# The variants on 64-bit Arm.
set(FERRULE_CPU_VARIANTS armv8 armv8.2 armv8.6 sve2)
if(APPLE) # no Mac has SVE2
  list(REMOVE_ITEM FERRULE_CPU_VARIANTS sve2)
endif()
set(FERRULE_CPU_armv8_FEATURES simd)
set(FERRULE_CPU_armv8.2_FEATURES ${FERRULE_CPU_armv8_FEATURES} fp16 dotprod)
set(FERRULE_CPU_armv8.6_FEATURES ${FERRULE_CPU_armv8.2_FEATURES} i8mm bf16)
set(FERRULE_CPU_sve2_FEATURES ${FERRULE_CPU_armv8.6_FEATURES} sve sve2)

set(FERRULE_CPU_armv8_NEEDS "NEON")
set(FERRULE_CPU_armv8.2_NEEDS "FP16, dot products")
set(FERRULE_CPU_armv8.6_NEEDS "I8MM, BF16")
set(FERRULE_CPU_sve2_NEEDS "SVE2")

set(FERRULE_CPU_armv8_RANK 1)
set(FERRULE_CPU_armv8.2_RANK 2)
set(FERRULE_CPU_armv8.6_RANK 3)
set(FERRULE_CPU_sve2_RANK 4)

foreach(variant IN LISTS FERRULE_CPU_VARIANTS)
  # Highway's vectors have 16 bytes, as kernels keep arrays of them, which the vectors of SVE cannot be in. The compiler
  # vectorises loops by SVE2 with vectors of whatever size the processor has.
  set(FERRULE_CPU_${variant}_TARGET HWY_NEON)
  set(names ${FERRULE_CPU_${variant}_FEATURES})
  if(FERRULE_ZIG) # it has LLVM's names
    list(TRANSFORM names REPLACE "^fp16$" fullfp16)
    list(TRANSFORM names REPLACE "^simd$" neon)
    string(JOIN + flags -mcpu=generic ${names})
  else()
    string(JOIN + flags -march=armv8-a ${names})
  endif()
  set(FERRULE_CPU_${variant}_FLAGS ${flags} "-DHWY_DISABLED_TARGETS=(HWY_SVE|HWY_SVE_256|HWY_SVE2|HWY_SVE2_128)")
endforeach()
