// Shared by the checks that call slots with invalid arguments, which a core never passes.
#pragma once

#include "conformance/graph.h"

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>

namespace ferrule::conformance {

// The objects that the slots are called with.
struct Stage {
  explicit Stage(const Subject& subject) : opened(subject), b(opened.backend.table()), device(opened.device.handle()) {}
  Opened opened;
  const fe_backend& b;
  fe_module_device* device;
  fe_module_queue* queue() const { return opened.device.queue(); }
  // The name of a slot's queue for refuse_nulls: a backend without queues is given null.
  const char* queue_name() const { return queue() ? "the queue" : ""; }
};

// Invalid arguments for one slot, or for a few related slots. Each case is a check.
struct ArgumentCase {
  const char* name;
  void (*run)(Stage&, Report&);
};
void add_argument_cases(Checks& checks, std::span<const ArgumentCase> cases);

// Reports a problem unless the call returns an error with a message.
void refuse(Report& report, const std::string& what, const std::function<fe_error*()>& call);

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

// ---- null

template <class T>
void set_null(T& argument) {
  if constexpr (std::is_pointer_v<T>) argument = nullptr;
}
// Marks and compares places for handles only.
template <class T>
void mark_output(T) {}
template <class Handle>
void mark_output(Handle** out) {
  if (out) *out = sentinel<Handle>();
}
template <class T>
bool is_changed_output(T) {
  return false;
}
template <class Handle>
bool is_changed_output(Handle** out) {
  return out && *out != sentinel<Handle>();
}

// Calls the slot once with null for each of its named arguments; "" is not replaced. Reports a problem unless the call
// returns an error and does not change the handle that it was to fill.
template <class... Parameters>
void refuse_nulls(Report& report, const char* slot, fe_error* (*function)(Parameters...),
                  const std::array<const char*, sizeof...(Parameters)>& names,
                  std::type_identity_t<Parameters>... given) {
  for (size_t null = 0; null < names.size(); ++null) {
    if (*names[null] == '\0') continue;
    std::tuple<Parameters...> arguments{given...};
    size_t at = 0;
    std::apply([&](auto&... each) { ((at++ == null ? set_null(each) : mark_output(each)), ...); }, arguments);
    const std::string what = std::string(slot) + " with null for " + names[null];
    refuse(report, what, [&] { return std::apply(function, arguments); });
    if (std::apply([](auto... each) { return (is_changed_output(each) || ...); }, arguments))
      report.problem(what + " changes what was to be filled");
  }
}

// Ranges outside a buffer of 64 bytes; the end of the last two overflows.
struct BadRange {
  uint64_t offset, size;
  std::string text() const;
};
inline constexpr std::array bad_ranges = {BadRange{0, 65}, BadRange{64, 1}, BadRange{1, 64}, BadRange{UINT64_MAX, 1},
                                          BadRange{UINT64_MAX - 7, 16}};

}  // namespace ferrule::conformance
