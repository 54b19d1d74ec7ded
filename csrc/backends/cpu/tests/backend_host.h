// A host with threads and all ops, and the CPU modules of this build that the machine can run.
#pragma once

#include "core/platform/libraries/dynamic_library.h"
#include "fake_host.h"

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

using ferrule::test::dtype_id;
using ferrule::test::failure;
using ferrule::test::release_error;

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
    fe_host slots = ferrule::test::fake_host();
    slots.op_id = op_id;
    slots.op_name = [](fe_op op) { return op_names().at(op).c_str(); };
    slots.parallel_for = parallel_for;
    slots.thread_count = [] { return threads; };
    return slots;
  }();
  return table;
}

inline void expect_no_error(fe_error* error) {
  if (!error) return;
  ADD_FAILURE() << failure(error).message;
  release_error(error);
}

struct Module {
  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module() {
    if (device) backend.device_close(device);
    if (backend.close) backend.close(backend.self);
  }
  std::shared_ptr<ferrule::DynamicLibrary> code;
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
#ifdef FERRULE_CPU_SAPPHIRERAPIDS_MODULE
  paths.emplace_back(FERRULE_CPU_SAPPHIRERAPIDS_MODULE);
#endif
#ifdef FERRULE_CPU_SIMULATED_AMX_MODULE
  paths.emplace_back(FERRULE_CPU_SIMULATED_AMX_MODULE);
#endif
  return paths;
}

// Whether the module may choose the kernel for an op that has one for AMX, too. The system may refuse its registers to
// the process.
inline bool may_choose(const std::string& path, const std::string& op, const std::string& kernel) {
  const bool simulates = path.find("simulated_amx") != std::string::npos;
  const bool has_amx = simulates || path.find("sapphirerapids") != std::string::npos;
  return (kernel == op && !simulates) || (kernel == "amx_" + op && has_amx);
}

// Opened once, closed when the process ends.
inline std::vector<std::unique_ptr<Module>>& modules() {
  static std::vector<std::unique_ptr<Module>> opened = [] {
    std::vector<std::unique_ptr<Module>> list;
    for (const std::string& path : module_paths()) {
      auto module = std::make_unique<Module>();
      module->code = ferrule::DynamicLibrary::open(path);
      const auto score = module->code->function<fe_score_function>(FE_SCORE_SYMBOL);
      const auto init = module->code->function<fe_init_function>(FE_INIT_SYMBOL);
      if (!score || !init || score() <= 0) continue;
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
