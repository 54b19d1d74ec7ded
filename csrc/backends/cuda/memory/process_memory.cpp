#include "memory/process_memory.h"

#if defined(__linux__)
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#endif

namespace ferrule::cuda {

#if defined(__linux__)
namespace {

// The call pins the page, which fails as it does for the driver. It may be forbidden, which says nothing.
bool has_page(const char* byte) {
  char copy = 0;
  const iovec to{&copy, 1}, from{const_cast<char*>(byte), 1};
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1 || errno != EFAULT;
}

}  // namespace

bool has_pages(const void* pointer, uint64_t size) {
  const char* const first = static_cast<const char*>(pointer);
  return size == 0 || (has_page(first) && has_page(first + (size - 1)));
}
#else
bool has_pages(const void*, uint64_t) { return true; }  // there are no devices that use such memory
#endif

}  // namespace ferrule::cuda
