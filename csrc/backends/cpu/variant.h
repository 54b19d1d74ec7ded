// The CPU features that the module's variant requires: defined in table.cpp.in, from variants/.
#pragma once

#include <ferrule/cpp/cpu_features.hpp>

namespace ferrule::cpu {

struct Variant {
  int rank;  // the module's score on a processor that has the features
  sdk::processor::FeatureSet features;
};
extern const Variant variant;

}  // namespace ferrule::cpu
