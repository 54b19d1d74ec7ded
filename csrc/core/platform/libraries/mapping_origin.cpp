#include "core/platform/libraries/mapping_origin.h"

#if defined(__linux__)
#include <algorithm>
#include <array>
#include <cstddef>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#endif

namespace ferrule {

#if defined(__linux__)
namespace {

// The file of a mapping. On overlayfs and btrfs these numbers differ from those that fstat returns for the same file,
// but are those of no other file. So equal numbers mean the same file; when they differ, two mappings are compared.
struct MappedFile {
  uint64_t major = 0, minor = 0, inode = 0;
  friend bool operator==(const MappedFile&, const MappedFile&) = default;
};
using Pair = std::array<std::optional<MappedFile>, 2>;

// The first page of a file, mapped for the lifetime of the object.
class Page {
 public:
  explicit Page(int descriptor)
      : size_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        address_(mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0)) {}
  ~Page() {
    if (address_ != MAP_FAILED) munmap(address_, size_);
  }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;
  const void* address() const { return address_ != MAP_FAILED ? address_ : nullptr; }

 private:
  std::size_t size_;
  void* address_;
};

class Maps {
 public:
  Maps() : descriptor_(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}
  ~Maps() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Maps(const Maps&) = delete;
  Maps& operator=(const Maps&) = delete;

  // Queries a single address, which Linux 6.11 and later support without listing all mappings.
  std::optional<MappedFile> ask(const void* address) const {
    struct Query {  // struct procmap_query of linux/fs.h, which older kernel headers lack
      uint64_t size, flags, address, begin, end, vma_flags, page_size, offset, inode;
      uint32_t major, minor, name_size, build_id_size;
      uint64_t name, build_id;
    };
    static_assert(sizeof(Query) == 104);
    Query query{};
    query.size = sizeof query;
    query.address = reinterpret_cast<uintptr_t>(address);
    if (descriptor_ < 0 || ioctl(descriptor_, _IOWR('f', 17, Query), &query) != 0) return std::nullopt;
    return MappedFile{query.major, query.minor, query.inode};
  }

  // Finds two addresses in one reading of the list, so that no mapping changes in between.
  Pair find(const std::array<const void*, 2>& addresses) const {
    Pair found;
    const std::string text = read_all();
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t end = rest.find('\n');
      read_line(rest.substr(0, end), addresses, found);
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
    }
    return found;
  }

 private:
  std::string read_all() const {
    std::string text;
    std::size_t filled = 0;
    while (descriptor_ >= 0) {
      text.resize(filled + (1 << 16));
      const ssize_t count = read(descriptor_, text.data() + filled, text.size() - filled);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      filled += static_cast<std::size_t>(count);
    }
    text.resize(filled);
    return text;
  }

  // "7f0000000000-7f0000001000 r--p 00000000 08:01 1234   /usr/lib/libfoo.so"
  static void read_line(std::string_view line, const std::array<const void*, 2>& addresses, Pair& found) {
    const auto number = [&](int base, char behind) {
      uint64_t value = 0;
      const auto [end, problem] = std::from_chars(line.data(), line.data() + line.size(), value, base);
      line.remove_prefix(static_cast<std::size_t>(end - line.data()));
      if (!line.empty() && line.front() == behind) line.remove_prefix(1);
      return value;
    };
    const uint64_t begin = number(16, '-'), end = number(16, ' ');
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      const auto address = reinterpret_cast<uintptr_t>(addresses[i]);
      if (address < begin || address >= end) continue;
      line.remove_prefix(std::min(line.find(' ') + 1, line.size()));  // the permissions
      number(16, ' ');                                                // the offset
      MappedFile file;
      file.major = number(16, ':');
      file.minor = number(16, ' ');
      file.inode = number(10, ' ');
      found[i] = file;
      return;
    }
  }

  int descriptor_;
};

// The numbers that fstat returns for a file.
std::optional<MappedFile> file_of_descriptor(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return std::nullopt;
  return MappedFile{major(status.st_dev), minor(status.st_dev), status.st_ino};
}

std::optional<bool> compare(const Pair& files) {
  if (!files[0] || !files[1]) return std::nullopt;
  return *files[0] == *files[1];
}

}  // namespace

std::optional<bool> is_mapped_from(const void* address, int descriptor) {
  const Maps maps;
  if (const auto own_file = file_of_descriptor(descriptor); own_file && maps.ask(address) == own_file) return true;
  const Page page(descriptor);
  if (address == nullptr || page.address() == nullptr) return std::nullopt;
  if (const auto answer = compare({maps.ask(address), maps.ask(page.address())})) return answer;
  return compare(maps.find({address, page.address()}));
}

std::optional<bool> is_listed_from(const void* address, int descriptor) {
  const Page page(descriptor);
  if (address == nullptr || page.address() == nullptr) return std::nullopt;
  return compare(Maps().find({address, page.address()}));
}
#else
std::optional<bool> is_mapped_from(const void*, int) { return std::nullopt; }
std::optional<bool> is_listed_from(const void*, int) { return std::nullopt; }
#endif

}  // namespace ferrule
