#include "emulation/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(FERRULE_EMULATION_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace emulation {
namespace {

// Sanitizers and -O0 enlarge frames.
constexpr std::size_t stack_bytes = std::size_t{256} << 10;

std::size_t page() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

}  // namespace

boost::context::stack_context StackPool::take() {
  if (free_.empty()) {
    void* memory = mmap(nullptr, stack_bytes + page(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    boost::context::stack_context stack;
    stack.size = stack_bytes;
    stack.sp = static_cast<char*>(memory) + page() + stack_bytes;
    mprotect(memory, page(), PROT_NONE);
    free_.push_back(stack);
  }
  const boost::context::stack_context stack = free_.back();
  free_.pop_back();
  return stack;
}

void StackPool::give_back(const boost::context::stack_context& stack) noexcept {
  try {
    free_.push_back(stack);
  } catch (...) {
    munmap(static_cast<char*>(stack.sp) - stack_bytes - page(), stack_bytes + page());
  }
}

StackPool::~StackPool() {
  for (const boost::context::stack_context& stack : free_)
    munmap(static_cast<char*>(stack.sp) - stack_bytes - page(), stack_bytes + page());
}

// Gives boost a stack that the pool keeps.
struct Fiber::Stack {
  Fiber* fiber;
  boost::context::stack_context allocate() const { return fiber->stack_; }
  void deallocate(const boost::context::stack_context& stack) const noexcept { fiber->pool_->give_back(stack); }
};

void Fiber::prepare(StackPool& pool, std::function<void()> work) {
  pool_ = &pool;
  stack_ = pool.take();
  ended_ = false;
#if defined(FERRULE_EMULATION_TSAN)
  if (thread_ == nullptr) thread_ = __tsan_create_fiber(0);  // ThreadSanitizer knows 8,000 at a time
#endif
  own_ = boost::context::fiber(std::allocator_arg, Stack{this},
                               [this, work = std::move(work)](boost::context::fiber&& scheduler) {
                                 scheduler_ = std::move(scheduler);
#if defined(__SANITIZE_ADDRESS__)
                                 __sanitizer_finish_switch_fiber(nullptr, &scheduler_stack_, &scheduler_size_);
#endif
                                 work();
                                 ended_ = true;
                                 leave(true);
                                 return std::move(scheduler_);
                               });
}

Fiber::~Fiber() {
#if defined(FERRULE_EMULATION_TSAN)
  if (thread_ != nullptr) __tsan_destroy_fiber(thread_);
#endif
}

// Tells the sanitizers that the fiber is about to be left.
void Fiber::leave(bool for_ever) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(for_ever ? nullptr : &fake_stack_, scheduler_stack_, scheduler_size_);
#endif
#if defined(FERRULE_EMULATION_TSAN)
  // Without synchronisation: what the scheduler does between two GPU threads must not order them.
  __tsan_switch_to_fiber(scheduler_thread_, __tsan_switch_to_fiber_no_sync);
#endif
  static_cast<void>(for_ever);
}

void Fiber::resume() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&scheduler_fake_stack_, static_cast<char*>(stack_.sp) - stack_.size, stack_.size);
#endif
#if defined(FERRULE_EMULATION_TSAN)
  scheduler_thread_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(thread_, __tsan_switch_to_fiber_no_sync);
#endif
  own_ = std::move(own_).resume();
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(scheduler_fake_stack_, nullptr, nullptr);
#endif
}

void Fiber::suspend() {
  leave(false);
  scheduler_ = std::move(scheduler_).resume();
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack_, &scheduler_stack_, &scheduler_size_);
#endif
}

}  // namespace emulation
