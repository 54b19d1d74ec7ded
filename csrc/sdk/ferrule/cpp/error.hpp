// Errors, and access to the host (fe_host). See ferrule/backend.hpp.
#ifndef FERRULE_CPP_ERROR_HPP
#define FERRULE_CPP_ERROR_HPP

#include <ferrule/module.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace ferrule::sdk {

// The exception of this wrapper: a code and one sentence.
class Error : public std::runtime_error {
 public:
  Error(fe_code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  fe_code code() const noexcept { return code_; }

 private:
  fe_code code_;
};

// A pointer to the core's functions. Threads that register one linked-in module at once all set it.
class HostPointer {
 public:
  constexpr HostPointer() noexcept = default;
  HostPointer& operator=(const fe_host* host) noexcept {
    host_.store(host, std::memory_order_release);
    return *this;
  }
  operator const fe_host*() const noexcept { return host_.load(std::memory_order_acquire); }
  const fe_host* operator->() const noexcept { return *this; }

 private:
  std::atomic<const fe_host*> host_{nullptr};
};

// The core's functions; set before any other code of the module runs.
inline constinit HostPointer host;

// Runs `function` and returns the exception that it throws as an error of the core; null if it throws none.
template <class Function>
fe_error* guarded(Function&& function) noexcept {
  try {
    std::forward<Function>(function)();
    return nullptr;
  } catch (const Error& error) {
    return host->error_create(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return host->error_create(FE_OUT_OF_MEMORY, "out of host memory");
  } catch (const std::exception& error) {
    return host->error_create(FE_INTERNAL, error.what());
  } catch (...) {
    return host->error_create(FE_INTERNAL, "an exception that is not a std::exception");
  }
}

// Throws `error` as an Error and releases it; does nothing for null.
inline void check(fe_error* error) {
  if (!error) return;
  const Error copy(host->error_code(error), host->error_message(error));
  host->error_release(error);
  throw copy;
}

// Calls function(begin, end, thread) for ranges of [0, n) on the core's threads (fe_host.parallel_for). Bounds of
// ranges are multiples of `grain`; at most `limit` threads take part (0 = all). Throws the first exception of
// `function`.
template <class Function>
void parallel_for(int64_t n, int64_t grain, uint32_t limit, Function&& function) {
  using Callable = std::remove_reference_t<Function>;
  const auto call = [](void* argument, int64_t begin, int64_t end, uint32_t thread) -> fe_error* {
    return guarded([&] { (*static_cast<Callable*>(argument))(begin, end, thread); });
  };
  check(host->parallel_for(n, grain, limit, call, const_cast<std::remove_const_t<Callable>*>(&function)));
}

}  // namespace ferrule::sdk

#endif
