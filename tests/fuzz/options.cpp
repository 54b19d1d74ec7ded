// The JSON options of load and load_all, as text from a program.
#include "core/error.h"
#include "core/loader/options/options_from_json.h"

#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

template <class Parse>
void try_options(Parse parse, const char* text) {
  try {
    static_cast<void>(parse(text));
  } catch (const ferrule::Error& error) {
    if (error.code() != FE_INVALID_ARGUMENT || *error.what() == '\0') std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try_options(ferrule::load_all_options, text.c_str());
  try_options(ferrule::load_options, text.c_str());
  return 0;
}
