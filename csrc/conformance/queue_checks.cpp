// Behaviour of queues that the core relies on: a reset waits, a queue waits for another's events, and each kind works.
#include "conformance/graph.h"

#include <chrono>
#include <deque>
#include <iterator>
#include <optional>
#include <span>
#include <thread>

namespace ferrule::conformance {
namespace {

// The core waits with a reset if no event is available.
void reset_waits(const Subject& subject, Report& report, const void*) {
  const Opened opened(subject);
  const Device& device = opened.device;
  if (!device.queue()) throw NotApplicable{"it has no queues"};
  const fe_backend& b = opened.backend.table();
  const Sample& sample = *supported_samples(device, subject).front();
  const auto graph = graph_of(sample);
  const Executable executable(device, graph->view());
  for (int round = 0; round < 20; ++round) {
    Bound bound(device, device.queue(), *graph, executable, subject.seed);
    for (int i = 0; i < 20; ++i)
      expect(take(b.execute(executable.handle(), device.queue(), &bound.execution())), name_of(sample));
    const Event event(device, device.queue());
    expect(take(b.queue_reset(device.queue())), "queue_reset");
    const bool is_done = event.is_done();
    expect(event.wait(), name_of(sample));
    if (!is_done) return report.problem("queue_reset returns before the work that was given to the queue is over");
  }
}

// ---- queue_wait_event

// Throws NotApplicable unless the device's queues can wait for each other.
void require_waits(const Device& device, fe_module_queue* waiting) {
  const fe_backend& b = device.backend().table();
  if (!device.queue()) throw NotApplicable{"it has no queues"};
  if (!FE_HAS_SLOT(&b, queue_wait_event)) throw NotApplicable{"it has no slot queue_wait_event"};
  const Event event(device, device.queue());
  const Outcome outcome = take(b.queue_wait_event(waiting, event.handle()));
  if (outcome.code == FE_UNSUPPORTED) throw NotApplicable{"its queues do not wait for events: " + outcome.message};
  expect(outcome, "queue_wait_event");
}

// Copies on a queue of a device; the host does not wait for them.
class Lane {
 public:
  Lane(const Device& device, fe_module_queue* queue) : device_(&device), queue_(queue) {}
  fe_module_queue* queue() const { return queue_; }
  void wait_for(const Event& event) const {
    expect(take(device_->backend()->queue_wait_event(queue_, event.handle())), "queue_wait_event");
  }
  void send(const Buffer& to, std::span<const char> bytes) const {
    expect(
        take(device_->backend()->copy_from_host(device_->handle(), queue_, to.handle(), 0, bytes.data(), bytes.size())),
        "copy_from_host");
  }
  void copy(const Buffer& to, uint64_t to_offset, const Buffer& from, uint64_t size) const {
    expect(take(device_->backend()->copy(device_->handle(), queue_, to.handle(), to_offset, from.handle(), 0, size)),
           "copy");
  }
  void receive(std::span<char> bytes, const Buffer& from) const {
    expect(
        take(device_->backend()->copy_to_host(device_->handle(), queue_, bytes.data(), from.handle(), 0, bytes.size())),
        "copy_to_host");
  }

 private:
  const Device* device_;
  fe_module_queue* queue_;
};

// One queue copies bytes through a chain of buffers; the other waits and reads them.
void reads_after_wait(const Device& device, const Lane& first, const Lane& second, Report& report, uint64_t seed) {
  constexpr int turns = 40;
  constexpr uint64_t size = 256 << 10;
  Bytes received(size);
  const Buffer a(device, size), b(device, size), c(device, size);
  report.now("a queue that reads what another one brings");
  for (int turn = 0; turn < turns; ++turn) {
    const Bytes sent = random_bytes(size, seed + static_cast<uint64_t>(turn));
    first.send(a, sent);
    first.copy(b, 0, a, size);
    first.copy(c, 0, b, size);
    const Event given(device, first.queue());
    second.wait_for(given);
    second.receive(received, c);
    const Event taken(device, second.queue());
    expect(taken.wait(), "a copy behind queue_wait_event");
    const bool is_right =
        expect_bytes(report, received, sent, "what a queue reads that has waited for another's event");
    expect(given.wait(), "a copy");
    if (!is_right) return;
  }
}

// Asks again and again whether an event is done, and throws after a time that no copy takes.
void ask_until_done(const Event& event, const std::string& what) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!event.is_done()) {
    if (std::chrono::steady_clock::now() > deadline) throw Failure{what + ": its event is not done after 20 s"};
    std::this_thread::yield();
  }
}

