// Contiguous copies of strided arrays, made by their own device in its queue.
#pragma once

#include "core/copy/strided_array.h"

#include <optional>

namespace ferrule {

// Empty if the device has no queues, or cannot make the copy.
std::optional<StridedArray> gathered(const StridedArray& from);

// Makes the copy with a compiled graph, for devices without copy_strided. Empty if the device does not support the
// graph. Declared here and defined by the executor (gather_graph.cpp), because folders include lower ones only.
std::optional<StridedArray> gathered_by_graph(const StridedArray& from, Device& device);

}  // namespace ferrule
