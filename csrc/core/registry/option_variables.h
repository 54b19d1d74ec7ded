// The environment variables from which devices take options: FERRULE_<BACKEND>_<KEY>.
#pragma once

#include "core/registry/device_properties.h"

#include <string>
#include <string_view>
#include <vector>

namespace ferrule {

// "FERRULE_CUDA_TF32" for cuda and tf32.
std::string option_variable(std::string_view backend, std::string_view key);

// Why the value is none of the option's type, after the option's name: "is 'maybe', and must be true or false". "" when
// it is one, or the core does not know the type.
std::string complaint_about_value(const DeviceOptionInfo& option, const std::string& value);

// The names of the variables that are set and begin with FERRULE_<BACKEND>_, sorted. `others` are the names of backends
// whose variables may begin so, too: those of "t_two" are not meant for "t".
std::vector<std::string> option_variables(std::string_view backend, const std::vector<std::string>& others);

// A problem with a variable: a sentence that names it.
struct VariableProblem {
  std::string sentence;
  bool is_certain;  // the value is wrong, or the name is close to that of an option; else it may be meant for others
};
std::vector<VariableProblem> problems_of_option_variables(const std::vector<std::string>& variables,
                                                          std::string_view backend,
                                                          const std::vector<DeviceOptionInfo>& options);

}  // namespace ferrule
