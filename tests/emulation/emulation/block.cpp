#include "emulation/block.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <random>
#include <sstream>

#include "emulation/thread_sanitizer.h"

constinit thread_local emulation::Index threadIdx, blockIdx, blockDim, gridDim;

namespace emulation {

constinit thread_local GpuThread* current_thread = nullptr;
constinit thread_local Block* current_block = nullptr;

namespace {

// ThreadSanitizer would report two threads on one stack as a race.
#if defined(FERRULE_EMULATION_TSAN)
constexpr bool stack_serves_many_threads = false;
#else
constexpr bool stack_serves_many_threads = true;
#endif

// A loop asks this often before it lets other threads go on, as a switch of stacks takes as long as a hundred
// questions.
constexpr unsigned polls_of_a_turn = 256;

// Thrown in threads that still wait after another one has failed, to unwind their stacks.
struct Abandoned {};

std::string text(const Index& index) {
  return "(" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " + std::to_string(index.z) + ")";
}

std::string text(std::uint32_t mask) {
  std::ostringstream out;
  out << "0x" << std::hex << mask;
  return out.str();
}

std::string late_text(std::chrono::milliseconds limit) {
  std::ostringstream out;
  out << "has not ended after " << static_cast<double>(limit.count()) / 1000 << " s of the processor's time";
  return out.str();
}

std::string text(const Site& site) {
  return std::string(site.function) + " at " + site.at.file + ":" + std::to_string(site.at.line);
}

// "0-3, 7" of the ranks 0 1 2 3 7.
std::string text_of_ranks(const std::vector<unsigned>& ranks) {
  std::string out;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i;
    while (end + 1 < ranks.size() && ranks[end + 1] == ranks[end] + 1) ++end;
    out += (out.empty() ? "" : ", ") + std::to_string(ranks[i]);
    if (end > i) out += "-" + std::to_string(ranks[end]);
    i = end + 1;
  }
  return out;
}

}  // namespace

void Block::prepare(const std::string& kernel, const LaunchShape& shape, const std::function<void()>& body,
                    WatchedBlocks& watched) {
  kernel_ = &kernel;
  shape_ = &shape;
  body_ = &body;
  watched_ = &watched;
  const unsigned count = shape.block.x * shape.block.y * shape.block.z;
  threads_.resize(count);
  warps_.resize((count + warp_size - 1) / warp_size);
  order_.resize(count);
  Index index;
  for (unsigned rank = 0; rank < count; ++rank) {
    GpuThread& thread = threads_[rank];
    thread.index = index;
    thread.rank = rank;
    thread.lane = rank % warp_size;
    thread.warp = &warps_[rank / warp_size];
    if (++index.x < shape.block.x) continue;
    index.x = 0;
    if (++index.y < shape.block.y) continue;
    index.y = 0;
    ++index.z;
  }
  for (unsigned warp = 0; warp < warps_.size(); ++warp) {
    warps_[warp].lanes_ = &threads_[warp * warp_size];
    warps_[warp].count_ = std::min(warp_size, count - warp * warp_size);
  }
  for (unsigned rank = 0; rank < count; ++rank) order_[rank] = shape.order == Order::reverse ? count - 1 - rank : rank;
}

