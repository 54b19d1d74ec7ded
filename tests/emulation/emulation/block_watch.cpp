#include "emulation/block_watch.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <span>

#include "emulation/block.h"

namespace emulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

nanoseconds time_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

// Returns the address of the instruction at which a signal interrupted the thread; 0 if it is unknown.
std::uintptr_t interrupted_at([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.pc);
#else
  return 0;
#endif
}

struct sigaction earlier_action;

// Writes how to find the line of an instruction.
void write_place(const char* what, std::uintptr_t address) {
  Dl_info file{};
  void* found = nullptr;
  if (dladdr1(reinterpret_cast<void*>(address), &file, &found, RTLD_DL_LINKMAP) == 0) return;
  char line[1024];
  const int length = std::snprintf(line, sizeof line, "  %s: addr2line -Cfie %s 0x%zx\n", what, file.dli_fname,
                                   static_cast<std::size_t>(address - static_cast<const link_map*>(found)->l_addr));
  static_cast<void>(!::write(STDERR_FILENO, line, std::min(static_cast<std::size_t>(length), sizeof line - 1)));
}

// Runs in the OS thread whose block does not end: reports the place, and passes the signal on to its former handler.
void report_and_abort(int, siginfo_t*, void* context) {
  const std::uintptr_t address = interrupted_at(context);
  write_place("the loop is at", address);
  // The loop may be in a function that a kernel calls, or in one of a sanitizer.
  std::array<void*, 16> frames;
  const std::span<void*> all(frames.data(), static_cast<std::size_t>(::backtrace(frames.data(), frames.size())));
  const auto interrupted = std::find(all.begin(), all.end(), reinterpret_cast<void*>(address));
  for (std::size_t i = 1; i <= 2 && i < static_cast<std::size_t>(all.end() - interrupted); ++i)
    write_place("called from", reinterpret_cast<std::uintptr_t>(*(interrupted + static_cast<std::ptrdiff_t>(i))) - 1);
  if (earlier_action.sa_handler == SIG_IGN) earlier_action.sa_handler = SIG_DFL;
  sigaction(SIGABRT, &earlier_action, nullptr);
  raise(SIGABRT);  // delivered when this function returns
}

}  // namespace

WatchedBlocks::WatchedBlocks() : thread_(pthread_self()) { pthread_getcpuclockid(thread_, &clock_); }

BlockWatch::~BlockWatch() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void BlockWatch::set_limit(milliseconds limit) {
  if (limit == limit_) return;  // only this OS thread writes it
  {
    const std::scoped_lock lock(mutex_);
    limit_ = limit;
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.notify_all();
}

WatchedBlocks& BlockWatch::add() {
  const std::scoped_lock lock(mutex_);
  return all_.emplace_back();
}

void BlockWatch::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (limit_ == milliseconds(0)) {
      changed_.wait(lock);
      continue;
    }
    changed_.wait_for(lock, std::clamp(limit_ / 8, milliseconds(10), milliseconds(2000)));
    for (WatchedBlocks& one : all_) look_at(one);
  }
}

void BlockWatch::look_at(WatchedBlocks& one) const {
  const std::uint64_t number = one.number_.load(std::memory_order_acquire);
  if (number % 2 == 0 || limit_ == milliseconds(0)) return;
  const nanoseconds now = time_of(one.clock_);
  if (number != one.seen_) {
    one.seen_ = number;
    one.since_ = now;
    return;
  }
  const nanoseconds time = now - one.since_;
  if (time < limit_) return;
  one.late_.store(number, std::memory_order_relaxed);
  // The scheduler ends the block, unless a thread does not come back to it.
  if (time < limit_ + limit_ / 4) return;
  std::fprintf(stderr, "%s\n", one.block_->spin_report().c_str());
  void* none = nullptr;
  ::backtrace(&none, 1);  // loads what it needs, for the handler
  struct sigaction action {};
  action.sa_sigaction = report_and_abort;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGABRT, &action, &earlier_action);
  pthread_kill(one.thread_, SIGABRT);
  for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
}

}  // namespace emulation
