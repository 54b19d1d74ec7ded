// A shared library that is open.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ferrule {

class DynamicLibrary {
 public:
  // Throws io with the system's words. Nothing of it is seen by libraries that are opened later. What lies beside it
  // and is needed by it is its own, whatever the run paths say: it is opened first, and then found by its name.
  static std::shared_ptr<DynamicLibrary> open(const std::filesystem::path& path,
                                              const std::vector<std::filesystem::path>& needed = {});
  // Whether a file at this path is mapped as a library, by whomever.
  static bool is_open(const std::filesystem::path& path);

  explicit DynamicLibrary(void* handle, std::vector<std::shared_ptr<DynamicLibrary>> needed = {})
      : needed_(std::move(needed)), handle_(handle) {}
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
  std::vector<std::shared_ptr<DynamicLibrary>> needed_;  // closed after it
  void* handle_;
};

}  // namespace ferrule
