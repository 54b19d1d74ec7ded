#include "cuda/runtime/compiled_libraries.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace emulation {

std::shared_ptr<const CompiledImage> open_compiled(const CompiledCode& code) {
  // A name of its own: dlopen takes files of equal names for the same library.
  std::string path = (std::filesystem::temp_directory_path() / "emulated-kernels-XXXXXX").string();
  const int descriptor = ::mkstemp(path.data());
  if (descriptor < 0) return nullptr;
  std::FILE* const file = ::fdopen(descriptor, "wb");
  const bool is_written = file != nullptr && std::fwrite(&code + 1, 1, code.bytes, file) == code.bytes;
  const bool is_closed = file != nullptr && std::fclose(file) == 0;
  void* const library = is_written && is_closed ? ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  ::unlink(path.c_str());
  if (library == nullptr) return nullptr;
  const auto* const image = static_cast<const CompiledImage*>(::dlsym(library, "emulated_compiled_image"));
  if (image == nullptr) return ::dlclose(library), nullptr;
  return {image, [library](const CompiledImage*) { ::dlclose(library); }};
}

}  // namespace emulation
