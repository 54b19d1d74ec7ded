#include "cuda/runtime/settings.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>

#include "cuda/runtime/state.h"
#include "emulation/environment.h"

namespace emulation {
namespace {

// Reads a number from the beginning of `text`; the rest is left there.
template <class T>
bool read_number(std::string_view& text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

template <class T>
void set_number(const char* variable, T& value) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return;
  std::string_view rest = text;
  if (!read_number(rest, value) || !rest.empty()) refuse(variable, text, "a number");
}

void set_capability(Settings& made) {
  const char* const variable = "FERRULE_EMULATION_CAPABILITY";
  const char* const text = std::getenv(variable);
  if (text == nullptr) return;
  std::string_view rest = text;
  const bool has_major = read_number(rest, made.major) && rest.starts_with('.');
  if (has_major) rest.remove_prefix(1);
  if (!has_major || !read_number(rest, made.minor) || !rest.empty()) refuse(variable, text, "a number like 9.0");
}

void set_compute_mode(Settings& made) {
  const char* const variable = "FERRULE_EMULATION_COMPUTE_MODE";
  const char* const text = std::getenv(variable);
  if (text == nullptr) return;
  const std::string_view mode = text;
  if (mode == "prohibited")
    made.compute_mode = cudaComputeModeProhibited;
  else if (mode == "exclusive_process")
    made.compute_mode = cudaComputeModeExclusiveProcess;
  else if (mode == "taken")
    made.compute_mode = cudaComputeModeExclusiveProcess, made.is_taken = true;
  else if (mode != "default")
    refuse(variable, text, "default, exclusive_process, taken or prohibited");
}

// The error of a name or number; cudaSuccess if there is none.
cudaError_t read_error(std::string_view text) {
  const cudaError_t named = error_of_name(text);
  int number = 0;
  if (named != cudaSuccess || !read_number(text, number) || !text.empty()) return named;
  return static_cast<cudaError_t>(number);
}

void set_fault_at(Settings& made) {
  const char* const variable = "FERRULE_EMULATION_FAULT_AT";
  const char* const text = std::getenv(variable);
  if (text == nullptr) return;
  const char* const wanted = "<number of the operation, from 1 on>:<name or number of an error>";
  std::string_view rest = text;
  if (!read_number(rest, made.fault_at) || made.fault_at == 0 || !rest.starts_with(':')) refuse(variable, text, wanted);
  rest.remove_prefix(1);
  made.fault = read_error(rest);
  if (made.fault == cudaSuccess) refuse(variable, text, wanted);
}

// Takes "<function>:" off the front of `rest`, which is the value `text` of that variable, and returns the function.
std::string take_function(std::string_view& rest, const char* variable, const char* text, const char* wanted) {
  const std::size_t colon = rest.find(':');
  if (colon == 0 || colon == std::string_view::npos) refuse(variable, text, wanted);
  const std::string function(rest.substr(0, colon));
  rest.remove_prefix(colon + 1);
  return function;
}

void set_failing_call(Settings& made) {
  const char* const variable = "FERRULE_EMULATION_CALL_FAILS";
  const char* const text = std::getenv(variable);
  if (text == nullptr) return;
  const char* const wanted =
      "<name of a function, or *>:<number of the call, from 1 on, or *>:<name or number of an error>[:passes]";
  std::string_view rest = text;
  made.failing_function = take_function(rest, variable, text, wanted);
  if (rest.starts_with('*'))
    rest.remove_prefix(1);
  else if (!read_number(rest, made.failing_call) || made.failing_call == 0)
    refuse(variable, text, wanted);
  if (!rest.starts_with(':')) refuse(variable, text, wanted);
  rest.remove_prefix(1);
  constexpr std::string_view passes = ":passes";
  made.call_error_passes = rest.ends_with(passes);
  if (made.call_error_passes) rest.remove_suffix(passes.size());
  made.call_error = read_error(rest);
  if (made.call_error == cudaSuccess) refuse(variable, text, wanted);
}

void set_late_calls(Settings& made) {
  const char* const variable = "FERRULE_EMULATION_CALL_LATE";
  const char* const text = std::getenv(variable);
  if (text == nullptr) return;
  const char* const wanted = "<name of a function>:<number of calls>";
  std::string_view rest = text;
  made.late_function = take_function(rest, variable, text, wanted);
  if (!read_number(rest, made.late_calls) || !rest.empty()) refuse(variable, text, wanted);
}

void set_choice(const char* name, bool& choice) {
  int number = choice ? 1 : 0;
  set_number(name, number);
  if (number < 0 || number > 1) refuse(name, std::getenv(name), "0 or 1");
  choice = number == 1;
}

Settings read() {
  Settings made;
  set_number("FERRULE_EMULATION_DRIVER", made.driver);
  set_number("FERRULE_EMULATION_DEVICES", made.devices);
  if (made.devices > most_devices)
    refuse("FERRULE_EMULATION_DEVICES", std::getenv("FERRULE_EMULATION_DEVICES"), "0 to 16");
  set_number("FERRULE_EMULATION_MIG", made.instances);
  if (made.instances > 7) refuse("FERRULE_EMULATION_MIG", std::getenv("FERRULE_EMULATION_MIG"), "0 to 7");
  made.visible = visible_devices(made.devices, made.instances, std::getenv("CUDA_VISIBLE_DEVICES"));
  if (made.visible.size() > most_devices)
    refuse("CUDA_VISIBLE_DEVICES", std::getenv("CUDA_VISIBLE_DEVICES"), "a list of up to 16 devices");
  set_number("FERRULE_EMULATION_MEMORY", made.memory);
  set_capability(made);
  set_number("FERRULE_EMULATION_MULTIPROCESSORS", made.multiprocessors);
  if (made.multiprocessors < 0)
    refuse("FERRULE_EMULATION_MULTIPROCESSORS", std::getenv("FERRULE_EMULATION_MULTIPROCESSORS"), "a number from 0 on");
  set_choice("FERRULE_EMULATION_INTEGRATED", made.is_integrated);
  set_choice("FERRULE_EMULATION_PAGEABLE", made.is_pageable);
  set_choice("FERRULE_EMULATION_POOLS", made.has_pools);
  set_compute_mode(made);
  set_fault_at(made);
  set_failing_call(made);
  set_late_calls(made);
  block_limit();  // refuses a wrong value now, as the next line does
  std::uint64_t seed = 0;
  order_from_environment(seed);  // which is read again at each launch
  if (const char* const log = std::getenv("FERRULE_EMULATION_LOG")) made.log = log;
  return made;
}

}  // namespace

const Settings& settings() {
  static const Settings all = read();
  return all;
}

}  // namespace emulation
