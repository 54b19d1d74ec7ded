// Compiles a graph view: chooses how each node is computed, and prepares everything that is known before execution.
#pragma once

#include <memory>

#include "steps.h"

namespace ferrule::cpu {

// See choose_kernel() for `producer`.
Choice choose(const fe_graph_view& view, uint32_t node, std::unique_ptr<Step>* producer = nullptr);

std::unique_ptr<sdk::Executable> compile(const fe_graph_view& view);

}  // namespace ferrule::cpu
