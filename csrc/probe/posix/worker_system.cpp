#include "probe/worker_system.h"

#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

namespace ferrule::probe {

std::size_t write_some(intptr_t descriptor, const char* bytes, std::size_t count) {
  const ssize_t written = write(static_cast<int>(descriptor), bytes, count);
  return written > 0 ? static_cast<std::size_t>(written) : 0;
}

[[noreturn]] void end_process(int status) { std::_Exit(status); }

void search_for_libraries_in(const std::string&) {}

void* keep_mapped(const std::string& module) { return dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD); }

void release_mapped(void* code) { dlclose(code); }

}  // namespace ferrule::probe
