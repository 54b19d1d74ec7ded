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

// A page below each stack cannot be accessed, so an overflow ends the process.
boost::context::stack_context allocate_stack() {
  void* memory = mmap(nullptr, stack_bytes + page(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  mprotect(memory, page(), PROT_NONE);
  boost::context::stack_context stack;
  stack.size = stack_bytes;
  stack.sp = static_cast<char*>(memory) + page() + stack_bytes;
  return stack;
}

// Gives boost a stack, and frees it.
struct OwnStack {
  boost::context::stack_context stack;
  boost::context::stack_context allocate() const { return stack; }
  static void deallocate(const boost::context::stack_context& stack) noexcept {
    munmap(static_cast<char*>(stack.sp) - stack_bytes - page(), stack_bytes + page());
  }
};

}  // namespace

Fiber::Fiber() : stack_(allocate_stack()) {
#if defined(FERRULE_EMULATION_TSAN)
  thread_ = __tsan_create_fiber(0);  // ThreadSanitizer knows 8,000 at a time
#endif
  own_ = boost::context::fiber(std::allocator_arg, OwnStack{stack_}, [this](boost::context::fiber&& scheduler) {
    scheduler_ = std::move(scheduler);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &scheduler_stack_, &scheduler_size_);
#endif
    while (!ends_) {  // true from the beginning for a fiber that never worked
      (*work_)();
      suspend();
    }
    leave(true);
    return std::move(scheduler_);
  });
}

void Fiber::start(const std::function<void()>& work) {
  work_ = &work;
  resume();
}

Fiber::~Fiber() {
  ends_ = true;
  resume();
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
  // Switches without synchronisation: the scheduler must not order the GPU threads between which it switches.
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

Fiber& FiberPool::take() {
  if (taken_ == all_.size()) all_.push_back(std::make_unique<Fiber>());
  return *all_[taken_++];
}

}  // namespace emulation
