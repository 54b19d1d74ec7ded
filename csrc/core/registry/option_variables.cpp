#include "core/registry/option_variables.h"

#include "base/edit_distance.h"
#include "core/environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <system_error>

namespace ferrule {
namespace {

// Variables of the core that look like options of a backend that is called so.
constexpr std::array own_variables = {"FERRULE_BACKEND_DIR", "FERRULE_BACKEND_PATH", "FERRULE_CACHE_DIR",
                                      "FERRULE_PROBE_MEMORY", "FERRULE_PROBE_TIMEOUT"};

std::string prefix_of(std::string_view backend) { return "FERRULE_" + upper_case(backend) + "_"; }

bool is_integer(std::string_view value) {
  int64_t number = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
  return problem == std::errc() && end == value.data() + value.size();
}

bool is_boolean(std::string_view value) { return value == "true" || value == "false" || value == "1" || value == "0"; }

}  // namespace

std::string option_variable(std::string_view backend, std::string_view key) {
  return prefix_of(backend) + upper_case(key);
}

std::string complaint_about_value(const DeviceOptionInfo& option, const std::string& value) {
  if (option.type == "integer" && !is_integer(value)) return fmt::format("is '{}', and must be an integer", value);
  if (option.type == "boolean" && !is_boolean(value))
    return fmt::format("is '{}', and must be true or false, or 1 or 0", value);
  return "";
}

std::vector<std::string> option_variables(std::string_view backend, const std::vector<std::string>& others) {
  const std::string prefix = prefix_of(backend);
  const auto is_of_another = [&](const std::string& name) {
    if (std::find(own_variables.begin(), own_variables.end(), name) != own_variables.end()) return true;
    return std::any_of(others.begin(), others.end(), [&](const std::string& other) {
      return other.size() > backend.size() && name.starts_with(prefix_of(other));
    });
  };
  std::vector<std::string> names;
  for (const std::string& entry : environment_entries({prefix + "*"})) {
    std::string name = entry.substr(0, entry.find('='));
    if (environment(name.c_str()) && !is_of_another(name)) names.push_back(std::move(name));
  }
  return names;
}

std::vector<VariableProblem> problems_of_option_variables(const std::vector<std::string>& variables,
                                                          std::string_view backend,
                                                          const std::vector<DeviceOptionInfo>& options) {
  std::vector<std::string> keys;
  keys.reserve(options.size());
  for (const DeviceOptionInfo& option : options) keys.push_back(option.key);
  std::vector<VariableProblem> problems;
  for (const std::string& name : variables) {
    const auto option = std::find_if(options.begin(), options.end(), [&](const DeviceOptionInfo& one) {
      return option_variable(backend, one.key) == name;
    });
    if (option != options.end()) {
      const std::string complaint = complaint_about_value(*option, environment(name.c_str()).value_or(""));
      if (!complaint.empty()) problems.push_back({fmt::format("{} {}", name, complaint), true});
      continue;
    }
    const std::string meant = most_similar(lower_case(name.substr(prefix_of(backend).size())), keys);
    const std::string advice = meant.empty() ? "" : fmt::format("; did you mean {}?", option_variable(backend, meant));
    problems.push_back(
        {fmt::format("{} is set, and {} has no option of that name{}", name, backend, advice), !meant.empty()});
  }
  return problems;
}

}  // namespace ferrule
