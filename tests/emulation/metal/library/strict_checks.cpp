#include "metal/library/strict_checks.h"

namespace emulation::metal {

std::string strict_refusal(const std::vector<std::string>&, const std::string&) { return ""; }

}  // namespace emulation::metal
