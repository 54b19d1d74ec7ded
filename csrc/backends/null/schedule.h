// Runs the work of queues: at once, on a thread after a delay, or as late as possible. Its own clock measures how long
// the work would take on a device.
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
  at_once,  // during the call that gives it
  timed,    // on the thread of its queue, after a delay
  late,     // on the thread that waits for it
};

// The result of the work between two events of a queue. Guarded by the schedule's mutex, as are Health and Work.
struct Span {
  std::optional<sdk::Error> error = {};  // the first one
};

// State of a device.
struct Health {
  std::optional<sdk::Error> loss = {};
  int running = 0;  // number of work items that run now
};

struct Work;
using Effect = std::function<void(const Work&)>;

struct Work {
  enum class State { waiting, running, done };
  std::vector<std::shared_ptr<Work>> after = {};  // predecessors; empty once this is done
  Effect effect = {};                             // an exception becomes the error of the span
  std::shared_ptr<Span> span = {};
  std::shared_ptr<Health> health = {};
  Doing doing = Doing::at_once;
  State state = State::waiting;
  uint64_t end_ns = 0;  // on the schedule's clock
};
using WorkPointer = std::shared_ptr<Work>;

// The schedule of all devices of a backend. Any thread may call it.
class Schedule {
 public:
  // Order of independent late work: 0 as it was given, else a random order with this seed.
  void set_seed(uint64_t seed);
  // Changes the clock to the host's monotonic one; waiting then takes as long as the work.
  void follow_host_clock();
  // Adds work that takes `duration_ns` after its predecessors are done. Work that is done at once runs here.
  WorkPointer give(Work work, uint64_t duration_ns);
  // Runs late work, and waits for other work, until this is done. Null does nothing.
  void finish(const WorkPointer& work);
  // Runs timed work after its predecessors.
  void do_timed(const WorkPointer& work);
  // Waits as the host does: the clock advances to the end of the work. Throws FE_TIMEOUT if it is not done within
  // `timeout_ns` >= 0; with 0 no late work is started.
  void pass(const WorkPointer& work, int64_t timeout_ns);
  // Whether the work is done. Each call takes some time on the clock, and some calls run late work, so that polling
  // ends.
  bool has_passed(const WorkPointer& work);
  std::optional<sdk::Error> error_of(const Span& span);
  // Throws the loss of a lost device.
  void check(const Health& health);
  // Time on the clock: how long the host has waited so far.
  uint64_t now_ns();

 private:
  using Lock = std::unique_lock<std::mutex>;
  static bool is_ready(const Work& work);
  // Advances the clock to `to_ns`; throws FE_TIMEOUT if `timeout_ns` >= 0 ends earlier.
  void advance(Lock& lock, uint64_t to_ns, int64_t timeout_ns);
  uint64_t clock_ns() const { return follows_host_ ? sdk::monotonic_ns() : now_ns_; }
  // All work that must be done for it, itself included, in a possible order.
  static std::vector<WorkPointer> undone(const WorkPointer& work);
  // Work that this thread can run now and that the target needs; null if there is none.
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
