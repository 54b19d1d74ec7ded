// Owners of the host API's handles. While Python is finalizing they do not release them, so that no driver is called at
// exit.
#pragma once

#include "bound_classes.h"
#include "errors.h"
#include "interpreter_state.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace ferrule::python {

template <auto release>
struct Release {
  template <class Handle>
  void operator()(Handle* handle) const noexcept {
    if (!is_finalizing()) release(handle);
  }
};

using ArrayHandle = std::unique_ptr<fe_array, Release<fe_array_release>>;
using DeviceHandle = std::unique_ptr<fe_device, Release<fe_device_release>>;
using LoadReportHandle = std::unique_ptr<fe_load_report, Release<fe_load_report_release>>;
using BackendHandle = std::unique_ptr<fe_backend_ref, Release<fe_backend_release>>;
using GraphHandle = std::unique_ptr<fe_graph, Release<fe_graph_release>>;
using CompiledHandle = std::unique_ptr<fe_compiled, Release<fe_compiled_release>>;
using CallsHandle = std::unique_ptr<fe_calls, Release<fe_calls_release>>;
using TraceHandle = std::unique_ptr<fe_trace, Release<fe_trace_release>>;
using StringHandle = std::unique_ptr<fe_string, Release<fe_string_release>>;

// Releases the string and returns its text.
inline std::string take_text(fe_string* string) {
  const StringHandle owner(string);
  return string == nullptr ? std::string() : std::string(fe_string_data(string));
}

// A struct of the C API that `get` fills.
template <class Struct, class Get>
Struct filled(Get get) {
  Struct made{};
  made.struct_size = sizeof made;
  check(get(&made));
  return made;
}

class Device : public BoundClass {
 public:
  explicit Device(fe_device* handle) : handle_(handle) {}
  fe_device* get() const noexcept { return handle_.get(); }
  // Whether memory of the device was used: it is then open, and needs no environment variables. Needs the GIL.
  bool& was_used() const noexcept { return was_used_; }

 private:
  DeviceHandle handle_;
  mutable bool was_used_ = false;
};

class Backend : public BoundClass {
 public:
  explicit Backend(fe_backend_ref* handle) : handle_(handle) {}
  fe_backend_ref* get() const noexcept { return handle_.get(); }

 private:
  BackendHandle handle_;
};

}  // namespace ferrule::python
