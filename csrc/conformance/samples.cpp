#include "conformance/graph.h"

#include <cstring>

namespace ferrule::conformance {

namespace {

constexpr Sample list[] = {
#include "op_samples.inc"
};

}  // namespace

std::span<const Sample> samples() { return list; }

std::string name_of(const Sample& sample) {
  std::string text = std::string(sample.op) + "(";
  for (size_t i = 0; i < sample.inputs.size(); ++i) text += (i ? ", " : "") + std::string(sample.inputs[i].dtype);
  return text + ")";
}

const sdk::OpInfo& info_of(const Sample& sample) {
  for (const sdk::OpInfo& info : sdk::op_table)
    if (std::strcmp(info.name, sample.op) == 0) return info;
  throw Failure{std::string("op_table.hpp lacks ") + sample.op};
}

}  // namespace ferrule::conformance
