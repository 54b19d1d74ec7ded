// Shared by the checks that call slots with invalid arguments, which a core never passes.
#pragma once

#include "conformance/graph.h"

#include <array>
#include <functional>
#include <span>
#include <string>

namespace ferrule::conformance {

// The objects that the slots are called with.
struct Stage {
  explicit Stage(const Subject& subject) : opened(subject), b(opened.backend.table()), device(opened.device.handle()) {}
  Opened opened;
  const fe_backend& b;
  fe_module_device* device;
  fe_module_queue* queue() const { return opened.device.queue(); }
};

// Invalid arguments for one slot, or for a few related slots. Each case is a check.
struct ArgumentCase {
  const char* name;
  void (*run)(Stage&, Report&);
};
void add_argument_cases(Checks& checks, std::span<const ArgumentCase> cases);

// The description of a case: "copy with null for the buffer".
std::string with_null(const char* slot, const char* argument);

// Reports a problem unless the call returns an error with a message.
void refuse(Report& report, const std::string& what, const std::function<fe_error*()>& call);
inline void refuse_null(Report& report, const char* slot, const char* argument,
                        const std::function<fe_error*()>& call) {
  refuse(report, with_null(slot, argument), call);
}

template <class Handle>
Handle* sentinel() {
  static std::array<char, 64> nothing{};
  return reinterpret_cast<Handle*>(nothing.data());
}

// Reports a problem unless the call returns an error and does not change the output parameter.
template <class Handle>
void refuse_and_keep(Report& report, const std::string& what, const std::function<fe_error*(Handle**)>& call) {
  Handle* out = sentinel<Handle>();
  refuse(report, what, [&] { return call(&out); });
  if (out != sentinel<Handle>()) report.problem(what + " changes what was to be filled");
}
template <class Handle>
void refuse_null_and_keep(Report& report, const char* slot, const char* argument,
                          const std::function<fe_error*(Handle**)>& call) {
  refuse_and_keep<Handle>(report, with_null(slot, argument), call);
}

// Ranges outside a buffer of 64 bytes; the end of the last two overflows.
struct BadRange {
  uint64_t offset, size;
  std::string text() const;
};
inline constexpr std::array bad_ranges = {BadRange{0, 65}, BadRange{64, 1}, BadRange{1, 64}, BadRange{UINT64_MAX, 1},
                                          BadRange{UINT64_MAX - 7, 16}};

}  // namespace ferrule::conformance
