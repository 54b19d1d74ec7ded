#include "schedule.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <unordered_set>

namespace ferrule::null {
namespace {

// Time of one query whether work is done, on the host's clock.
constexpr uint64_t asking_ns = 100;

}  // namespace

void Schedule::set_seed(uint64_t seed) {
  const Lock lock(mutex_);
  if (seed != 0) order_.emplace(static_cast<std::minstd_rand::result_type>(seed));
}

void Schedule::follow_host_clock() {
  const Lock lock(mutex_);
  follows_host_ = true;
}

WorkPointer Schedule::give(Work given, uint64_t duration_ns) {
  const auto work = std::make_shared<Work>(std::move(given));
  Lock lock(mutex_);
  uint64_t begin_ns = clock_ns();
  for (const WorkPointer& before : work->after) begin_ns = std::max(begin_ns, before->end_ns);
  work->end_ns = begin_ns + duration_ns;
  std::erase_if(work->after, [](const WorkPointer& before) { return before->state == Work::State::done; });
  if (work->doing == Doing::at_once) finish(lock, work);
  return work;
}

void Schedule::finish(const WorkPointer& work) {
  Lock lock(mutex_);
  if (work) finish(lock, work);
}

void Schedule::pass(const WorkPointer& work, int64_t timeout_ns) {
  if (!work) return;
  Lock lock(mutex_);
  const auto is_done = [&] { return work->state == Work::State::done; };
  const auto late = [](const WorkPointer& one) { return one->doing == Doing::late; };
  if (timeout_ns < 0) {
    finish(lock, work);
  } else if (!is_done()) {
    const std::vector<WorkPointer> waiting = undone(work);
    const bool is_late = std::any_of(waiting.begin(), waiting.end(), late);
    if (is_late && timeout_ns > 0) finish(lock, work);
    if (!is_late) changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), is_done);
    if (!is_done()) throw sdk::Error(FE_TIMEOUT, "null: the queue was still working");
  }
  advance(lock, work->end_ns, timeout_ns);
}

void Schedule::advance(Lock& lock, uint64_t to_ns, int64_t timeout_ns) {
  now_ns_ = std::max(now_ns_, to_ns);
  if (!follows_host_ || to_ns <= clock_ns()) return;
  const uint64_t left_ns = to_ns - clock_ns();
  const bool is_too_long = timeout_ns >= 0 && static_cast<uint64_t>(timeout_ns) < left_ns;
  lock.unlock();
  std::this_thread::sleep_for(std::chrono::nanoseconds(is_too_long ? timeout_ns : static_cast<int64_t>(left_ns)));
  if (is_too_long) throw sdk::Error(FE_TIMEOUT, "null: the queue was still working");
}

bool Schedule::has_passed(const WorkPointer& work) {
  if (!work) return true;
  Lock lock(mutex_);
  if (work->end_ns > clock_ns()) now_ns_ += asking_ns;
  if (work->end_ns > clock_ns()) return false;
  if (work->state != Work::State::done && asked_() % 2 == 0)
    if (const WorkPointer one = choose(work); one && one->doing == Doing::late) run(lock, one);
  return work->state == Work::State::done;
}

std::optional<sdk::Error> Schedule::error_of(const Span& span) {
  const Lock lock(mutex_);
  return span.error;
}

void Schedule::check(const Health& health) {
  const Lock lock(mutex_);
  if (health.loss) throw sdk::Error(*health.loss);
}

uint64_t Schedule::now_ns() {
  const Lock lock(mutex_);
  return clock_ns();
}

bool Schedule::is_ready(const Work& work) {
  return work.state == Work::State::waiting &&
         std::all_of(work.after.begin(), work.after.end(),
                     [](const WorkPointer& before) { return before->state == Work::State::done; });
}

std::vector<WorkPointer> Schedule::undone(const WorkPointer& work) {
  std::vector<WorkPointer> order;
  std::unordered_set<const Work*> seen;
  std::vector<std::pair<WorkPointer, size_t>> stack = {{work, 0}};  // with the index of the next predecessor to visit
  while (!stack.empty()) {
    auto& [top, next] = stack.back();
    if (next < top->after.size()) {
      const WorkPointer before = top->after[next++];
      if (before->state != Work::State::done && seen.insert(before.get()).second) stack.emplace_back(before, 0);
      continue;
    }
    order.push_back(top);
    stack.pop_back();
  }
  return order;
}

WorkPointer Schedule::choose(const WorkPointer& target) {
  std::vector<WorkPointer> ready;
  for (const WorkPointer& one : undone(target))
    if (is_ready(*one) && one->doing != Doing::timed) ready.push_back(one);
  if (ready.empty()) return nullptr;
  return ready[order_ ? (*order_)() % ready.size() : 0];
}

void Schedule::finish(Lock& lock, const WorkPointer& work) {
  while (work->state != Work::State::done) {
    if (const WorkPointer one = choose(work))
      run(lock, one);
    else
      changed_.wait(lock);
  }
}

void Schedule::do_timed(const WorkPointer& work) {
  Lock lock(mutex_);
  for (const WorkPointer& before : std::vector(work->after)) finish(lock, before);
  run(lock, work);
}

void Schedule::run(Lock& lock, const WorkPointer& work) {
  Health& health = *work->health;
  const auto fail = [&](const sdk::Error& error) {
    if (!work->span->error) work->span->error = error;
    if (error.code() == FE_DEVICE_LOST && !health.loss) health.loss = error;
  };
  const bool was_lost = health.loss.has_value();
  work->state = Work::State::running;
  ++health.running;
  if (health.loss) {
    fail(*health.loss);
  } else if (work->effect) {
    std::optional<sdk::Error> error;
    lock.unlock();
    try {
      work->effect(*work);
    } catch (const sdk::Error& thrown) {
      error = thrown;
    } catch (const std::exception& thrown) {
      error.emplace(FE_INTERNAL, thrown.what());
    }
    lock.lock();
    if (error) fail(*error);
  }
  --health.running;
  // The work that loses the device ends when no other work of the device runs.
  if (!was_lost && health.loss) changed_.wait(lock, [&] { return health.running == 0; });
  work->effect = nullptr;
  work->after.clear();
  work->state = Work::State::done;
  changed_.notify_all();
}

}  // namespace ferrule::null
