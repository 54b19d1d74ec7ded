// Arbitrary bytes as a module file of each format: the reader never runs it and never reads past its end.
#include "core/registry/abi_compatibility.h"
#include "module_file/read_image.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

using namespace ferrule;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  static const int descriptor = memfd_create("image", 0);
  static const std::filesystem::path path = "/proc/self/fd/" + std::to_string(descriptor);
  if (ftruncate(descriptor, 0) != 0 || pwrite(descriptor, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  const module_file::Image image = module_file::read_image(path);
  if (image.problem.empty() != image.abi.has_value()) std::abort();
  if (image.abi) static_cast<void>(abi_complaint(*image.abi));
  // Formats of other systems, which this system does not open.
  module_file::FileBytes file(path);
  if (!file.is_open() || file.size() != size) std::abort();
  static_cast<void>(module_file::ElfReader(file).read_library());
  if (size < 4) return 0;
  for (const module_file::Systems systems : {module_file::Systems::ours, module_file::Systems::all}) {
    bool is_foreign = false;
    static_cast<void>(module_file::check_mach_o(file, 0, systems, is_foreign));
    static_cast<void>(module_file::check_universal(file, systems, is_foreign));
    const module_file::Image pe = module_file::PeReader(file, systems).read();
    if (pe.problem.empty() != pe.abi.has_value()) std::abort();
  }
  return 0;
}
