#include "open_device/open_device.h"

#ifdef __APPLE__
#include <time.h>
#endif

namespace ferrule::metal {
namespace {

fe_code code_of(CommandBufferError error) {
  switch (error) {
    case CommandBufferError::out_of_memory:
      return FE_OUT_OF_MEMORY;
    case CommandBufferError::timeout:  // of the system's watchdog
      return FE_TIMEOUT;
    case CommandBufferError::access_revoked:
    case CommandBufferError::not_permitted:
    case CommandBufferError::device_removed:
      return FE_DEVICE_LOST;
    default:
      return FE_INTERNAL;
  }
}

// The time now on the clock of GPUStartTime: the host's time without the time that the machine slept.
uint64_t awake_ns() {
#ifdef __APPLE__
  return clock_gettime_nsec_np(CLOCK_UPTIME_RAW);
#else
  return sdk::monotonic_ns();
#endif
}

}  // namespace

sdk::Error error_of(const std::string& device, Id error) {
  const auto code = static_cast<CommandBufferError>(error == nullptr ? 0 : send<Integer>(error, Message::code));
  return {code_of(code), device + " could not do its work: " + reason_of(error)};
}

uint64_t host_ns_of(double seconds) {
  const auto at = static_cast<uint64_t>(seconds * 1e9);
  const uint64_t awake = awake_ns(), now = sdk::monotonic_ns();
  return at <= awake ? now - std::min(now, awake - at) : now + (at - awake);
}

}  // namespace ferrule::metal
