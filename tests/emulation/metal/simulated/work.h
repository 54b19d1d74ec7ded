// Work of a command buffer, as it was recorded, and the order in which it runs.
//
// Metal orders the encoders of a command buffer only by the buffers that they use, if it tracks them. It orders the
// dispatches of a concurrent encoder only by barriers. Work that nothing orders runs here in another order than that of
// its encoding (FERRULE_EMULATION_METAL_ORDER).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "metal/simulated/buffer.h"
#include "metal/simulated/events.h"

namespace simulated {

// A dispatch or a copy.
struct Command {
  std::function<void()> run;
  std::vector<const Buffer*> buffers;
  std::size_t number_of_barriers = 0;  // before it, in its encoder
};

// The commands that one encoder has recorded, or a signal of an event, or a wait for one.
struct Pass {
  enum class Kind : std::uint8_t { encoder, signal, wait } kind = Kind::encoder;
  bool is_concurrent = false;
  std::vector<Command> commands;
  std::size_t barriers = 0;
  SharedEvent* event = nullptr;
  std::uint64_t value = 0;
};

// Runs the passes; signals and waits keep their places. Throws what a command throws, and EventTimeout.
void run_passes(const std::vector<std::unique_ptr<Pass>>& passes);

struct EventTimeout {
  std::uint64_t value;
};

}  // namespace simulated
