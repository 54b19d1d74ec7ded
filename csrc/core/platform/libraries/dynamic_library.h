// An open shared library.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ferrule {

class DynamicLibrary {
 public:
  // Opens a library; throws io with the system's message. Its symbols are not visible to libraries opened later.
  // `needed` lists the libraries beside it that it depends on. They are opened first, so that the system's loader
  // finds them by name, whatever the run paths are.
  static std::shared_ptr<DynamicLibrary> open(const std::filesystem::path& path,
                                              const std::vector<std::filesystem::path>& needed = {});
  // Whether the file at this path is open as a library in this process, no matter which code opened it.
  static bool is_open(const std::filesystem::path& path);

  explicit DynamicLibrary(void* handle, std::vector<std::shared_ptr<DynamicLibrary>> needed = {})
      : needed_(std::move(needed)), handle_(handle) {}
  ~DynamicLibrary();
  DynamicLibrary(const DynamicLibrary&) = delete;
  DynamicLibrary& operator=(const DynamicLibrary&) = delete;

  // An address at which the library's file is mapped; null where the system does not provide one.
  const void* address() const noexcept;
  // Null when the library exports no such symbol.
  void* symbol(const char* name) const noexcept;
  template <class Function>
  Function function(const char* name) const noexcept {
    return reinterpret_cast<Function>(symbol(name));
  }

 private:
  std::vector<std::shared_ptr<DynamicLibrary>> needed_;  // closed after this library
  void* handle_;
};

}  // namespace ferrule