void Block::run(Index index) {
  index_ = index;
  error_ = nullptr;
  shared_.clear();
  shared_bytes_ = 0;
  async_barriers.clear();
  started_copies.clear();
  warpgroups.clear();
  barrier_.waiting.clear();  // a fault may have left threads there
  live_ = static_cast<unsigned>(threads_.size());
  for (Warp& warp : warps_) warp.begin();
  for (GpuThread& thread : threads_) {
    thread.state = GpuThread::State::ready;
    thread.fiber = nullptr;
    thread.polls = 0;
    thread.is_polling = false;
  }
  const WatchedBlocks::Run watched_run(*watched_, *this);
  release(&begin_);
  current_block = this;
  blockIdx = index;
  blockDim = shape_->block;
  gridDim = shape_->grid;
  set_running_order(0);
  const std::function<void()> begin = [this] { begin_threads(); };
  for (begun_ = 0; begun_ < threads_.size();) {
    try {
      beginning_ = &fibers_.take();
    } catch (const std::bad_alloc&) {
      error_ = std::current_exception();
      while (begun_ < threads_.size()) end_thread(threads_[order_[begun_++]]);
      break;
    }
    beginning_->start(begin);
  }
  for (std::uint64_t pass = 1; live_ > 0; ++pass) {
    bool any = false, any_goes_on = false;  // to more than the same question
    set_running_order(pass);
    for (const unsigned rank : order_) {
      GpuThread& thread = threads_[rank];
      if (thread.state == GpuThread::State::ended || (thread.state == GpuThread::State::waits && !error_)) continue;
      any = true;
      make_current(thread);
      thread.is_polling = false;
      thread.fiber->resume();
      any_goes_on = any_goes_on || !thread.is_polling;
    }
    running_ = nullptr;
    if (!any_goes_on && !end_asynchronous_work() && !any)
      error_ = std::make_exception_ptr(KernelError(report("is in a deadlock")));
    if (!error_ && live_ > 0 && watched_run.is_late())
      error_ = std::make_exception_ptr(KernelError(report(late_text(shape_->time_limit))));
  }
  if (!error_ && !started_copies.empty())
    error_ = std::make_exception_ptr(KernelError(*kernel_ + ": block " + text(index_) +
                                                 " has ended before copies of tiles that it started have arrived"));
  current_thread = nullptr;
  current_block = nullptr;
  // Gives the fibers back only here, because ThreadSanitizer needs a fiber of its own for each thread of a block.
  fibers_.give_back_all();
  acquire(&end_);
  if (error_) std::rethrow_exception(error_);
}

// Runs the threads that have not begun, until one waits.
void Block::begin_threads() {
  do {
    GpuThread& thread = threads_[order_[begun_++]];
    thread.fiber = beginning_;
    make_current(thread);
    run_thread(thread);
  } while (stack_serves_many_threads && begun_ < threads_.size());
}

void Block::make_current(GpuThread& thread) {
  current_thread = &thread;
  running_ = &thread;
  threadIdx = thread.index;
}

void Block::run_thread(GpuThread& thread) noexcept {
  acquire(&begin_);
  try {
    if (!error_) (*body_)();
  } catch (const Abandoned&) {  // another thread failed
  } catch (...) {
    if (!error_) error_ = std::current_exception();
  }
  release(&end_);
  const Unseen unseen;
  end_thread(thread);
}

void Block::end_thread(GpuThread& thread) {
  thread.state = GpuThread::State::ended;
  thread.copies.clear();
  thread.copy_groups.clear();
  thread.matrix_work = {};
  thread.awaited = nullptr;
  thread.is_last = false;
  --live_;
  thread.warp->ended_ |= std::uint32_t{1} << thread.lane;
  if (error_) return;
  for (const auto& meeting : thread.warp->meetings_) thread.warp->finish_if_complete(*meeting);
  finish_barrier_if_complete();
}

void Block::set_running_order(std::uint64_t pass) {
  if (shape_->order != Order::random) return;
  for (unsigned rank = 0; rank < order_.size(); ++rank) order_[rank] = rank;
  std::mt19937_64 random(shape_->seed + pass * 0x9e3779b97f4a7c15U + index_.x + index_.y * 7919U + index_.z * 104729U);
  std::shuffle(order_.begin(), order_.end(), random);
}

void Block::wait(const Site& site, std::uint32_t mask) {
  GpuThread& self = *current_thread;
  self.site = site;
  self.mask = mask;
  self.polls = 0;
  self.fiber->suspend();
  self.mask = 0;
  if (error_) throw Abandoned{};
}

void Block::let_others_run(const Site& site) {
  current_thread->is_polling = true;
  wait(site, 0);
}

void poll(const Site& site) {
  if (++current_thread->polls < polls_of_a_turn) return;
  const Unseen unseen;
  current_block->let_others_run(site);
}

void Block::wait_as_last(const Site& site) {
  current_thread->is_last = true;
  current_thread->state = GpuThread::State::waits;
  wait(site, 0);
}

