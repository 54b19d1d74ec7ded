// The work between two events of a queue.
#pragma once

#include <ferrule/backend.hpp>

#include <optional>

namespace ferrule::vulkan {

// The second event tells its error, and when it was passed.
struct Span {
  uint64_t number = 0;                     // of the span in its queue
  uint64_t end = 0;                        // the number of the last work before the second event; set with that
  std::optional<sdk::Error> error = {};    // the first one, unless the device was lost; guarded by the timeline, as:
  uint64_t host_ns = 0;                    // when the host last did a part of the work, or recorded the event first
  bool is_of_device = false;               // the device passes the second event, and not the host
  std::optional<uint64_t> timestamp = {};  // when that was, as the device counts; nothing when it does not tell
};

}  // namespace ferrule::vulkan
