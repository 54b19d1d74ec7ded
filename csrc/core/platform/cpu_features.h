// What the CPU can do and the system saves, by name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ferrule {

// Nothing when the name is unknown. "avx512_vnni", "avx512vnni" and "AVX512-VNNI" are one name.
std::optional<bool> has_cpu_feature(std::string_view name);
// All known names of this architecture, with and without support here.
std::vector<std::string> known_cpu_features();
// Of a list, those that this machine lacks or nobody knows.
std::vector<std::string> missing_cpu_features(const std::vector<std::string>& wanted);

}  // namespace ferrule
