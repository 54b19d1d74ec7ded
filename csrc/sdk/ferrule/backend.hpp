// The C++ wrapper of backend.h: a backend in one file. Derive from Backend and KernelDevice (or HostDevice, or Device),
// end the file with FERRULE_BACKEND(YourBackend), and call the CMake function ferrule_add_module on it. The wrapper
// checks arguments and turns exceptions into errors, so nothing throws across the boundary. Header-only, C++20.
//
// `python -m ferrule new-backend` writes a backend to start from; tests/foreign/module/mine.cpp is a complete backend
// in one file; csrc/backends/null/ shows queues, events and options.
#ifndef FERRULE_BACKEND_HPP
#define FERRULE_BACKEND_HPP

#include <ferrule/cpp/check.hpp>
#include <ferrule/cpp/device.hpp>
#include <ferrule/cpp/error.hpp>
#include <ferrule/cpp/graph.hpp>
#include <ferrule/cpp/host_device.hpp>
#include <ferrule/cpp/slots.hpp>

// Defines the module's entry points for the class `Derived`. Use it once, at the end of one source file.
#define FERRULE_BACKEND(Derived)                                                                       \
  static int fe_this_module_score() { return Derived::score(); }                                       \
  static fe_error* fe_this_module_init(const fe_host* host, fe_backend* out) {                         \
    return ferrule::sdk::slots::init<Derived>(host, out, FERRULE_MODULE_NAME, FERRULE_MODULE_VARIANT); \
  }                                                                                                    \
  FE_DEFINE_MODULE(fe_this_module_score, fe_this_module_init)

#endif
