// The core's two kinds of mutex. A fork copies a locked mutex but not the thread that would unlock it: a plain
// std::mutex would stay locked forever in the child.
#pragma once

#include <atomic>
#include <cstdint>

namespace ferrule {

// Guards data of the core for a few microseconds at a time. A fork waits until none is held, so that the child finds
// them free and their data consistent. While holding one, do not lock another BriefMutex, call a module or a callback,
// or destroy an object that does. Several mutexes share one lock, chosen by address.
class BriefMutex {
 public:
  constexpr BriefMutex() noexcept = default;
  BriefMutex(const BriefMutex&) = delete;
  BriefMutex& operator=(const BriefMutex&) = delete;
  void lock() noexcept;
  void unlock() noexcept;

 private:
  // Gives each mutex its own address.
  [[maybe_unused]] char place_ = 0;
};

// Locks and unlocks all of them, around a fork.
void lock_brief_mutexes() noexcept;
void unlock_brief_mutexes() noexcept;

// A recursive mutex for work that may take long, since modules run under it. A fork does not wait for it; in the child
// it is free unless the forking thread holds it. Data that is changed under it needs a BriefMutex as well.
class LongMutex {
 public:
  constexpr LongMutex() noexcept = default;
  LongMutex(const LongMutex&) = delete;
  LongMutex& operator=(const LongMutex&) = delete;
  void lock() noexcept;
  void unlock() noexcept;

 private:
  std::atomic<uint64_t> holder_{0};  // high half: fork generation; low half: thread number, 0 = free
  uint32_t depth_ = 0;
};

}  // namespace ferrule