// A queue waits for all work of another one, and then for less of it: it still waits for all.
void waits_for_an_earlier_event(const Device& device, const Lane& first, const Lane& second, Report& report,
                                uint64_t seed) {
  constexpr int turns = 20;
  constexpr uint64_t size = 256 << 10;
  const Buffer a(device, size), b(device, size), c(device, size);
  report.now("a queue that waits for an event of another one, and then for an earlier event of it");
  for (int turn = 0; turn < turns; ++turn) {
    const Event early(device, first.queue());
    const Bytes sent = random_bytes(size, seed + static_cast<uint64_t>(turn));
    first.send(a, sent);
    first.copy(b, 0, a, size);
    const Event late(device, first.queue());
    second.wait_for(late);
    second.wait_for(early);
    second.copy(c, 0, b, size);
    const Event copied(device, second.queue());
    ask_until_done(copied, "a copy behind queue_wait_event");
    expect(copied.wait(), "a copy behind queue_wait_event");
    const bool is_right =
        expect_bytes(report, read_bytes(device, second.queue(), c, size), sent,
                     "what a queue copies that has waited for another's event and for an earlier one");
    expect(late.wait(), "a copy");
    if (!is_right) return;
  }
}

// The queues wait for each other in turn; the host waits only at the end.
void take_turns(const Device& device, const Lane& first, const Lane& second, Report& report, uint64_t seed) {
  constexpr uint64_t turns = 32, size = 64 << 10;
  const Bytes sent = random_bytes(turns * size, seed);
  const Buffer passing(device, size), kept(device, turns * size);
  report.now("two queues that wait for each other in turn");
  std::deque<Event> given, taken;
  for (uint64_t turn = 0; turn < turns; ++turn) {
    if (turn > 0) first.wait_for(taken.back());
    first.send(passing, std::span(sent).subspan(turn * size, size));
    second.wait_for(given.emplace_back(device, first.queue()));
    second.copy(kept, turn * size, passing, size);
    taken.emplace_back(device, second.queue());
  }
  expect(finish(device, first.queue()), "copies of a queue that waits for another");
  expect(finish(device, second.queue()), "copies of a queue that waits for another");
  expect_bytes(report, read_bytes(device, first.queue(), kept, turns * size), sent,
               "what two queues copy that wait for each other in turn");
}

// Waits for events that are done.
void wait_for_nothing(const Device& device, const Lane& first, const Lane& second, Report& report, uint64_t seed) {
  constexpr uint64_t size = 4096;
  const Buffer buffer(device, size);
  const auto try_wait = [&](const std::string& what, const Lane& waiting, const Event& event) {
    report.now(what);
    waiting.wait_for(event);
    const Bytes sent = random_bytes(size, ++seed);
    Bytes received(size);
    waiting.send(buffer, sent);
    waiting.receive(received, buffer);
    expect(finish(device, waiting.queue()), what);
    expect_bytes(report, received, sent, what);
  };
  {
    const Event own(device, first.queue());
    try_wait("copies behind a wait for an event of the same queue", first, own);
    try_wait("copies behind a second wait for an event of the same queue", first, own);
  }
  const Event passed(device, first.queue());
  expect(passed.wait(), "an event");
  try_wait("copies behind a wait for an event that is done", second, passed);
  std::optional<Queue> gone;
  gone.emplace(device);
  const Bytes sent = random_bytes(size, ++seed);
  Lane(device, gone->handle()).send(buffer, sent);
  const Event last(device, gone->handle());
  gone.reset();
  try_wait("copies behind a wait for an event whose queue was destroyed", second, last);
}

void queues_wait(const Subject& subject, Report& report, const void*) {
  const Opened opened(subject);
  const Device& device = opened.device;
  const Queue other(device);
  require_waits(device, other.handle());
  const Lane first(device, device.queue()), second(device, other.handle());
  waits_for_an_earlier_event(device, first, second, report, subject.seed);
  reads_after_wait(device, first, second, report, subject.seed);
  take_turns(device, first, second, report, subject.seed);
  wait_for_nothing(device, first, second, report, subject.seed);
}