// Called when no thread can go on. Nothing orders copies of tiles and matrix instructions, so one copy arrives, the
// newest first; without copies the threads of one warp go on. With the order reversed it is the other way round.
bool Block::end_asynchronous_work() {
  const std::size_t copies = started_copies.size();
  switch (shape_->order) {
    case Order::reverse:
      return resume_last_warp() || (copies > 0 && (land_copy(0), true));
    case Order::random:
      // The order of the threads is new in each pass: its start is a random number.
      if (order_[0] % 2 == 0 && resume_last_warp()) return true;
      if (copies > 0) return land_copy(order_[0] / 2 % copies), true;
      return resume_last_warp();
    default:
      return copies > 0 ? (land_copy(copies - 1), true) : resume_last_warp();
  }
}

// Resumes the warp of the first thread in order that waits until no other thread can go on (wait_as_last()).
bool Block::resume_last_warp() {
  const auto found = std::find_if(order_.begin(), order_.end(), [&](unsigned rank) { return threads_[rank].is_last; });
  if (found == order_.end()) return false;
  const Warp& warp = *threads_[*found].warp;
  for (unsigned lane = 0; lane < warp.count_; ++lane) {
    GpuThread& thread = warp.lanes_[lane];
    if (thread.is_last) thread.state = GpuThread::State::ready;
    thread.is_last = false;
  }
  return true;
}

void Block::fail(const Site& site, const std::string& what) {
  throw KernelError(*kernel_ + ": block " + text(index_) + ", thread " + text(current_thread->index) + ", " +
                    text(site) + ": " + what);
}

// ---- the barrier
void Block::wait_at_barrier(const Site& site) {
  const Unseen unseen;
  if (!barrier_.waiting.empty() && !(barrier_.site == site))
    fail(site, "other threads of the block wait for it in " + text(barrier_.site) +
                   ": a barrier must be reached by all threads from one line");
  barrier_.site = site;
  const unsigned turn = barrier_.turn;
  release(&barrier_.turns[turn % 2]);
  barrier_.waiting.push_back(current_thread);
  current_thread->state = GpuThread::State::waits;
  finish_barrier_if_complete();
  if (barrier_.turn == turn) wait(site, 0);
  acquire(&barrier_.turns[turn % 2]);
}

void Block::finish_barrier_if_complete() {
  if (barrier_.waiting.empty() || barrier_.waiting.size() < live_) return;
  for (GpuThread* thread : barrier_.waiting) thread->state = GpuThread::State::ready;
  barrier_.waiting.clear();
  ++barrier_.turn;
}

// ---- warps
void Warp::begin() {
  ended_ = count_ < warp_size ? ~std::uint32_t{0} << count_ : 0;
  if (meetings_.size() > 8) meetings_.clear();
  for (const auto& meeting : meetings_) meeting->arrived = 0;  // a fault may have left lanes there
}

const Meeting::Lanes& Warp::meet(std::uint32_t mask, const Site& site, const void* value, std::size_t bytes) {
  const Unseen unseen;
  GpuThread& self = *current_thread;
  Block& block = *current_block;
  const std::uint32_t own = std::uint32_t{1} << self.lane;
  if ((mask & own) == 0)
    block.fail(site, "the mask " + text(mask) + " lacks the calling lane " + std::to_string(self.lane));
  auto found = std::find_if(meetings_.begin(), meetings_.end(), [&](const auto& m) { return m->mask == mask; });
  if (found == meetings_.end()) {
    meetings_.push_back(std::make_unique<Meeting>());
    meetings_.back()->mask = mask;
    found = meetings_.end() - 1;
  }
  Meeting& meeting = **found;
  if (meeting.arrived != 0 && !(meeting.site == site))
    block.fail(site, "other lanes of the mask " + text(mask) + " wait in " + text(meeting.site) +
                         ": the lanes of a mask must call it from one line");
  meeting.site = site;
  const unsigned turn = meeting.turn;
  Meeting::Lanes& lanes = meeting.sets[turn % 2];
  if (meeting.arrived == 0) lanes.present = 0;
  meeting.arrived |= own;
  lanes.present |= own;
  if (bytes > 0) std::memcpy(lanes.values[self.lane].data(), value, bytes);
  release(&lanes);
  self.state = GpuThread::State::waits;
  finish_if_complete(meeting);
  if (meeting.turn == turn) block.wait(site, mask);
  acquire(&lanes);
  return lanes;
}

