#include "core/trace/trace.h"

#include "core/sync/fork_generation.h"
#include "core/sync/immortal.h"
#include "core/sync/mutexes.h"
#include "core/trace/traced_work.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

namespace ferrule {
// Guarded by TraceSessions::mutex.
struct TraceSession::Content {
  uint64_t begin_ns = 0;
  std::deque<TraceEvent> events;  // does not move its elements when it grows
  std::deque<TracedWorkPointer> work;
  std::size_t events_left = 0;  // how many events may still be added
  uint64_t dropped = 0;

  template <class List, class Item>
  void add(List& list, const Item& item, std::size_t count, uint64_t since_ns) noexcept {
    if (since_ns < begin_ns) return;
    if (count > events_left) {
      dropped += count;
      return;
    }
    try {
      list.push_back(item);
      events_left -= count;
    } catch (...) {  // no memory
      dropped += count;
    }
  }
};

struct TraceSessions {
  BriefMutex mutex;
  std::vector<TraceSession*> active;
  template <class Visit>
  static void each(Visit visit) noexcept {
    TraceSessions& sessions = Immortal<TraceSessions>::get();
    const std::scoped_lock lock(sessions.mutex);
    for (TraceSession* session : sessions.active) visit(*session->content_);
  }
};

void add_to_traces(const TraceEvent& event) noexcept {
  TraceSessions::each([&](auto& content) { content.add(content.events, event, 1, event.begin_ns); });
}

void add_to_traces(const TracedWorkPointer& work) noexcept {
  TraceSessions::each(
      [&](auto& content) { content.add(content.work, work, work->event_count(), work->submitted_ns()); });
}

TraceSession::TraceSession(std::size_t max_events) : content_(std::make_unique<Content>()) {
  content_->events_left = max_events;
  content_->begin_ns = monotonic_ns();
}
TraceSession::~TraceSession() { stop(); }

std::shared_ptr<TraceSession> TraceSession::begin(std::size_t max_events) {
  std::shared_ptr<TraceSession> session(new TraceSession(max_events));
  TraceSessions& sessions = Immortal<TraceSessions>::get();
  const std::scoped_lock lock(sessions.mutex);
  sessions.active.push_back(session.get());
  trace_flag.store(true, std::memory_order_relaxed);
  return session;
}

void TraceSession::stop() noexcept {
  TraceSessions& sessions = Immortal<TraceSessions>::get();
  const std::scoped_lock lock(sessions.mutex);
  std::erase(sessions.active, this);
  trace_flag.store(!sessions.active.empty(), std::memory_order_relaxed);
}

TraceSession::Result TraceSession::end() {
  stop();  // from here on only this thread uses the content
  Result result;
  result.begin_ns = content_->begin_ns;
  result.end_ns = monotonic_ns();
  result.dropped = content_->dropped;
  const std::vector<TracedWorkPointer> work(content_->work.begin(), content_->work.end());
  result.events = events_of(work, result.dropped);
  result.events.insert(result.events.end(), std::make_move_iterator(content_->events.begin()),
                       std::make_move_iterator(content_->events.end()));
  content_->events.clear();
  content_->work.clear();
  // An enclosing event comes before the events inside it.
  std::stable_sort(result.events.begin(), result.events.end(), [](const TraceEvent& a, const TraceEvent& b) {
    if (a.begin_ns != b.begin_ns) return a.begin_ns < b.begin_ns;
    return a.end_ns > b.end_ns;
  });
  return result;
}

void TraceSpan::begin(fe_trace_kind kind, const char* name) noexcept {
  try {
    auto label = std::make_shared<TraceLabel>();
    label->name = name;
    own_label_ = label.get();
    label_ = std::move(label);
  } catch (...) {  // no memory: the event is left out
    return;
  }
  kind_ = kind;
  begin_ns_ = monotonic_ns();
}

void TraceSpan::end() noexcept {
  add_to_traces(TraceEvent{kind_, -1, thread_number(), begin_ns_, monotonic_ns(), std::move(label_)});
}

void NodeTimeRecorder::record_node_time(void* call, uint32_t node, uint64_t begin_ns, uint64_t end_ns) noexcept {
  const SegmentLabelsPointer& labels = static_cast<const NodeTimeRecorder*>(call)->labels_;
  if (node >= labels->nodes.size()) return;
  add_to_traces(TraceEvent{FE_TRACE_KERNEL, -1, thread_number(), begin_ns, std::max(begin_ns, end_ns),
                           TraceLabelPointer(labels, &labels->nodes[node])});
}

}  // namespace ferrule
