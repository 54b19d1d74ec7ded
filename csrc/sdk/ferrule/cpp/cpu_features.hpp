// The CPU features of the architecture that this is compiled for, as ferrule::sdk::processor: the table `features`,
// `row_of_feature`, `FeatureSet`, `set_of` and `read_processor`. Elsewhere than on x86-64 and 64-bit Arm the table is
// absent, and FERRULE_HAS_CPU_FEATURES is not defined.
#ifndef FERRULE_CPP_CPU_FEATURES_HPP
#define FERRULE_CPP_CPU_FEATURES_HPP

#include <ferrule/cpp/arm_features.hpp>
#include <ferrule/cpp/x86_features.hpp>

#if defined(FERRULE_X86)
#define FERRULE_HAS_CPU_FEATURES 1
namespace ferrule::sdk {
namespace processor = x86;
}
#elif defined(FERRULE_ARM)
#define FERRULE_HAS_CPU_FEATURES 1
namespace ferrule::sdk {
namespace processor = arm;
}
#endif

#endif
