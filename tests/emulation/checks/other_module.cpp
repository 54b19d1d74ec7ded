// Another module, whose kernel has the name of one of library_test.cpp.
#include <cuda_runtime.h>

struct WriteParameters {
  int* out;
  int value;
};

FERRULE_KERNEL(write_value, WriteParameters, 64) { *p.out = -p.value; }
FERRULE_KERNEL(only_in_other_module, WriteParameters, 64) { *p.out = p.value; }

extern "C" [[gnu::visibility("default")]] const void* code_of_other_module() { return &emulation::own_code_image; }
