// Calls of the system by the worker. Each system has its own definitions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace ferrule::probe {

// Writes to a descriptor, on Windows a handle; the number of bytes written, 0 when it is closed.
std::size_t write_some(intptr_t descriptor, const char* bytes, std::size_t count);

// Ends the process, without running anything of the libraries that are open.
[[noreturn]] void end_process(int status);

// Lets modules that are opened find libraries in this folder, too. Does nothing where the environment says that, which
// is everywhere but on Windows.
void search_for_libraries_in(const std::string& folder);

// Keeps the code of an open module mapped when the module is closed; null when it is not open.
void* keep_mapped(const std::string& module);
void release_mapped(void* code);

}  // namespace ferrule::probe
