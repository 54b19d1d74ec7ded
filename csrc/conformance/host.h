// A minimal host for the module under test: it counts the errors that it makes and keeps the log lines.
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

// Number of errors that were created and not released, and of releases of invalid errors.
size_t live_errors();
size_t wrong_releases();
std::vector<std::string> log_lines();

// The code and message of an error of the module, which is released. No error: FE_OK and "".
struct Outcome {
  fe_code code = FE_OK;
  std::string message;
  explicit operator bool() const { return code == FE_OK; }  // true: success
};
Outcome take(fe_error* error);
const char* name_of(fe_code code);

}  // namespace ferrule::conformance
