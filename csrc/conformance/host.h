// A core of our own, as small as a module can be held against: it counts the errors that it makes and keeps what is
// logged.
#pragma once

#include <ferrule/backend.h>

#include <cstddef>
#include <string>
#include <vector>

namespace ferrule::conformance {

const fe_host& host();

fe_op op_id(const char* name);
const char* op_name(fe_op op);
fe_dtype dtype_id(const char* name);
const char* dtype_name(fe_dtype dtype);
const fe_dtype_info* dtype_info(fe_dtype dtype);

// Errors created and not yet released, and releases of what was no error.
size_t live_errors();
size_t wrong_releases();
std::vector<std::string> log_lines();

// An error taken from the module: what it says, released. No error: FE_OK and "".
struct Outcome {
  fe_code code = FE_OK;
  std::string message;
  explicit operator bool() const { return code == FE_OK; }  // true: it went well
};
Outcome take(fe_error* error);
const char* name_of(fe_code code);

}  // namespace ferrule::conformance
