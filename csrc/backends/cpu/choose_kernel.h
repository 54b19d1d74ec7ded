// Chooses the kernels of nodes that are computed as a whole, and plans their scratch memory.
#pragma once

#include <memory>
#include <string_view>

#include "steps.h"

namespace ferrule::cpu {

// The step of a node, with the operands of its op; those of its body are in the epilogue.
std::unique_ptr<KernelStep> step_of(const fe_graph_view& view, const fe_node& node);

// Finds a kernel for the step; if there is none, widens the step and finds a kernel for that.
const Kernel* find_kernel(std::string_view op, uint32_t revision, KernelStep& step);

// `producer`: if not null, the step whose one result is read as input 0 and nowhere else. Its body may become the
// prologue of the kernel; then the step is an empty one.
Choice choose_kernel(const fe_graph_view& view, const fe_node& node, std::string_view op,
                     std::unique_ptr<Step>* producer);

}  // namespace ferrule::cpu
