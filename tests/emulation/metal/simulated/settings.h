// The settings of the simulated machine, from environment variables (docs/develop/emulators.md).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "emulation/block.h"

namespace simulated {

// Numbers of MTLCommandBufferError.
enum class CommandBufferError : std::uint8_t {
  internal = 1,
  timeout = 2,
  page_fault = 3,
  access_revoked = 4,
  not_permitted = 7,
  out_of_memory = 8,
  invalid_resource = 9,
  device_removed = 11,
  stack_overflow = 12,
};

// A call that fails: its number among the calls of this selector, from 1 on, or 0 for each.
struct FailingCall {
  std::string selector;
  std::uint64_t number = 0;
};

constexpr std::size_t page_bytes = std::size_t{16} << 10;
constexpr std::chrono::milliseconds wait_limit{10'000};  // of a wait for an event

struct Settings {
  std::size_t devices = 1;
  std::vector<std::string> names{"Simulated Metal device"};  // of the first devices; the last one is of all others, too
  std::vector<long> families;                                // numbers of MTLGPUFamily
  bool is_list_empty = false;                                // of MTLCopyAllDevices
  bool has_unified_memory = true;
  std::size_t memory = std::size_t{4} << 30;                    // of each device
  std::size_t max_buffer = 0;                                   // bytes of a buffer; 0 is half of the memory
  std::size_t most_blit = 0xffffffff;                           // bytes of a copy or a fill
  std::size_t execution_width = 32;                             // what pipelines say; kernels run with 32
  std::size_t freed = std::size_t{1} << 15;                     // objects that are remembered after their end
  std::map<std::uint64_t, CommandBufferError> failing_buffers;  // by their number, from 1 on, in the order of commits
  std::vector<FailingCall> failing_calls;
  std::chrono::microseconds delay{0};  // before each command buffer
  std::string system = "Version 11.0 (Build 20A0)";
  std::string log;
};
// Read once. Ends the process for a value that it does not understand.
const Settings& settings();
// The first number of the version of the system: 11.
long system_version();

// FERRULE_EMULATION_METAL_ORDER, the order of work that nothing orders: reverse unless it says something else. Read at
// each call. `seed` is set for Order::random.
emulation::Order order_of_work(std::uint64_t& seed);
// FERRULE_EMULATION_ORDER, the order of threads.
emulation::Order order_of_threads(std::uint64_t& seed);

// Whether this call of a method fails, by FERRULE_EMULATION_METAL_CALL_FAILS. Counts it.
bool fails(const char* selector);
// Writes a line to FERRULE_EMULATION_METAL_LOG.
void log_line(const std::string& line);

}  // namespace simulated
