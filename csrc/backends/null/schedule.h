// When the work of queues is done: when it is given, by a thread after a while, or as late as it may be. A clock of its
// own tells how long it would take on a device.
#pragma once

#include <ferrule/backend.hpp>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <vector>

namespace ferrule::null {

enum class Doing {
  at_once,  // when it is given
  timed,    // by the thread of its queue, after a while
  late,     // by who waits for it
};

// The result of the work between two events of a queue. Guarded by the schedule, as are the next two.
struct Span {
  std::optional<sdk::Error> error = {};  // the first one
};

// Of a device.
struct Health {
  std::optional<sdk::Error> loss = {};
  int running = 0;  // pieces of its work
};

struct Work;
using Effect = std::function<void(const Work&)>;

struct Work {
  enum class State { waiting, running, done };
  std::vector<std::shared_ptr<Work>> after = {};  // what must be done before; none once this is done
  Effect effect = {};                             // may throw: the error is that of the span
  std::shared_ptr<Span> span = {};
  std::shared_ptr<Health> health = {};
  Doing doing = Doing::at_once;
  State state = State::waiting;
  uint64_t end_ns = 0;  // by the schedule's clock
};
using WorkPointer = std::shared_ptr<Work>;

// Of all devices of a backend. Any thread.
class Schedule {
 public:
  // The order in which late work is done that does not depend on each other: 0 as it was given, else one of many.
  void set_seed(uint64_t seed);
  // The clock is the host's monotonic one from now on, and waiting takes as long as the work.
  void follow_host_clock();
  // Work that takes `duration_ns` once all that it comes after is done. Work that is done at once is done then.
  WorkPointer give(Work work, uint64_t duration_ns);
  // Does late work, and waits for other work, until this is done. Nothing is waited for without a pointer.
  void finish(const WorkPointer& work);
  // Does timed work, after all that it comes after.
  void do_timed(const WorkPointer& work);
  // The same for the host, whose clock goes on until then. Throws FE_TIMEOUT when `timeout_ns` >= 0 passes; late work
  // is not begun where it is 0.
  void pass(const WorkPointer& work, int64_t timeout_ns);
  // Takes a while by the host's clock, and now and then does a piece of late work, so that who asks again and again
  // comes to an end.
  bool has_passed(const WorkPointer& work);
  std::optional<sdk::Error> error_of(const Span& span);
  void forget_loss(Health& health);
  // By the host's clock: what it has waited for so far.
  uint64_t now_ns();

 private:
  using Lock = std::unique_lock<std::mutex>;
  static bool is_ready(const Work& work);
  // Takes until the clock says so, or throws FE_TIMEOUT when `timeout_ns` >= 0 passes.
  void advance(Lock& lock, uint64_t to_ns, int64_t timeout_ns);
  uint64_t clock_ns() const { return follows_host_ ? sdk::monotonic_ns() : now_ns_; }
  // What has to be done for it, itself included, in an order in which it can be done.
  static std::vector<WorkPointer> undone(const WorkPointer& work);
  // One that this thread may do for the other; null when there is none now.
  WorkPointer choose(const WorkPointer& target);
  void finish(Lock& lock, const WorkPointer& work);
  void run(Lock& lock, const WorkPointer& work);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::minstd_rand> order_;
  std::minstd_rand asked_;
  uint64_t now_ns_ = 0;
  bool follows_host_ = false;
};

}  // namespace ferrule::null
