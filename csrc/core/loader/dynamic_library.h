// A shared library that is open.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace ferrule {

class DynamicLibrary {
 public:
  // Throws io with the system's words. Nothing of it is seen by libraries that are opened later.
  static std::shared_ptr<DynamicLibrary> open(const std::filesystem::path& path);
  // Whether a file at this path is mapped as a library, by whomever.
  static bool is_open(const std::filesystem::path& path);

  explicit DynamicLibrary(void* handle) : handle_(handle) {}
  ~DynamicLibrary();
  DynamicLibrary(const DynamicLibrary&) = delete;
  DynamicLibrary& operator=(const DynamicLibrary&) = delete;

  // Where bytes of its file are mapped; null where the system does not tell.
  const void* address() const noexcept;
  // Null when it exports no such symbol.
  void* symbol(const char* name) const noexcept;
  template <class Function>
  Function function(const char* name) const noexcept {
    return reinterpret_cast<Function>(symbol(name));
  }

 private:
  void* handle_;
};

}  // namespace ferrule
