#include "device/errors.h"

#include <algorithm>
#include <array>

namespace ferrule::cuda {
namespace {

// From the descriptions of cudaError_t: "the process must be terminated and relaunched", or an equivalent. The numbers
// are those of driver_types.h.
constexpr std::array lasting = {214,   // cudaErrorECCUncorrectable
                                220,   // cudaErrorNvlinkUncorrectable
                                226,   // cudaErrorContained
                                700,   // cudaErrorIllegalAddress
                                702,   // cudaErrorLaunchTimeout
                                709,   // cudaErrorContextIsDestroyed
                                710,   // cudaErrorAssert
                                714,   // cudaErrorHardwareStackError
                                715,   // cudaErrorIllegalInstruction
                                716,   // cudaErrorMisalignedAddress
                                717,   // cudaErrorInvalidAddressSpace
                                718,   // cudaErrorInvalidPc
                                719,   // cudaErrorLaunchFailure
                                721,   // cudaErrorTensorMemoryLeak
                                810,   // cudaErrorMpsClientTerminated
                                999};  // cudaErrorUnknown

// Whether a call failed because somebody captures the stream or event: cudaErrorStreamCaptureUnsupported to
// cudaErrorStreamCaptureWrongThread.
bool is_of_capture(cudaError_t error) { return error >= 900 && error <= 908; }

}  // namespace

std::string text_of(cudaError_t error) {
  return std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error);
}

bool is_lasting(cudaError_t error) {
  return std::find(lasting.begin(), lasting.end(), static_cast<int>(error)) != lasting.end();
}

sdk::Error error_of(cudaError_t error, const std::string& call) {
  const fe_code code = is_lasting(error)                      ? FE_DEVICE_LOST
                       : error == cudaErrorMemoryAllocation   ? FE_OUT_OF_MEMORY
                       : error == cudaErrorNotSupported       ? FE_UNSUPPORTED
                       : is_of_capture(error)                 ? FE_UNSUPPORTED
                       : error == cudaErrorDevicesUnavailable ? FE_UNSUPPORTED
                                                              : FE_INTERNAL;
  // Calls also report errors that are no longer wanted by cudaGetLastError.
  cudaGetLastError();
  return {code, call + " failed with " + text_of(error)};
}

}  // namespace ferrule::cuda
