#include "core/sync/fork_generation.h"

#include <atomic>

namespace ferrule {
namespace {

constinit std::atomic<uint32_t> generation{0};

}  // namespace

uint32_t fork_generation() noexcept { return generation.load(std::memory_order_relaxed); }

void begin_fork_generation() noexcept { generation.fetch_add(1, std::memory_order_relaxed); }

}  // namespace ferrule
