#include "device/driver_library.h"

#if !defined(_WIN32)
#include <dlfcn.h>
#include <link.h>
#endif

#include <string>

#include "device/errors.h"

namespace ferrule::cuda {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string complaint_about_old_driver(int version) {
  return "the NVIDIA driver is for CUDA " + version_text(version) + ", and this module needs one for CUDA " +
         version_text(CUDART_VERSION) + " or later";
}

#if defined(_WIN32)
sdk::Error reason_for_no_driver() { return {FE_NOT_FOUND, "the NVIDIA driver is not installed"}; }
#else
namespace {

constexpr const char* file_name = "libcuda.so.1";

std::string path_of(void* library) {
  const link_map* map = nullptr;
  return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : file_name;
}

std::string problem_of(void* library) {
  const std::string path = path_of(library);
  const auto lacks = [&](const char* function) {
    return path + " is not the NVIDIA driver, or is damaged: it has no function " + function + "; install it again";
  };
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(library, "cuInit"));
  if (init == nullptr) return lacks("cuInit");
  // The errors of the driver are those of the runtime.
  const auto error = static_cast<cudaError_t>(init(0));
  if (error == cudaErrorStubLibrary)
    return path + " is not the NVIDIA driver, but the stub that a CUDA toolkit has for linking (cuInit returned " +
           std::to_string(error) + "); take its folder out of LD_LIBRARY_PATH";
  if (error != cudaSuccess)
    return "the NVIDIA driver does not start: cuInit of " + path + " returned " + std::to_string(error) + ", " +
           text_of(error);
  const auto get_version = reinterpret_cast<int (*)(int*)>(dlsym(library, "cuDriverGetVersion"));
  int version = 0;
  if (get_version == nullptr || get_version(&version) != 0) return lacks("cuDriverGetVersion that works");
  if (version < CUDART_VERSION) return complaint_about_old_driver(version);
  return "the CUDA runtime finds no driver, although cuInit of " + path + " works";
}

}  // namespace

sdk::Error reason_for_no_driver() {
  if (void* const library = dlopen(file_name, RTLD_LAZY | RTLD_LOCAL)) {
    sdk::Error error(FE_UNSUPPORTED, problem_of(library));
    dlclose(library);
    return error;
  }
  const char* const text = dlerror();
  const std::string problem = text != nullptr ? text : file_name;
  // A library that was found is named by its path, and one that it needs by another name.
  if (problem.starts_with(file_name))
    return {FE_NOT_FOUND, std::string("the NVIDIA driver is not installed: ") + file_name +
                              " was not found; install one for CUDA " + version_text(CUDART_VERSION) + " or later"};
  return {FE_UNSUPPORTED, "the NVIDIA driver cannot be opened: " + problem + "; install it again"};
}
#endif

}  // namespace ferrule::cuda
