# The CUDA backend's settings for ./dev. docs/backends.md lists what such a file may set.
# Without a GPU the tests, the kit and the demo use the module whose kernels run on the CPU (docs/emulator.md).
emulated_module[cuda]=testing/libferrule-cuda-emulated.so
# Threads of the GPU, and those of the host.
thread_tests[cuda]="forward or test_threads or test_dlpack or test_replay or test_queues"

verbs[ptxas]="registers, memory and occupancy of the CUDA kernels, as a table, and into $backends/cuda/docs/kernels.md;
arguments go to $backends/cuda/toolchain/resources.py"
ptxas() {
  setup
  require $backends/cuda/dev-requirements.txt
  compile_only build/cuda ferrule_cuda_fat_binaries -DFERRULE_CUDA=ON
  .venv/bin/python -m csrc.backends.cuda.toolchain.resources build/cuda/$backends/cuda/fat_binaries \
    --page $backends/cuda/docs/kernels.md "$@"
}
