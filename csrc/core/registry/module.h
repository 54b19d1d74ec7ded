// An initialised module: its name, its table of functions, and whether it is closed.
#pragma once

#include "core/registry/module_source.h"

#include <ferrule/backend.h>

#include <atomic>
#include <optional>
#include <string>

namespace ferrule {

// The part of a backend that its devices need.
class Module {
 public:
  explicit Module(ModuleSource source);
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const std::string& name() const noexcept { return source_.name; }
  const std::string& variant() const noexcept { return source_.variant; }
  const std::string& version() const noexcept { return version_; }
  // "cpu-haswell"
  std::string full_name() const;
  bool is_static() const noexcept { return source_.path.empty(); }
  // The module's file, "static" when it is linked in.
  std::string file() const;
  const ModuleSource& source() const noexcept { return source_; }
  const std::optional<Manifest>& manifest() const noexcept { return source_.manifest; }
  int preference() const noexcept { return source_.manifest ? source_.manifest->preference : source_.preference; }
  const fe_backend& table() const noexcept { return table_; }
  // True also before it is initialised.
  bool is_closed() const noexcept { return closed_.load(std::memory_order_acquire); }

 protected:
  ~Module() = default;
  // Calls its init. Throws the module's error, or internal when its table is invalid.
  void initialise();
  // The function that it offers by this name, or null.
  void* find_proc(const char* name) const;
  void mark_closed() noexcept { closed_.store(true, std::memory_order_release); }
  // Closes the module's backend, and unmaps the code (see unmap_module).
  void close_and_unmap();

 private:
  void take_name_of_table();
  void check_table() const;

  ModuleSource source_;
  std::string version_;
  fe_backend table_{};
  std::atomic<bool> closed_{true};
};

}  // namespace ferrule
