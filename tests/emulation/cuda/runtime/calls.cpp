// The beginning of each call: the log, failures on request, contexts of devices.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "cuda/runtime/process_state.h"
#include "cuda/runtime/state.h"

namespace emulation {
namespace {

void log_line(const std::string& line) {
  if (settings().log.empty()) return;
  static const int file = ::open(settings().log.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  const std::string whole = line + "\n";
  // One call, so that lines of several threads stay whole. Nothing can be done about an error.
  if (file >= 0) static_cast<void>(!::write(file, whole.data(), whole.size()));
}

// Whether the process must be relaunched, according to the description of the error in cudaError_t.
bool is_lasting(cudaError_t error) {
  constexpr cudaError_t all[] = {cudaErrorECCUncorrectable,
                                 cudaErrorNvlinkUncorrectable,
                                 cudaErrorContained,
                                 cudaErrorIllegalAddress,
                                 cudaErrorLaunchTimeout,
                                 cudaErrorAssert,
                                 cudaErrorHardwareStackError,
                                 cudaErrorIllegalInstruction,
                                 cudaErrorMisalignedAddress,
                                 cudaErrorInvalidAddressSpace,
                                 cudaErrorInvalidPc,
                                 cudaErrorLaunchFailure,
                                 cudaErrorUnknown};
  return std::find(std::begin(all), std::end(all), error) != std::end(all);
}

// Whether FERRULE_EMULATION_CALL_FAILS names this call.
bool is_to_fail(const char* function) {
  static constinit std::atomic<std::uint64_t> calls{0};
  const std::string& chosen = settings().failing_function;
  if (chosen.empty() || (chosen != "*" && chosen != function)) return false;
  const std::uint64_t number = ++calls;
  return settings().failing_call == 0 || number == settings().failing_call;
}

// Delays the call as if the system had another thread run first, if FERRULE_EMULATION_CALL_LATE says so.
void wait_if_late(const char* function) {
  static constinit std::atomic<std::uint64_t> calls{0};
  if (settings().late_function == function && calls++ < settings().late_calls)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

}  // namespace

cudaError_t begin_call(const char* function) {
  wait_if_late(function);
  log_line(function);
  if (!is_to_fail(function)) return cudaSuccess;
  const cudaError_t error = settings().call_error;
  log_line(std::string("failed ") + function);
  if (is_lasting(error) && !settings().call_error_passes && availability() == cudaSuccess)
    set_fault(current_device(), error, std::string(function) + " fails because FERRULE_EMULATION_CALL_FAILS says so");
  return error;
}

cudaError_t begin_device_call(const char* function) {
  if (availability() == cudaSuccess && !is_refused()) {
    Device& device = current_device();
    create_context(device);
    ThreadState state = thread_state();
    if (state.device < 0) {
      state.device = device.number;
      set_thread_state(state);
    }
  }
  return begin_call(function);
}

cudaError_t begin_unsafe_call(const char* function) {
  const cudaError_t error = begin_device_call(function);
  return error == cudaSuccess && is_forbidden_by_capture() ? cudaErrorStreamCaptureUnsupported : error;
}

void create_context(Device& device) {
  if (!device.has_context.exchange(true)) log_line("context " + std::to_string(device.number));
}

void log_made(const char* kind) { log_line(std::string("+ ") + kind); }
void log_ended(const char* kind) { log_line(std::string("- ") + kind); }
void log_dependencies(std::size_t count) { log_line("dependencies " + std::to_string(count)); }

}  // namespace emulation
