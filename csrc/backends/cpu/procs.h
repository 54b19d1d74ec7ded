// The functions of ferrule/procs.h, which the module offers by name.
#pragma once

#include <cstdint>
#include <string_view>

namespace ferrule::cpu {

void* proc(std::string_view name);

// How many threads a parallel_for may use: what an execution asks for, and no more than set_n_threads allows. 0 = all.
uint32_t limited(uint32_t thread_limit);

}  // namespace ferrule::cpu
