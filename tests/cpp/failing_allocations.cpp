#include "failing_allocations.h"

#include <cstdlib>
#include <new>

namespace ferrule::test {
namespace {

struct Countdown {
  std::size_t left;  // 0: no allocation fails
  Shortage shortage;
  bool has_failed;
};
thread_local constinit Countdown countdown{};

bool fails() {
  if (countdown.left == 0) return false;
  if (countdown.left > 1) {
    --countdown.left;
    return false;
  }
  countdown.has_failed = true;
  if (countdown.shortage == Shortage::once) countdown.left = 0;
  return true;
}

void* allocate(std::size_t size) noexcept { return fails() ? nullptr : std::malloc(size > 0 ? size : 1); }
void* allocate_or_throw(std::size_t size) {
  if (void* const memory = allocate(size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

FailingAllocation::FailingAllocation(std::size_t n, Shortage shortage) { countdown = {n, shortage, false}; }
FailingAllocation::~FailingAllocation() { countdown = {}; }
bool FailingAllocation::has_failed() const { return countdown.has_failed; }

}  // namespace ferrule::test

void* operator new(std::size_t size) { return ferrule::test::allocate_or_throw(size); }
void* operator new[](std::size_t size) { return ferrule::test::allocate_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return ferrule::test::allocate(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return ferrule::test::allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
