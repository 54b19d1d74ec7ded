// The C++ side of the SDK: a backend in one file. Derive from Backend and KernelDevice (or HostDevice, or Device), end
// the file with FERRULE_BACKEND(YourBackend), and call ferrule_add_module on it. An exception becomes an error inside
// the module; nothing throws across its boundary. Header-only, C++20.
//
// `python -m ferrule new-backend` writes one to start from; tests/foreign/module/mine.cpp is a whole backend in fifty
// lines; csrc/backends/null/ shows queues, events and options.
#ifndef FERRULE_BACKEND_HPP
#define FERRULE_BACKEND_HPP

#include <ferrule/cpp/check.hpp>
#include <ferrule/cpp/device.hpp>
#include <ferrule/cpp/error.hpp>
#include <ferrule/cpp/graph.hpp>
#include <ferrule/cpp/host_device.hpp>
#include <ferrule/cpp/slots.hpp>

// Ends the one source file of a module that says which class its backend is.
#define FERRULE_BACKEND(Derived)                                                                       \
  static int fe_this_module_score() { return Derived::score(); }                                       \
  static fe_error* fe_this_module_init(const fe_host* host, fe_backend* out) {                         \
    return ferrule::sdk::slots::init<Derived>(host, out, FERRULE_MODULE_NAME, FERRULE_MODULE_VARIANT); \
  }                                                                                                    \
  FE_DEFINE_MODULE(fe_this_module_score, fe_this_module_init)

#endif
