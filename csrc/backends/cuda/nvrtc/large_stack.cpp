#include "nvrtc/large_stack.h"

#include <cerrno>
#include <exception>
#include <system_error>

#if defined(_WIN32)
#include <process.h>
#include <windows.h>
#else
#include <pthread.h>

#include <csignal>
#endif

namespace ferrule::cuda {
namespace {

constexpr size_t stack_bytes = size_t{8} << 20;

struct LargeStackCall {
  const std::function<void()>& work;
  std::exception_ptr thrown;

  void run() noexcept try { work(); } catch (...) {
    thrown = std::current_exception();
  }
};

#if defined(_WIN32)

unsigned __stdcall run_large(void* call) {
  static_cast<LargeStackCall*>(call)->run();
  return 0;
}

void run_in_large_thread(LargeStackCall& call) {
  const auto thread = reinterpret_cast<HANDLE>(
      _beginthreadex(nullptr, stack_bytes, run_large, &call, STACK_SIZE_PARAM_IS_A_RESERVATION, nullptr));
  if (thread == nullptr) throw std::system_error(errno, std::generic_category(), "a thread for the compiler");
  WaitForSingleObject(thread, INFINITE);
  CloseHandle(thread);
}

#else

void* run_large(void* call) {
  static_cast<LargeStackCall*>(call)->run();
  return nullptr;
}

void run_in_large_thread(LargeStackCall& call) {
  pthread_attr_t attributes;
  pthread_t thread{};
  sigset_t all, before;
  sigfillset(&all);
  // These signals tell of a fault of the thread itself. If they were blocked, the process would end without its
  // handler.
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) sigdelset(&all, fault);
  int error = pthread_attr_init(&attributes);
  if (error == 0) {
    error = pthread_attr_setstacksize(&attributes, stack_bytes);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // which the new thread inherits
    if (error == 0) error = pthread_create(&thread, &attributes, run_large, &call);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
  }
  if (error != 0) throw std::system_error(error, std::generic_category(), "a thread for the compiler");
  pthread_join(thread, nullptr);
}

#endif

}  // namespace

void call_with_large_stack(const std::function<void()>& work) {
  LargeStackCall call{work, nullptr};
  run_in_large_thread(call);
  if (call.thrown) std::rethrow_exception(call.thrown);
}

}  // namespace ferrule::cuda
