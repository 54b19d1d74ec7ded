#include "core/platform/files/mapped_pages.h"

#if !defined(_WIN32)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace ferrule {

#if defined(_WIN32)
void drop_mapped_pages(void*, uint64_t) noexcept {}
#else
void drop_mapped_pages(void* begin, uint64_t size) noexcept {
  const uint64_t in_page = reinterpret_cast<uintptr_t>(begin) % static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  madvise(static_cast<char*>(begin) - in_page, size + in_page, MADV_DONTNEED);  // a failure costs memory only
}
#endif

}  // namespace ferrule
