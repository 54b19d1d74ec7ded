// A minimal host, and the CPU modules of this build that the machine can run.
#pragma once

#include "base/dtype.h"

#include <dlfcn.h>
#include <ferrule/backend.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cpu_backend {

// The host's own error type; fe_error itself belongs to the core, which this program also contains.
struct Failure {
  fe_code code;
  std::string message;
};
inline const Failure& failure(const fe_error* error) { return *reinterpret_cast<const Failure*>(error); }
inline void release(fe_error* error) { delete reinterpret_cast<Failure*>(error); }

inline uint32_t threads = 1;
// Called when a kernel starts a parallel loop, with the number of threads it may use. A test can record that number or
// simulate a concurrent action.
inline std::function<void(uint32_t)> before_parallel;

inline std::vector<std::string>& op_names() {
  static std::vector<std::string> names = {""};
  return names;
}
inline fe_op op_id(const char* name) {
  auto& names = op_names();
  for (size_t i = 1; i < names.size(); ++i)
    if (names[i] == name) return static_cast<fe_op>(i);
  names.emplace_back(name);
  return static_cast<fe_op>(names.size() - 1);
}
inline fe_dtype dtype_id(const char* name) {
  const ferrule::DTypeRow* const row = ferrule::find_dtype(std::string_view(name));
  return row ? static_cast<fe_dtype>(row->dtype) : 0;
}
inline size_t size_of(const char* dtype) { return ferrule::info_of(dtype_id(dtype))->block_bytes; }

inline fe_error* parallel_for(int64_t n, int64_t grain, uint32_t limit, fe_range_function fn, void* argument) {
  const uint32_t hands = limit == 0 ? threads : std::min(limit, threads);
  if (before_parallel) before_parallel(hands);
  if (hands == 1 || n <= grain) return fn(argument, 0, n, 0);
  const int64_t share = (n / grain / hands + 1) * grain;
  std::vector<std::thread> workers;
  std::vector<fe_error*> errors(hands, nullptr);
  for (uint32_t t = 0; t < hands; ++t) {
    const int64_t begin = std::min(n, t * share), end = std::min(n, begin + share);
    if (begin < end) workers.emplace_back([&, t, begin, end] { errors[t] = fn(argument, begin, end, t); });
  }
  for (std::thread& worker : workers) worker.join();
  for (fe_error* error : errors)
    if (error) return error;
  return nullptr;
}

inline const fe_host& host() {
  static const fe_host table = [] {
    fe_host h{};
    h.struct_size = sizeof h;
    h.error_create = [](fe_code code, const char* message) {
      return reinterpret_cast<fe_error*>(new Failure{code, message});
    };
    h.error_code = [](const fe_error* error) { return failure(error).code; };
    h.error_message = [](const fe_error* error) { return failure(error).message.c_str(); };
    h.error_release = [](fe_error* error) { release(error); };
    h.log = [](fe_log_level, const char*) {};
    h.op_id = op_id;
    h.op_name = [](fe_op op) { return op_names().at(op).c_str(); };
    h.dtype_id = dtype_id;
    h.dtype_name = [](fe_dtype dtype) { return ferrule::info_of(dtype) ? ferrule::info_of(dtype)->name : nullptr; };
    h.dtype_info = ferrule::info_of;
    h.parallel_for = parallel_for;
    h.thread_count = [] { return threads; };
    return h;
  }();
  return table;
}

inline void expect_no_error(fe_error* error) {
  if (!error) return;
  ADD_FAILURE() << failure(error).message;
  release(error);
}

struct Module {
  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module() {
    if (device) backend.device_close(device);
    if (backend.close) backend.close(backend.self);
  }
  std::string path;
  fe_backend backend{};
  fe_module_device* device = nullptr;
};

inline std::vector<std::string> module_paths() {
  std::vector<std::string> paths;
#ifdef FERRULE_CPU_X64_MODULE
  paths.emplace_back(FERRULE_CPU_X64_MODULE);
#endif
#ifdef FERRULE_CPU_HASWELL_MODULE
  paths.emplace_back(FERRULE_CPU_HASWELL_MODULE);
#endif
#ifdef FERRULE_CPU_SKYLAKEX_MODULE
  paths.emplace_back(FERRULE_CPU_SKYLAKEX_MODULE);
#endif
#ifdef FERRULE_CPU_ICELAKE_MODULE
  paths.emplace_back(FERRULE_CPU_ICELAKE_MODULE);
#endif
#ifdef FERRULE_CPU_ZEN4_MODULE
  paths.emplace_back(FERRULE_CPU_ZEN4_MODULE);
#endif
  return paths;
}

// Opened once, closed when the process ends.
inline std::vector<std::unique_ptr<Module>>& modules() {
  static std::vector<std::unique_ptr<Module>> opened = [] {
    std::vector<std::unique_ptr<Module>> list;
    for (const std::string& path : module_paths()) {
      void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (!handle) {
        ADD_FAILURE() << dlerror();
        continue;
      }
      const auto score = reinterpret_cast<fe_score_function>(dlsym(handle, FE_SCORE_SYMBOL));
      const auto init = reinterpret_cast<fe_init_function>(dlsym(handle, FE_INIT_SYMBOL));
      if (!score || !init || score() <= 0) continue;
      auto module = std::make_unique<Module>();
      module->path = path;
      module->backend.struct_size = sizeof module->backend;
      expect_no_error(init(&host(), &module->backend));
      expect_no_error(module->backend.device_open(module->backend.self, 0, nullptr, 0, &module->device));
      list.push_back(std::move(module));
    }
    return list;
  }();
  return opened;
}

}  // namespace cpu_backend
