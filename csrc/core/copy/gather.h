// Contiguous copies of strided arrays, made by their own device in its queue.
#pragma once

#include "core/copy/strided_array.h"

#include <optional>

namespace ferrule {

// Empty if the device has no queues, or cannot make the copy.
std::optional<StridedArray> gather_on_device(const StridedArray& from);

// Makes the copy with a compiled graph, for devices without copy_strided. Empty if the device does not support the
// graph.
using GatherByGraph = std::optional<StridedArray> (*)(const StridedArray& from, Device& device);
// The executor, which compiles graphs and stands above this folder, sets it when the library is loaded.
void set_gather_by_graph(GatherByGraph function) noexcept;

}  // namespace ferrule