// An error is reported only by the queue whose work failed.
void errors_stay(const Subject& subject, Report& report, const void*) {
  const Module module(subject.path);
  const Backend backend(module);
  const Options options = {{option_ending(backend, "execution_fails_at", "the n-th execution fails"), "1"}};
  const Device device(backend, subject.device, options);
  const fe_backend& b = backend.table();
  const Queue other(device);
  require_waits(device, other.handle());
  const Lane first(device, device.queue()), second(device, other.handle());
  const Sample& sample = *supported_samples(device, subject).front();
  const auto graph = graph_of(sample);
  const Executable executable(device, graph->view());
  Bound failing(device, first.queue(), *graph, executable, subject.seed);
  Bound right(device, second.queue(), *graph, executable, subject.seed);
  report.now("a queue that waits for the event of an execution that fails");
  expect(take(b.execute(executable.handle(), first.queue(), &failing.execution())), "an execution that fails later");
  const Event with_error(device, first.queue());
  second.wait_for(with_error);
  const Event behind_wait(device, second.queue());
  expect(take(b.execute(executable.handle(), second.queue(), &right.execution())), name_of(sample));
  const Event behind_work(device, second.queue());
  const auto expect_none = [&](const Event& event, const std::string& what) {
    if (const Outcome outcome = event.wait(); !outcome)
      report.problem(what + " gives the error of the queue that it waited for: " + outcome.message);
  };
  expect_none(behind_wait, "an event behind queue_wait_event");
  expect_none(behind_work, "an event behind queue_wait_event and an execution");
  expect_error(report, with_error.wait(), "a wait for an event for which another queue waited");
}

// ---- memory of several buffers

// A buffer over memory of the host.
class BorrowedBuffer {
 public:
  BorrowedBuffer(const Device& device, std::span<char> bytes) : table_(&device.backend().table()) {
    const Outcome outcome =
        take(table_->buffer_borrow(device.handle(), bytes.data(), bytes.size(), FE_ACCESS_READ_WRITE, &handle_));
    if (outcome.code == FE_UNSUPPORTED) throw NotApplicable{"it does not borrow this memory: " + outcome.message};
    expect(outcome, "buffer_borrow");
  }
  BorrowedBuffer(const BorrowedBuffer&) = delete;
  BorrowedBuffer& operator=(const BorrowedBuffer&) = delete;
  ~BorrowedBuffer() { table_->buffer_free(handle_); }
  fe_module_buffer* handle() const { return handle_; }

 private:
  const fe_backend* table_;
  fe_module_buffer* handle_ = nullptr;
};

