// Finds blocks that do not end: threads in a loop that waits for what nobody does. The limit is a time of the
// processor, so that neither a loaded machine nor a debugger's breakpoint counts.
//
// A block whose threads come back to the scheduler ends with a KernelError. A thread in a loop that calls nothing of
// the emulator cannot be left, because GPU threads do not interrupt each other: it is named on stderr, and the process
// ends by SIGABRT in that thread, so that a debugger, a core file and Python's faulthandler show where it is.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <thread>

namespace emulation {

class Block;

// The blocks that one OS thread runs, one after the other.
class WatchedBlocks {
 public:
  WatchedBlocks();  // of the calling OS thread

  // Lives while that OS thread runs a block.
  class Run {
   public:
    Run(WatchedBlocks& blocks, const Block& block) : blocks_(blocks) {
      blocks_.block_ = &block;
      blocks_.count();
    }
    ~Run() { blocks_.count(); }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    // The block has taken longer than the limit.
    bool is_late() const { return blocks_.late_.load(std::memory_order_relaxed) == blocks_.own_number_; }

   private:
    WatchedBlocks& blocks_;
  };

 private:
  friend class BlockWatch;
  void count() { number_.store(++own_number_, std::memory_order_release); }
  const pthread_t thread_;
  clockid_t clock_;  // of the processor time of the OS thread
  const Block* block_ = nullptr;
  std::uint64_t own_number_ = 0;          // odd while a block runs
  std::atomic<std::uint64_t> number_{0};  // the same, for the watch
  std::atomic<std::uint64_t> late_{0};    // the number of a block that is late
  // Used by the watch alone: the block that it saw last, and when.
  std::uint64_t seen_ = 0;
  std::chrono::nanoseconds since_{0};
};

// Watches the OS threads that run the launches of one OS thread.
class BlockWatch {
 public:
  BlockWatch() = default;
  ~BlockWatch();
  BlockWatch(const BlockWatch&) = delete;
  BlockWatch& operator=(const BlockWatch&) = delete;

  // Sets the limit of the launches that follow; 0: none.
  void set_limit(std::chrono::milliseconds limit);
  // Watches the calling OS thread, which must not end before the watch does.
  WatchedBlocks& add();

 private:
  void run();
  void look_at(WatchedBlocks& one) const;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::chrono::milliseconds limit_{0};
  bool ending_ = false;
  std::list<WatchedBlocks> all_;
  std::thread thread_;
};

}  // namespace emulation
