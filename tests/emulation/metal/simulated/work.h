// Work of a command buffer, as it was recorded, and the order in which it runs.
//
// Metal orders the encoders of a command buffer only by what they use: buffers that it tracks, and fences. It orders
// the dispatches of a concurrent encoder only by barriers. Work that nothing orders runs here in another order than
// that of its encoding (FERRULE_EMULATION_METAL_ORDER).
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
  std::vector<const Object*> others;   // that must live until it has run
  std::size_t number_of_barriers = 0;  // before it, in its encoder
};
// A barrier of an encoder: for all buffers, or for some.
struct Barrier {
  bool is_for_all = true;
  std::vector<const Buffer*> buffers;
};

// What one encoder has recorded, or a signal of or a wait for an event.
struct Pass {
  enum class Kind : std::uint8_t { encoder, signal, wait } kind = Kind::encoder;
  bool is_concurrent = false;
  std::vector<Command> commands;
  std::vector<Barrier> barriers;
  std::vector<const Buffer*> used;  // without a command that says so: useResource:usage:
  std::vector<const Fence*> awaited, updated;
  Event* event = nullptr;
  std::uint64_t value = 0;
};

// Runs the passes; signals and waits keep their places. Throws what a command throws, and EventTimeout.
void run_passes(const std::vector<std::unique_ptr<Pass>>& passes);

struct EventTimeout {
  std::uint64_t value;
};

// A command uses an object that was freed: its command buffer does not retain it.
struct FreedResource {};

}  // namespace simulated
