# The Metal backend's settings for ./dev. docs/backends.md lists what such a file may set.
packages+=(clang-19)  # compiles the kernels for the emulator
# Wheels are for macOS only. The tests, the kit and the demo use the module over a simulated Metal (docs/emulator_metal.md).
no_wheel_here[metal]=yes
other_platforms[metal]="macosx_11_0_arm64"
# The kit looks for memory that grows, and the simulated Metal remembers freed objects.
kit_environment[metal]="FERRULE_EMULATION_METAL_FREED=0"
kit_options[metal]="--ferrule-timeout 300"  # with an empty cache, what an op supports takes a minute to find out
if [ "$(uname -sm)" = "Linux x86_64" ]; then  # the simulated Metal has assembly for it
  emulated_module[metal]=testing/libferrule-metal-emulated.so
  # Sanitizers see the host's code in the tests of threads, and each way of addressing memory in these kernels: with an
  # empty cache of compiled kernels clang takes most of the time.
  thread_tests[metal]="test_threads or test_pipeline_cache or test_memory"
  sanitizer_kit[metal]="--ferrule-op matmul --ferrule-op softmax --ferrule-op sum --ferrule-op take --ferrule-op sort
    --ferrule-op compress --ferrule-op exp -k float32"
fi
