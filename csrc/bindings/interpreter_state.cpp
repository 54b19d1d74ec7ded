#include "interpreter_state.h"

#include <Python.h>

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace ferrule::python {
namespace {

using Question = int (*)();

// Null in a Python that does not export the function.
Question is_gil_held = nullptr;
Question is_python_finalizing = nullptr;

Question exported(const char* name) {
#if defined(_WIN32)
  // The data of Python is in its own library, whatever the name of the one that the extension was linked with.
  HMODULE python = nullptr;
  constexpr DWORD by_address = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  if (GetModuleHandleExW(by_address, reinterpret_cast<LPCWSTR>(&PyLong_Type), &python) == 0) return nullptr;
  return reinterpret_cast<Question>(reinterpret_cast<void (*)()>(GetProcAddress(python, name)));
#else
  return reinterpret_cast<Question>(dlsym(RTLD_DEFAULT, name));
#endif
}

}  // namespace

void find_interpreter_functions() {
  is_gil_held = exported("PyGILState_Check");
  is_python_finalizing = exported("Py_IsFinalizing");  // since 3.13
  if (is_python_finalizing == nullptr) is_python_finalizing = exported("_Py_IsFinalizing");
}

bool has_gil() noexcept { return is_gil_held != nullptr && is_gil_held() != 0; }

bool is_finalizing() noexcept {
  return Py_IsInitialized() == 0 || (is_python_finalizing != nullptr && is_python_finalizing() != 0);
}

}  // namespace ferrule::python
