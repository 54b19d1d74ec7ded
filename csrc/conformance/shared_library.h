// Opens a module's file.
#pragma once

#include <string>

namespace ferrule::conformance {

void* open_library(const std::string& path);       // throws Failure with the system's message
void* symbol_of(void* library, const char* name);  // null when there is none
void close_library(void* library);

}  // namespace ferrule::conformance
