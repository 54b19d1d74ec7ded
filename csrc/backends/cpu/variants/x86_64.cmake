# The variants on x86-64.
set(FERRULE_CPU_VARIANTS x64 haswell skylakex icelake zen4)
# The tile registers of sapphirerapids are asked for by a system call of Linux (amx_permission.cpp).
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  list(APPEND FERRULE_CPU_VARIANTS sapphirerapids)
endif()
set(FERRULE_CPU_x64_FEATURES cx16 sse3 ssse3 sse41 sse42 popcnt)
set(FERRULE_CPU_haswell_FEATURES ${FERRULE_CPU_x64_FEATURES} avx avx2 fma f16c bmi1 bmi2 lzcnt movbe)
set(FERRULE_CPU_skylakex_FEATURES ${FERRULE_CPU_haswell_FEATURES} avx512f avx512bw avx512cd avx512dq avx512vl)
set(FERRULE_CPU_icelake_FEATURES ${FERRULE_CPU_skylakex_FEATURES} aes pclmulqdq vaes vpclmulqdq gfni avx512vnni
    avx512vbmi avx512vbmi2 avx512bitalg avx512vpopcntdq avx512ifma)
set(FERRULE_CPU_zen4_FEATURES ${FERRULE_CPU_icelake_FEATURES} avx512bf16)
set(FERRULE_CPU_sapphirerapids_FEATURES ${FERRULE_CPU_zen4_FEATURES} avx512fp16 amxtile amxint8 amxbf16)

set(FERRULE_CPU_x64_NEEDS "SSE4.2")
set(FERRULE_CPU_haswell_NEEDS "AVX2")
set(FERRULE_CPU_skylakex_NEEDS "AVX-512")
set(FERRULE_CPU_icelake_NEEDS "AVX-512 VNNI")
set(FERRULE_CPU_zen4_NEEDS "AVX-512 BF16")
set(FERRULE_CPU_sapphirerapids_NEEDS "AMX, AVX-512 FP16")

set(FERRULE_CPU_x64_RANK 1)
set(FERRULE_CPU_haswell_RANK 3)
set(FERRULE_CPU_skylakex_RANK 4)
set(FERRULE_CPU_icelake_RANK 5)
set(FERRULE_CPU_zen4_RANK 6)
set(FERRULE_CPU_sapphirerapids_RANK 7)

# The target that Highway must have chosen. (Highway 1.0.3 selects AVX3_DL only with AVX-VNNI, which Ice Lake and Zen 4
# lack; kernels use intrinsics for the instructions beyond AVX3.)
set(FERRULE_CPU_x64_TARGET HWY_SSE4)
set(FERRULE_CPU_haswell_TARGET HWY_AVX2)
set(FERRULE_CPU_skylakex_TARGET HWY_AVX3)
set(FERRULE_CPU_icelake_TARGET HWY_AVX3)
set(FERRULE_CPU_zen4_TARGET HWY_AVX3)
set(FERRULE_CPU_sapphirerapids_TARGET HWY_AVX3)

foreach(variant IN LISTS FERRULE_CPU_VARIANTS)
  set(flags ${FERRULE_CPU_${variant}_FEATURES})
  # The features to which GCC and Clang give another name.
  list(TRANSFORM flags REPLACE "^sse4([12])$" "sse4.\\1")
  list(TRANSFORM flags REPLACE "^bmi1$" bmi)
  list(TRANSFORM flags REPLACE "^pclmulqdq$" pclmul)
  list(TRANSFORM flags REPLACE "^amx(.+)$" "amx-\\1")
  list(TRANSFORM flags PREPEND -m)
  if(NOT FERRULE_ZIG) # which compiles for this processor unless told, and spells it otherwise
    list(APPEND flags -march=x86-64)
  endif()
  # Every processor with SSE4.2 has SAHF, which no manifest names.
  list(APPEND flags -msahf -DHWY_DISABLE_PCLMUL_AES)
  # Loops that the compiler vectorises use 256-bit vectors: they are bound by memory, and Zen 4 streams faster with
  # 256-bit accesses. Code that is bound by arithmetic uses Highway with 512-bit vectors.
  if(avx512f IN_LIST FERRULE_CPU_${variant}_FEATURES)
    list(APPEND flags -mprefer-vector-width=256)
  endif()
  set(FERRULE_CPU_${variant}_FLAGS ${flags})
endforeach()