void Warp::finish_if_complete(Meeting& meeting) {
  if (meeting.arrived == 0 || (meeting.mask & ~ended_) != meeting.arrived) return;
  for (std::uint32_t left = meeting.arrived; left != 0; left &= left - 1)
    lanes_[std::countr_zero(left)].state = GpuThread::State::ready;
  meeting.arrived = 0;
  ++meeting.turn;
}

// ---- memory
Block::SharedBytes Block::allocate_shared(std::size_t bytes) {
  shared_bytes_ += bytes;
  if (shared_bytes_ > shape_->shared_limit)
    throw KernelError(*kernel_ + ": " + std::to_string(shared_bytes_) +
                      " bytes of shared memory are more than the limit of " + std::to_string(shape_->shared_limit));
  // An allocation of its own, so that AddressSanitizer finds an access right after it. malloc aligns to 16 bytes.
  SharedBytes memory(static_cast<std::byte*>(std::malloc(std::max<std::size_t>(bytes, 1))),
                     [](std::byte* pointer) { std::free(pointer); });
  if (!memory) throw std::bad_alloc();
  std::memset(memory.get(), 0xff, bytes);
  return memory;
}

void* Block::shared(const void* key, std::size_t bytes) {
  const Unseen unseen;
  const auto found = std::find_if(shared_.begin(), shared_.end(), [&](const Shared& one) { return one.key == key; });
  if (found != shared_.end()) return found->memory.get();
  shared_.push_back({key, allocate_shared(bytes), bytes, {}});
  return shared_.back().memory.get();
}

bool Block::is_shared(const void* begin, std::size_t bytes) const {
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  return std::any_of(shared_.begin(), shared_.end(), [&](const Shared& one) {
    const auto own = reinterpret_cast<std::uintptr_t>(one.memory.get());
    return first >= own && first + bytes <= own + one.bytes;
  });
}

const std::byte* Block::shared_in_window(std::uintptr_t place, std::uintptr_t window) const {
  for (const Shared& one : shared_) {
    const auto offset = (place - reinterpret_cast<std::uintptr_t>(one.memory.get())) % window;
    if (offset < one.bytes) return one.memory.get() + offset;
  }
  return nullptr;
}

std::byte* Block::published(const void* shared) {
  const auto* const byte = static_cast<const std::byte*>(shared);
  for (Shared& one : shared_) {
    if (byte < one.memory.get() || byte >= one.memory.get() + one.bytes) continue;
    if (one.published.empty()) one.published.assign(one.bytes, std::byte{0xff});
    return one.published.data() + (byte - one.memory.get());
  }
  return nullptr;
}

void Block::publish_shared() {
  for (Shared& one : shared_) {
    if (one.published.empty()) one.published.resize(one.bytes);
    std::memcpy(one.published.data(), one.memory.get(), one.bytes);
  }
}

void* Block::dynamic_shared() { return shared(this, shape_->dynamic_shared); }

// ---- reports
std::string Block::report(const std::string& what) const {
  std::map<std::string, std::vector<unsigned>> groups;
  for (const GpuThread& thread : threads_) groups[where(thread)].push_back(thread.rank);
  std::string out = *kernel_ + ": block " + text(index_) + " " + what + ":";
  for (const auto& [place, ranks] : groups)
    out += "\n  " + std::string(ranks.size() == 1 ? "thread " : "threads ") + text_of_ranks(ranks) + ": " + place;
  return out;
}

std::string Block::where(const GpuThread& thread) const {
  if (thread.state == GpuThread::State::ended) return "ended";
  if (thread.fiber == nullptr) return "not begun";
  if (&thread == running_) return "in a loop";
  const bool is_there = thread.state == GpuThread::State::waits || thread.is_polling;
  return (is_there ? "in " : "behind ") + text(thread.site) +
         (thread.mask == 0 ? "" : " with the mask " + text(thread.mask)) +
         (thread.awaited == nullptr ? "" : ", where " + text(*thread.awaited));
}

std::string Block::spin_report() const {
  return report(late_text(shape_->time_limit) + ", and a thread of it does not come back to the emulator");
}

}  // namespace emulation
