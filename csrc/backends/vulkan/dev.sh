# The Vulkan backend's settings for ./dev. docs/backends.md lists what such a file may set.
packages+=(libvulkan-dev mesa-vulkan-drivers vulkan-validationlayers glslang-tools spirv-tools)

other_platforms[vulkan]="linux_aarch64 musllinux_1_2_x86_64 musllinux_1_2_aarch64 win_amd64 win_arm64 macosx_11_0_arm64 macosx_10_15_x86_64"
windows_tests[vulkan]=ports/test_vulkan_on_windows.py

# An error that the validation layer reports makes the operation that caused it fail.
kit_environment[vulkan]="FERRULE_VULKAN_VALIDATE=1"
# A check that compiles each kernel takes longer than a minute on a software device whose cache is empty.
kit_options[vulkan]="--ferrule-timeout 300"

# Headers that the sources include.
generated_targets+=(ferrule_vulkan_shaders)

verbs[shaders]="instruction and byte counts of the Vulkan kernels, as a table, and into $backends/vulkan/docs/kernels.md;
arguments go to $backends/vulkan/bench/shaders.py"
shaders() {
  setup
  compile_only build/tests ferrule_vulkan_shaders -DFERRULE_BUILD_TESTS=ON -DFERRULE_ALL_BACKENDS=ON
  .venv/bin/python -m csrc.backends.vulkan.bench.shaders build/tests/$backends/vulkan/shader_table.h \
    --page $backends/vulkan/docs/kernels.md "$@"
}
