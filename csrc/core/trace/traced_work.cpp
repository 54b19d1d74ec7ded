#include "core/trace/traced_work.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace ferrule {
namespace {

std::atomic<uint64_t> last_number{0};

TracedWorkPointer make_work(fe_trace_kind kind, uint64_t device, SegmentLabelsPointer labels) {
  return std::make_shared<TracedWork>(kind, device, std::move(labels));
}

}  // namespace

TracedWork::TracedWork(fe_trace_kind kind, uint64_t device, SegmentLabelsPointer labels)
    : kind_(kind), number_(++last_number), device_(device), labels_(std::move(labels)), nodes_(labels_->nodes.size()) {}

TracedWorkPointer TracedWork::of_segment(uint64_t device, SegmentLabelsPointer labels) noexcept {
  if (!labels) return nullptr;
  try {
    return make_work(FE_TRACE_SEGMENT, device, std::move(labels));
  } catch (...) {  // no memory
    return nullptr;
  }
}

TracedWorkPointer TracedWork::of_transfer(uint64_t device, TraceLabel label) noexcept {
  if (!is_tracing()) return nullptr;
  try {
    return make_work(FE_TRACE_TRANSFER, device,
                     std::make_shared<const SegmentLabels>(SegmentLabels{std::move(label), {}}));
  } catch (...) {  // no memory
    return nullptr;
  }
}

void TracedWork::submit(fe_queue_kind queue, std::vector<uint64_t> after) {
  queue_ = queue;
  after_ = std::move(after);
  submitted_ns_ = monotonic_ns();
}

void TracedWork::record_node_time(void* work, uint32_t node, uint64_t begin_ns, uint64_t end_ns) noexcept {
  auto& traced = *static_cast<TracedWork*>(work);
  const std::scoped_lock lock(traced.mutex_);
  if (node < traced.nodes_.size()) traced.nodes_[node] = {begin_ns, std::max(begin_ns, end_ns)};
}

void TracedWork::finish(std::optional<uint64_t> end_ns) noexcept {
  const uint64_t now = monotonic_ns();
  const bool is_believed = end_ns && *end_ns >= submitted_ns_ && *end_ns <= now;
  const std::scoped_lock lock(mutex_);
  if (end_ns_ == 0) end_ns_ = is_believed ? *end_ns : now;
}

uint64_t TracedWork::end_ns() const {
  const std::scoped_lock lock(mutex_);
  return end_ns_;
}

std::vector<TracedWork::Times> TracedWork::nodes() const {
  std::vector<Times> nodes(labels_->nodes.size());  // no allocation under the lock
  const std::scoped_lock lock(mutex_);
  std::copy(nodes_.begin(), nodes_.end(), nodes.begin());
  return nodes;
}

std::vector<TraceEvent> events_of(const std::vector<TracedWorkPointer>& work, uint64_t& dropped) {
  constexpr uint64_t never = std::numeric_limits<uint64_t>::max();
  using Queue = std::pair<uint64_t, fe_queue_kind>;
  const auto queue_of = [](const TracedWork& one) { return Queue(one.device(), one.queue()); };

  // Work ends no later than later work of its queue, even if the end of the later work was noticed first.
  std::vector<uint64_t> ends(work.size());
  std::map<Queue, uint64_t> next_end;
  for (std::size_t i = work.size(); i-- > 0;) {
    const uint64_t known = work[i]->end_ns();
    uint64_t& next = next_end.try_emplace(queue_of(*work[i]), never).first->second;
    next = ends[i] = std::min(known == 0 ? never : known, next);
  }

  std::vector<TraceEvent> events;
  std::map<Queue, uint64_t> last_end;
  std::unordered_map<uint64_t, uint64_t> end_of;  // by the work's number
  for (std::size_t i = 0; i < work.size(); ++i) {
    const TracedWork& one = *work[i];
    if (ends[i] == never) {
      dropped += one.event_count();
      continue;
    }
    end_of[one.number()] = ends[i];
    uint64_t& last = last_end[queue_of(one)];
    uint64_t begin = std::max(one.submitted_ns(), last);
    for (const uint64_t number : one.after())
      if (const auto found = end_of.find(number); found != end_of.end()) begin = std::max(begin, found->second);
    const uint64_t end = last = std::max(ends[i], last);
    begin = std::min(begin, end);
    std::vector<TracedWork::Times> nodes = one.nodes();
    uint64_t first_node = end;
    bool is_told = false;
    for (TracedWork::Times& node : nodes) {
      if (!node.is_known()) continue;
      node = {std::clamp(node.begin_ns, begin, end), std::clamp(node.end_ns, begin, end)};
      first_node = std::min(first_node, node.begin_ns);
      is_told = true;
    }
    if (is_told) begin = first_node;
    const SegmentLabelsPointer& labels = one.labels();
    const auto queue = static_cast<int32_t>(one.queue());
    events.push_back({one.kind(), queue, 0, begin, end, TraceLabelPointer(labels, &labels->whole)});
    for (std::size_t n = 0; n < nodes.size(); ++n)
      if (nodes[n].is_known())
        events.push_back({FE_TRACE_KERNEL, queue, 0, nodes[n].begin_ns, nodes[n].end_ns,
                          TraceLabelPointer(labels, &labels->nodes[n])});
  }
  return events;
}

}  // namespace ferrule
