// Queues of the null backend without a core: when work is done, in which order, and its duration by their clock.
#include "fake_host.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

extern "C" const fe_static_module ferrule_module_null;

namespace ferrule::test {
namespace {

class NullQueues : public testing::Test {
 protected:
  struct Release {
    fe_backend* backend;
    void operator()(fe_module_buffer* buffer) const { backend->buffer_free(buffer); }
    void operator()(fe_module_queue* queue) const { backend->queue_destroy(queue); }
    void operator()(fe_module_event* event) const { backend->event_release(event); }
  };
  using Buffer = std::unique_ptr<fe_module_buffer, Release>;
  using Queue = std::unique_ptr<fe_module_queue, Release>;
  using Event = std::unique_ptr<fe_module_event, Release>;

  void open(const std::map<std::string, std::string>& options) {
    backend.struct_size = sizeof backend;
    ASSERT_EQ(outcome(ferrule_module_null.init(&fake_host(), &backend)).code, FE_OK);
    std::vector<fe_option> list;
    list.reserve(options.size());
    for (const auto& [key, value] : options) list.push_back({sizeof(fe_option), key.c_str(), value.c_str()});
    ASSERT_EQ(
        outcome(backend.device_open(backend.self, 0, list.data(), static_cast<uint32_t>(list.size()), &device)).code,
        FE_OK);
  }
  Queue queue(fe_queue_kind kind = FE_QUEUE_COMPUTE) {
    fe_module_queue* made = nullptr;
    EXPECT_EQ(outcome(backend.queue_create(device, kind, &made)).code, FE_OK);
    return {made, {&backend}};
  }
  Buffer buffer(uint64_t size) {
    fe_module_buffer* made = nullptr;
    EXPECT_EQ(outcome(backend.buffer_allocate(device, size, 64, &made)).code, FE_OK);
    return {made, {&backend}};
  }
  Event record(const Queue& of) {
    fe_module_event* made = nullptr;
    EXPECT_EQ(outcome(backend.event_record(of.get(), &made)).code, FE_OK);
    return {made, {&backend}};
  }
  Outcome wait(const Event& event) { return outcome(backend.event_wait(event.get(), -1)); }
  void let_wait(const Queue& waiting, const Event& event) {
    EXPECT_EQ(outcome(backend.queue_wait_event(waiting.get(), event.get())).code, FE_OK);
  }
  void fill(const Queue& by, const Buffer& to, uint8_t byte, uint64_t size) {
    EXPECT_EQ(outcome(backend.fill(device, by.get(), to.get(), 0, &byte, 1, size)).code, FE_OK);
  }
  void upload(const Queue& by, const Buffer& to, const std::vector<uint8_t>& from) {
    EXPECT_EQ(outcome(backend.copy_from_host(device, by.get(), to.get(), 0, from.data(), from.size())).code, FE_OK);
  }
  void download(const Queue& by, std::vector<uint8_t>& to, const Buffer& from) {
    EXPECT_EQ(outcome(backend.copy_to_host(device, by.get(), to.data(), from.get(), 0, to.size())).code, FE_OK);
  }
  uint8_t* bytes(const Buffer& of) { return static_cast<uint8_t*>(backend.buffer_host_pointer(of.get())); }
  uint64_t now_ns() { return reinterpret_cast<uint64_t (*)()>(backend.get_proc("now_ns"))(); }
  void TearDown() override {
    if (device) backend.device_close(device);
    if (backend.self) backend.close(backend.self);
  }

