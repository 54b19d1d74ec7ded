#include "core/error.h"

#include <cstdlib>
#include <cstring>
#include <new>

struct fe_error {
  fe_code code;
  const char* message;
};

namespace ferrule {
namespace {

// Returned when there is no memory for an error; never freed.
constinit fe_error out_of_memory = {FE_OUT_OF_MEMORY, "out of memory"};

}  // namespace

fe_error* make_error(fe_code code, std::string_view message) noexcept {
  void* memory = std::malloc(sizeof(fe_error) + message.size() + 1);
  if (memory == nullptr) return &out_of_memory;
  char* text = static_cast<char*>(memory) + sizeof(fe_error);
  std::memcpy(text, message.data(), message.size());
  text[message.size()] = '\0';
  // An error must not have the code of a success, so FE_OK and unknown codes become FE_INTERNAL.
  return new (memory) fe_error{code > FE_OK && code < FE_CODE_COUNT ? code : FE_INTERNAL, text};
}

fe_error* to_error(const Error& error) noexcept { return make_error(error.code(), error.what()); }

fe_error* to_error_of_current_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return to_error(error);
  } catch (const std::bad_alloc&) {
    return &out_of_memory;
  } catch (const std::exception& exception) {
    return make_error(FE_INTERNAL, exception.what());
  } catch (...) {
    return make_error(FE_INTERNAL, "an exception of an unknown type");
  }
}

fe_code code_of(const fe_error* error) noexcept { return error != nullptr ? error->code : FE_OK; }

const char* message_of(const fe_error* error) noexcept { return error != nullptr ? error->message : ""; }

void release(fe_error* error) noexcept {
  if (error == nullptr || error == &out_of_memory) return;
  std::free(error);
}

void check(fe_error* error) {
  if (error == nullptr) return;
  const ErrorPointer owned(error);
  throw Error(code_of(error), message_of(error));
}

const char* name_of(fe_code code) noexcept {
  switch (code) {
    case FE_OK:
      return "ok";
    case FE_INVALID_ARGUMENT:
      return "invalid_argument";
    case FE_UNSUPPORTED:
      return "unsupported";
    case FE_OUT_OF_MEMORY:
      return "out_of_memory";
    case FE_DEVICE_LOST:
      return "device_lost";
    case FE_ABI_MISMATCH:
      return "abi_mismatch";
    case FE_NOT_FOUND:
      return "not_found";
    case FE_IO:
      return "io";
    case FE_TIMEOUT:
      return "timeout";
    case FE_CANCELLED:
      return "cancelled";
    case FE_INTERNAL:
    case FE_CODE_COUNT:
      break;
  }
  return "internal";
}

}  // namespace ferrule
