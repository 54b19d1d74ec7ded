// The functions of ferrule/procs.h that the module offers by name.
#pragma once

#include <cstdint>
#include <string_view>

namespace ferrule::cpu {

void* proc(std::string_view name);

// The lower of the limit of an execution and that of set_n_threads, for parallel_for. 0 = all.
uint32_t limited(uint32_t thread_limit);

}  // namespace ferrule::cpu
