# The variants of the CPU module on x86-64. Each lists its flags explicitly, because the meaning of -march names depends
# on the compiler. (Highway 1.0.3 selects AVX3_DL only with AVX-VNNI, which Ice Lake and Zen 4 lack; kernels use
# intrinsics for the instructions beyond AVX3.) `rank` orders the variants that a machine can run; `target` is the
# target that Highway must have chosen. Loops that the compiler vectorises use 256-bit vectors: they are bound by
# memory, and Zen 4 streams faster with 256-bit accesses. Code that is bound by arithmetic uses Highway with 512-bit
# vectors.
set(FERRULE_CPU_BASE_FLAGS -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -fwrapv -fvisibility=hidden
    $<$<CXX_COMPILER_ID:Clang>:-Wno-unknown-pragmas> # of "GCC ivdep"
    -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-asynchronous-unwind-tables)

set(_x64 -march=x86-64 -mcx16 -msahf -mpopcnt -msse3 -mssse3 -msse4.1 -msse4.2)
set(_haswell ${_x64} -mavx -mavx2 -mfma -mf16c -mbmi -mbmi2 -mlzcnt -mmovbe)
set(_skylakex ${_haswell} -mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl -mprefer-vector-width=256)
set(_icelake ${_skylakex} -maes -mpclmul -mvaes -mvpclmulqdq -mgfni -mavx512vnni -mavx512vbmi -mavx512vbmi2
    -mavx512bitalg -mavx512vpopcntdq -mavx512ifma)
set(_zen4 ${_icelake} -mavx512bf16)

set(FERRULE_CPU_VARIANTS x64 haswell skylakex icelake zen4)
set(FERRULE_CPU_x64_FLAGS ${_x64} -DHWY_DISABLE_PCLMUL_AES -DFERRULE_CPU_TARGET=HWY_SSE4)
set(FERRULE_CPU_haswell_FLAGS ${_haswell} -DHWY_DISABLE_PCLMUL_AES -DFERRULE_CPU_TARGET=HWY_AVX2)
set(FERRULE_CPU_skylakex_FLAGS ${_skylakex} -DHWY_DISABLE_PCLMUL_AES -DFERRULE_CPU_TARGET=HWY_AVX3)
set(FERRULE_CPU_icelake_FLAGS ${_icelake} -DHWY_DISABLE_PCLMUL_AES -DFERRULE_CPU_TARGET=HWY_AVX3)
set(FERRULE_CPU_zen4_FLAGS ${_zen4} -DHWY_DISABLE_PCLMUL_AES -DFERRULE_CPU_TARGET=HWY_AVX3)
set(FERRULE_CPU_x64_RANK 1)
set(FERRULE_CPU_haswell_RANK 3)
set(FERRULE_CPU_skylakex_RANK 4)
set(FERRULE_CPU_icelake_RANK 5)
set(FERRULE_CPU_zen4_RANK 6)

# The processor features that a variant requires.
set(FERRULE_CPU_x64_FEATURES cx16 sse3 ssse3 sse41 sse42 popcnt)
set(FERRULE_CPU_haswell_FEATURES ${FERRULE_CPU_x64_FEATURES} avx avx2 fma f16c bmi1 bmi2 lzcnt movbe)
set(FERRULE_CPU_skylakex_FEATURES ${FERRULE_CPU_haswell_FEATURES} avx512f avx512bw avx512cd avx512dq avx512vl)
set(FERRULE_CPU_icelake_FEATURES ${FERRULE_CPU_skylakex_FEATURES} aes pclmulqdq vaes vpclmulqdq gfni avx512vnni
    avx512vbmi avx512vbmi2 avx512bitalg avx512vpopcntdq avx512ifma)
set(FERRULE_CPU_zen4_FEATURES ${FERRULE_CPU_icelake_FEATURES} avx512bf16)