  fe_backend backend{};
  fe_module_device* device = nullptr;
};

TEST_F(NullQueues, LateWorkIsDoneOnlyWhenItIsWaitedFor) {
  open({{"late", "true"}});
  const Queue one = queue();
  const Buffer to = buffer(64);
  std::fill_n(bytes(to), 64, 1);
  std::vector<uint8_t> from(64, 2);
  upload(one, to, from);
  std::fill(from.begin(), from.end(), 3);
  EXPECT_EQ(bytes(to)[0], 1);
  const Event event = record(one);
  EXPECT_EQ(outcome(backend.event_wait(event.get(), 0)).code, FE_TIMEOUT);
  EXPECT_EQ(bytes(to)[0], 1);
  EXPECT_EQ(wait(event).code, FE_OK);
  EXPECT_EQ(bytes(to)[63], 3) << "the host's memory is read when the time has come";
}

TEST_F(NullQueues, PollingALateEventEventuallySucceeds) {
  open({{"late", "true"}});
  const Queue one = queue();
  const Buffer to = buffer(64);
  for (uint8_t i = 1; i <= 20; ++i) fill(one, to, i, 64);
  const Event event = record(one);
  int asked = 0;
  while (backend.event_done(event.get()) == 0) ASSERT_LT(++asked, 1000);
  EXPECT_GT(asked, 1);
  EXPECT_EQ(bytes(to)[0], 20);
}

class NullQueuesFastAndSlow : public NullQueues, public testing::WithParamInterface<const char*> {};

TEST_P(NullQueuesFastAndSlow, EventReportsErrorsSinceTheEventBeforeIt) {
  open({{GetParam(), "true"}, {"copy_fails_at", "2"}});
  const Queue one = queue();
  const Buffer to = buffer(64);
  std::vector<Event> events;
  for (uint8_t i = 1; i <= 3; ++i) {
    fill(one, to, i, 64);
    events.push_back(record(one));
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(wait(events[2]).code, FE_OK);
    EXPECT_EQ(wait(events[1]).message, "null: copy 2 failed, as requested");
    EXPECT_EQ(wait(events[0]).code, FE_OK);
  }
  EXPECT_EQ(bytes(to)[0], 3);
}

TEST_P(NullQueuesFastAndSlow, QueueWaitsForTheEventOfAnotherQueue) {
  for (int seed = 1; seed <= 20; ++seed) {
    open({{GetParam(), "true"}, {"seed", std::to_string(seed)}});
    {
      const Queue first = queue(), second = queue(FE_QUEUE_DOWNLOAD);
      const Buffer from = buffer(64), between = buffer(64);
      std::vector<uint8_t> result(64, 0);
      for (uint8_t turn = 1; turn <= 10; ++turn) {
        fill(first, from, turn, 64);
        EXPECT_EQ(outcome(backend.copy(device, first.get(), between.get(), 0, from.get(), 0, 64)).code, FE_OK);
        const Event copied = record(first);
        let_wait(second, copied);
        download(second, result, between);
        const Event read = record(second);
        let_wait(first, read);
        if (turn % 5 == 0) {
          EXPECT_EQ(wait(read).code, FE_OK);
          EXPECT_EQ(result, std::vector<uint8_t>(64, turn));
        }
      }
    }
    TearDown();
    device = nullptr;
    backend = {};
  }
}

TEST_P(NullQueuesFastAndSlow, LostDeviceDoesNoWorkUntilAReset) {
  open({{GetParam(), "true"}, {"device_lost_at", "1"}});
  const Queue first = queue(), second = queue(FE_QUEUE_UPLOAD);
  const Buffer to = buffer(64);
  std::fill_n(bytes(to), 64, 9);
  OneNode graph("silu", 1, 4, "float32");
  fe_module_executable* executable = nullptr;
  ASSERT_EQ(outcome(backend.compile(device, &graph.view, &executable)).code, FE_OK);
  const std::array<fe_binding, 2> bindings = {
      {{sizeof(fe_binding), to.get(), 0, 0}, {sizeof(fe_binding), to.get(), 16, 0}}};
  fe_execution execution{};
  execution.struct_size = sizeof execution;
  execution.bindings = bindings.data();
  EXPECT_EQ(outcome(backend.execute(executable, first.get(), &execution)).code, FE_OK);
  const Event lost = record(first);
  let_wait(second, lost);
  fill(second, to, 1, 64);
  const Event behind = record(second);
  EXPECT_EQ(wait(lost).message, "null: the device was lost at execution 1");
  EXPECT_EQ(wait(behind).code, FE_DEVICE_LOST);
  EXPECT_EQ(bytes(to)[0], 9);
  EXPECT_EQ(outcome(backend.queue_reset(first.get())).code, FE_OK);
  fill(second, to, 1, 64);
  EXPECT_EQ(wait(record(second)).code, FE_OK);
  EXPECT_EQ(bytes(to)[0], 1);
  backend.executable_release(executable);
}

INSTANTIATE_TEST_SUITE_P(Is, NullQueuesFastAndSlow, testing::Values("late", "threaded"),
                         [](const auto& information) { return std::string(information.param); });

// By the clock, the copies of one batch overlap the computation of another.
TEST_F(NullQueues, ClockShowsOverlappingWork) {
  constexpr int batches = 50;
  constexpr uint64_t size = 1000;
  open({{"late", "true"}, {"bytes_per_second", "1000000000"}, {"execution_ns", "1000"}});
  const Queue up = queue(FE_QUEUE_UPLOAD), computing = queue(), down = queue(FE_QUEUE_DOWNLOAD);
  const std::array<Buffer, 2> given = {buffer(size), buffer(size)};
  std::vector<uint8_t> from(size, 1), to(size, 0);
  std::array<Event, 2> read;
  for (int batch = 0; batch < batches; ++batch) {
    const auto place = static_cast<std::size_t>(batch % 2);
    if (read[place]) let_wait(up, read[place]);
    upload(up, given[place], from);
    let_wait(computing, record(up));
    fill(computing, given[place], static_cast<uint8_t>(batch), size);
    let_wait(down, record(computing));
    download(down, to, given[place]);
    read[place] = record(down);
  }
  EXPECT_EQ(now_ns(), 0u) << "the host has not waited yet";
  EXPECT_EQ(wait(record(down)).code, FE_OK);
  EXPECT_EQ(to[0], batches - 1);
  // Each of the three steps alternates between two buffers, so the time is at least half of the sequential time.
  EXPECT_EQ(now_ns(), 1000u * (3 * batches / 2 + (batches % 2) + 1)) << "ns";
}

TEST_F(NullQueues, MemoryOptionLimitsAllocations) {
  open({{"memory", "1000"}});
  const Buffer most = buffer(600);
  fe_module_buffer* more = nullptr;
  const Outcome refused = outcome(backend.buffer_allocate(device, 600, 64, &more));
  EXPECT_EQ(refused.code, FE_OUT_OF_MEMORY);
  EXPECT_EQ(refused.message, "null: of its 1000 bytes of memory 600 are in use, and 600 more are too many");
  uint64_t free_bytes = 0, total = 0;
  EXPECT_EQ(outcome(backend.device_memory(device, &free_bytes, &total)).code, FE_OK);
  EXPECT_EQ(free_bytes, 400u);
  EXPECT_EQ(total, 1000u);
}

TEST_F(NullQueues, HiddenMemoryHasNoHostPointer) {
  open({{"hidden", "true"}});
  const Queue one = queue();
  const Buffer to = buffer(64);
  EXPECT_EQ(bytes(to), nullptr);
  fill(one, to, 7, 64);
  std::vector<uint8_t> back(64, 0);
  download(one, back, to);
  EXPECT_EQ(wait(record(one)).code, FE_OK);
  EXPECT_EQ(back, std::vector<uint8_t>(64, 7));
}

TEST_F(NullQueues, CopiesStridedItems) {
  open({{"late", "true"}});
  const Queue one = queue();
  const Buffer from = buffer(24), to = buffer(24);
  std::iota(bytes(from), bytes(from) + 24, uint8_t{0});
  const std::array<int64_t, 2> shape = {3, 2}, to_strides = {8, 4}, from_strides = {4, 12};  // of (2, 3), transposed
  fe_strided_copy copy{sizeof(fe_strided_copy), to.get(),           0, from.get(), 0, 4, 2, shape.data(),
                       to_strides.data(),       from_strides.data()};
  EXPECT_EQ(outcome(backend.copy_strided(device, one.get(), &copy)).code, FE_OK);
  EXPECT_EQ(wait(record(one)).code, FE_OK);
  const std::vector<uint8_t> rows = {0, 12, 4, 16, 8, 20};
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(bytes(to)[4 * i], rows[i]) << i;
  copy.from_offset = 4;
  EXPECT_EQ(outcome(backend.copy_strided(device, one.get(), &copy)).code, FE_INVALID_ARGUMENT) << "leaves the buffer";
}

TEST_F(NullQueues, ComputingModuleThatCannotBeOpenedIsAnError) {
  backend.struct_size = sizeof backend;
  ASSERT_EQ(outcome(ferrule_module_null.init(&fake_host(), &backend)).code, FE_OK);
  const fe_option option = {sizeof(fe_option), "computes_with", "/there/is/no/such.so"};
  const Outcome refused = outcome(backend.device_open(backend.self, 0, &option, 1, &device));
  EXPECT_EQ(refused.code, FE_IO);
  EXPECT_NE(refused.message.find("/there/is/no/such.so cannot be opened"), std::string::npos) << refused.message;
}

}  // namespace
}  // namespace ferrule::test