// Copies to and from one memory, in turn through buffers over all of it and over its second half.
void order_of_one_memory(const Subject& subject, Report& report, const void*) {
  const Opened opened(subject);
  const Device& device = opened.device;
  const fe_backend& b = opened.backend.table();
  if (!device.queue()) throw NotApplicable{"it has no queues"};
  fe_device_properties properties{};
  properties.struct_size = sizeof properties;
  expect(take(b.device_properties(b.self, subject.device, &properties)), "device_properties");
  if (!FE_HAS_SLOT(&b, buffer_borrow) || properties.borrow_alignment == 0) throw NotApplicable{"it borrows no memory"};
  // Whole blocks of the alignment, of at least 64 KiB, in memory that begins anywhere.
  const uint64_t alignment = properties.borrow_alignment, half = (65536 + alignment - 1) / alignment * alignment;
  Bytes memory(2 * half + alignment);
  const uint64_t skipped = (alignment - reinterpret_cast<uintptr_t>(memory.data()) % alignment) % alignment;
  const std::span<char> bytes = std::span(memory).subspan(skipped, 2 * half);
  const BorrowedBuffer whole(device, bytes), again(device, bytes), second(device, bytes.subspan(half));
  const Buffer from(device, half), kept(device, half);
  const auto copy = [&](fe_module_buffer* to, uint64_t to_offset, fe_module_buffer* source, uint64_t offset) {
    expect(take(b.copy(device.handle(), device.queue(), to, to_offset, source, offset, half)), "copy");
  };
  const auto send = [&](fe_module_buffer* to, uint64_t offset, const Bytes& sent) {
    expect(take(b.copy_from_host(device.handle(), device.queue(), to, offset, sent.data(), half)), "copy_from_host");
  };
  const auto receive = [&](fe_module_buffer* source, uint64_t offset) {
    Bytes received(half);
    expect(take(b.copy_to_host(device.handle(), device.queue(), received.data(), source, offset, half)),
           "copy_to_host");
    expect(finish(device, device.queue()), "copies");
    return received;
  };
  for (uint64_t turn = 0; turn < 8; ++turn) {
    const Bytes first = random_bytes(half, subject.seed + 2 * turn),
                next = random_bytes(half, subject.seed + 2 * turn + 1);
    fe_module_buffer* const other = turn % 2 == 0 ? again.handle() : second.handle();
    const uint64_t place = turn % 2 == 0 ? half : 0;
    report.now("a copy to memory that the host then reads through another buffer");
    send(from.handle(), 0, first);
    copy(whole.handle(), half, from.handle(), 0);
    expect_bytes(report, receive(other, place), first, "what was written through another buffer over the memory");
    report.now("a copy from memory that the host then writes through another buffer");
    copy(kept.handle(), 0, whole.handle(), half);
    send(other, place, next);
    copy(from.handle(), 0, whole.handle(), half);
    expect_bytes(report, receive(kept.handle(), 0), first,
                 "what was read before another buffer over the memory was written");
    expect_bytes(report, receive(from.handle(), 0), next, "what was written through another buffer over the memory");
  }
}

// ---- kinds

struct Kind {
  fe_queue_kind kind;
  const char* name;
};
constexpr Kind kinds[] = {
    {FE_QUEUE_COMPUTE, "computes"}, {FE_QUEUE_UPLOAD, "uploads"}, {FE_QUEUE_DOWNLOAD, "downloads"}};

void every_kind(const Subject& subject, Report& report, const void*) {
  constexpr int turns = 10;
  constexpr uint64_t size = 100'000;
  const Opened opened(subject);
  const Device& device = opened.device;
  fe_device_properties properties{};
  properties.struct_size = sizeof properties;
  expect(take(opened.backend->device_properties(opened.backend->self, subject.device, &properties)),
         "device_properties");
  if (properties.queue_kinds == 0) throw NotApplicable{"it has no queues beside the computing one"};
  if (!device.queue()) return report.problem("queue_kinds is not 0, and there are no queues");
  if (properties.queue_kinds >> std::size(kinds) != 0)
    report.problem("queue_kinds is " + std::to_string(properties.queue_kinds) +
                   ", of which a bit is not a kind of queue");
  const Buffer buffer(device, size);
  uint64_t seed = subject.seed;
  for (const Kind& each : kinds) {
    if ((properties.queue_kinds >> each.kind & 1) == 0) continue;
    const std::string what = std::string("a queue that ") + each.name;
    report.now(what);
    const Queue queue(device, each.kind);
    for (int turn = 0; turn < turns; ++turn) {
      const Bytes sent = random_bytes(size, ++seed), back = random_bytes(size, ++seed);
      write_bytes(device, queue.handle(), buffer, sent);
      expect_bytes(report, read_bytes(device, device.queue(), buffer, size), sent, what + ", a copy from the host");
      write_bytes(device, device.queue(), buffer, back);
      expect_bytes(report, read_bytes(device, queue.handle(), buffer, size), back, what + ", a copy to the host");
    }
  }
}

}  // namespace

void add_queue_checks(Checks& checks) {
  checks.push_back({"queue_reset", "a reset returns when the work of the queue is over", reset_waits});
  checks.push_back({"queue_wait_event", "what waits for another queue's event comes after it", queues_wait});
  checks.push_back({"queue_wait_event.errors", "who waits for an event of work that failed works on without its error",
                    errors_stay});
  checks.push_back({"queue_memory", "work of a queue is in order also where several buffers lie over one memory",
                    order_of_one_memory});
  checks.push_back({"queue_kinds", "each kind of queue that a device has copies right bytes", every_kind});
}

}  // namespace ferrule::conformance
