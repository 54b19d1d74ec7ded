// The structs of ferrule.h that begin with struct_size, as callers with other headers know them. A struct only grows.
// A caller with older headers has a shorter one, and one with newer headers a longer one: both sides use the fields
// that both know. A struct that is shorter than its first version is refused.
#pragma once

#include "core/error.h"

#include <ferrule/ferrule.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace ferrule {

// The size of the first version of a struct, to the end of its last field. A field that is appended later changes
// nothing here. Not defined for other types.
template <class Struct>
struct FirstVersion;
#define FIRST_VERSION(name, last_field)                                                        \
  template <>                                                                                  \
  struct FirstVersion<name> {                                                                  \
    static constexpr std::size_t size = offsetof(name, last_field) + sizeof(name::last_field); \
  };
FIRST_VERSION(fe_array_info, nbytes)
FIRST_VERSION(fe_attribute, reals)
FIRST_VERSION(fe_backend_details, closed)
FIRST_VERSION(fe_calls_info, size)
FIRST_VERSION(fe_compile_options, guarded)
FIRST_VERSION(fe_compiled_info, output_count)
FIRST_VERSION(fe_compute_options, out_bytes)
FIRST_VERSION(fe_device_details, uuid)
FIRST_VERSION(fe_feature, value)
FIRST_VERSION(fe_host_memory, release_argument)
FIRST_VERSION(fe_load_candidate, times)
FIRST_VERSION(fe_load_options, reprobe)
FIRST_VERSION(fe_load_report_info, milliseconds)
FIRST_VERSION(fe_load_root, problem)
FIRST_VERSION(fe_memory_stats, peak)
FIRST_VERSION(fe_native_array, byte_offset)
FIRST_VERSION(fe_native_device, stream)
FIRST_VERSION(fe_option, value)
FIRST_VERSION(fe_option_info, doc)
FIRST_VERSION(fe_program_backend, preference)
FIRST_VERSION(fe_stats, threads)
FIRST_VERSION(fe_trace_event, device)
FIRST_VERSION(fe_trace_info, end_ns)
#undef FIRST_VERSION

// The size of the fields that the caller and this library know. Throws if the pointer is null, or the size less than
// that of the first version. `what`: the argument's name.
template <class Struct>
std::size_t known_size(const char* function, const Struct* given, const char* what) {
  if (!given) fail_argument("{}: {} is NULL", function, what);
  if (given->struct_size < FirstVersion<Struct>::size)
    fail_argument("{}: {} has a struct_size of {}, less than {}", function, what, given->struct_size,
                  FirstVersion<Struct>::size);
  return std::min(given->struct_size, sizeof(Struct));
}

// A copy of the caller's struct. Fields that the caller does not know are zero.
template <class Struct>
Struct read_struct(const char* function, const Struct* given, const char* what) {
  Struct read{};
  std::memcpy(&read, given, known_size(function, given, what));
  read.struct_size = sizeof read;
  return read;
}

// The caller's options; the defaults, which are zero, for NULL.
template <class Options>
Options read_options(const char* function, const Options* given) {
  return given ? read_struct(function, given, "options") : Options{};
}

// Fills the fields of the caller's struct that the caller knows, and sets its struct_size to the size that it filled.
template <class Struct>
void fill_struct(const char* function, Struct* out, Struct value) {
  value.struct_size = known_size(function, out, "out");
  std::memcpy(out, &value, value.struct_size);
}

}  // namespace ferrule
