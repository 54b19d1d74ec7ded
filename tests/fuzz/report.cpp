// A load report as JSON, which a program may have kept, or changed: read, printed, and written again as it was read.
#include "core/error.h"
#include "core/json_object.h"
#include "core/loader/report.h"

#include <cstdint>
#include <cstdlib>
#include <string>

using namespace ferrule;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const LoadReport report = report_from_json(*parse_object("load_report_text", text.c_str()));
    static_cast<void>(to_text(report));
    const std::string written = to_json(report);
    if (to_json(report_from_json(*parse_json(written))) != written) std::abort();
  } catch (const Error& error) {
    if (error.code() != FE_INVALID_ARGUMENT || *error.what() == '\0') std::abort();
  }
  return 0;
}
