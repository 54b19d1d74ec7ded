// CPU features by name. A feature counts as present when the CPU has it and the operating system saves its state.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ferrule {

// nullopt when the name is unknown. "avx512_vnni", "avx512vnni" and "AVX512-VNNI" are the same name.
std::optional<bool> has_cpu_feature(std::string_view name);
// The names of `wanted` that this machine lacks or that are unknown.
std::vector<std::string> missing_cpu_features(const std::vector<std::string>& wanted);

}  // namespace ferrule
