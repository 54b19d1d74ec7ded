// Owning handles of ferrule.h, and a helper for calls whose result is not needed.
#pragma once

#include <ferrule/ferrule.h>

#include <memory>

namespace ferrule::test {

template <auto release>
struct Releases {
  template <class Handle>
  void operator()(Handle* handle) const {
    release(handle);
  }
};
using Text = std::unique_ptr<fe_string, Releases<fe_string_release>>;
using DeviceHandle = std::unique_ptr<fe_device, Releases<fe_device_release>>;
using BackendHandle = std::unique_ptr<fe_backend_ref, Releases<fe_backend_release>>;
using ArrayHandle = std::unique_ptr<fe_array, Releases<fe_array_release>>;
using GraphHandle = std::unique_ptr<fe_graph, Releases<fe_graph_release>>;
using CompiledHandle = std::unique_ptr<fe_compiled, Releases<fe_compiled_release>>;
using CallsHandle = std::unique_ptr<fe_calls, Releases<fe_calls_release>>;

// Calls a function whose last parameter is an output handle, and releases that handle.
template <auto release, class Handle, class Function, class... Arguments>
fe_error* given_back(Function function, Arguments... arguments) {
  Handle* handle = nullptr;
  fe_error* const error = function(arguments..., &handle);
  release(handle);
  return error;
}
template <class... Arguments>
fe_error* text_of(Arguments... arguments) {
  return given_back<fe_string_release, fe_string>(arguments...);
}
template <class... Arguments>
fe_error* array_of(Arguments... arguments) {
  return given_back<fe_array_release, fe_array>(arguments...);
}

template <auto release, class Handle>
void release_list(Handle** list, size_t count) {
  for (size_t i = 0; i < count; ++i) release(list[i]);
  fe_list_free(static_cast<void*>(list));
}

}  // namespace ferrule::test
