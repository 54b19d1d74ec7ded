// Functions that the plans of many ops share.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "graphs/elementwise_text.h"
#include "graphs/grid.h"
#include "graphs/layout.h"
#include "graphs/plan.h"

namespace ferrule::metal {

inline bool computes_in_float(const sdk::Operand& x) { return is_half(x) || x.is("float32"); }

using sdk::general_refusal;

inline Plan plan_named(std::string kernel) {
  Plan plan;
  plan.support.kernel = std::move(kernel);
  return plan;
}

// "#define NAME value", as a line of a kernel's text.
inline std::string definition(std::string_view name, const std::string& value) {
  return "#define " + std::string(name) + " " + value + "\n";
}
inline std::string definition(std::string_view name, uint64_t value) { return definition(name, std::to_string(value)); }

// A dispatch of a kernel of the file kernels/<file>.metal, with a thread for each of `count` elements.
template <class Parameters>
Dispatch kernel_dispatch(const std::string& file, const std::string& function, const std::string& definitions,
                         const Parameters& p, std::vector<uint32_t> reads, std::vector<uint32_t> writes, uint64_t count,
                         uint32_t threads = 256) {
  Dispatch dispatch;
  dispatch.kernel = {.text = definitions + "#include \"" + file + ".metal\"\n", .function = function};
  dispatch.set_parameters(p);
  dispatch.reads = std::move(reads);
  dispatch.writes = std::move(writes);
  set_grid(dispatch, count, threads);
  return dispatch;
}

// The text of element_at(from, at), the element as it is computed.
inline std::string element_access(const Format& format) {
  const std::string stored(format.stored), computed(format.computed);
  const std::string value =
      format.is_half || format.name == "bool" ? "load_" + std::string(format.name) + "(from, at)" : "from[at]";
  return "inline " + computed + " element_at(device const " + stored + "* from, long at) { return " + value + "; }\n";
}

// The text of tile_element(from, at), the element in a tile that simdgroups multiply. Apple's GPUs convert a half by
// one instruction, which keeps subnormal numbers (docs/metal.md).
inline std::string tile_access(const Format& format) {
  const std::string value = format.name == "f16" ? "float(as_type<half>(from[at]))" : "element_at(from, at)";
  return "inline float tile_element(device const " + std::string(format.stored) + "* from, long at) { return " + value +
         "; }\n";
}

// The text of store_element(to, at, x), which rounds to the dtype.
inline std::string element_store(const Format& format) {
  const std::string stored(format.stored), computed(format.computed), name(format.name);
  const std::string store = format.is_half          ? "store_" + name + "(to, at, rounded_" + name + "(x))"
                            : format.name == "bool" ? "store_bool(to, at, x)"
                                                    : "to[at] = x";
  return "inline void store_element(device " + stored + "* to, long at, " + computed + " x) { " + store + "; }\n";
}

// "typedef type name;", as a line of a kernel's text.
inline std::string type_definition(std::string_view name, std::string_view type) {
  return "typedef " + std::string(type) + " " + std::string(name) + ";\n";
}

}  // namespace ferrule::metal
