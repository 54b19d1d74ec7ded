// The core's two kinds of mutex. A fork copies a locked mutex, and leaves the thread that would unlock it behind: a
// plain std::mutex would be locked for ever in the child.
#pragma once

#include <atomic>
#include <cstdint>

namespace ferrule {

// Guards data of the core, for some microseconds. A fork waits until nobody is inside any, so that a child finds them
// free and what they guard whole. Inside: no other BriefMutex, no call into a module or to a callback, nothing
// destroyed that does so. Many share one lock, chosen by their address.
class BriefMutex {
 public:
  constexpr BriefMutex() noexcept = default;
  BriefMutex(const BriefMutex&) = delete;
  BriefMutex& operator=(const BriefMutex&) = delete;
  void lock() noexcept;
  void unlock() noexcept;

 private:
  // An address of its own.
  [[maybe_unused]] char place_ = 0;
};

// What surrounds a fork: all of them.
void lock_brief_mutexes() noexcept;
void unlock_brief_mutexes() noexcept;

// Orders work that may take long, as modules run under it; the same thread may lock it again. A fork does not wait for
// it. In the child it is free, unless the forking thread holds it; what is changed under it is guarded by a BriefMutex.
class LongMutex {
 public:
  constexpr LongMutex() noexcept = default;
  LongMutex(const LongMutex&) = delete;
  LongMutex& operator=(const LongMutex&) = delete;
  void lock() noexcept;
  void unlock() noexcept;

 private:
  std::atomic<uint64_t> holder_{0};  // above: the generation of the fork; below: the thread's number, 0 = free
  uint32_t depth_ = 0;
};

}  // namespace ferrule
