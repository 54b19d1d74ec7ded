// A correct module (two ops, queues of each kind, a device whose executions can fail or lose it), in which
// FERRULE_MUTANT selects a fault. One file, compiled once, provides every mutant of the slots.
#include <ferrule/backend.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace ferrule::sdk;

bool is(const char* mutant) {
  const char* const value = std::getenv("FERRULE_MUTANT");
  return value && std::strcmp(value, mutant) == 0;
}

// ---- the module

uint64_t event_time() {
  static std::atomic<uint64_t> count{0};
  if (is("has_another_clock")) return ++count;
  return is("goes_back_in_time") ? UINT64_MAX - monotonic_ns() : monotonic_ns();
}

// Work completes when it is submitted. Only `waits_for_nothing` defers copies until their event is waited for.
using Pending = std::vector<std::function<void()>>;
void do_all(Pending& pending) {
  if (pending.empty()) return;  // as in the correct module, where any thread may wait
  for (const std::function<void()>& work : std::exchange(pending, {})) work();
}

struct Done final : Event {
  Done(std::optional<Error> of, std::shared_ptr<Pending> work) : error(std::move(of)), pending(std::move(work)) {}
  bool done() override { return !is("resets_at_once"); }
  void wait(int64_t) override {
    do_all(*pending);
    while (error && is("hangs_when_lost")) std::this_thread::sleep_for(std::chrono::seconds(1));
    if (!error) return;
    const Error thrown = *error;
    if (is("forgets_errors")) error.reset();
    throw thrown;
  }
  uint64_t time() override { return passed_ns; }
  std::optional<Error> error;
  std::shared_ptr<Pending> pending;
  uint64_t passed_ns = event_time();
};

struct InOrder final : Queue {
  explicit InOrder(std::shared_ptr<std::atomic<bool>> lost) : is_lost(std::move(lost)) {}
  ~InOrder() override {
    do_all(*pending);
    do_all(late_traces);
  }
  std::unique_ptr<Event> record() override {
    auto event = std::make_unique<Done>(error, pending);
    if (!is("remembers_errors")) error.reset();
    return event;
  }
  void reset() override {
    do_all(*pending);
    error.reset();
    if (is("recovers")) *is_lost = false;
    if (*is_lost) throw Error(FE_DEVICE_LOST, "the device was lost, as requested");
  }
  void wait_for(Event& event) override {
    const std::optional<Error>& other = static_cast<Done&>(event).error;
    if (other && is("takes_over_errors")) error = other;
  }
  void fail(Error of) {
    if (!error) error.emplace(std::move(of));
  }
  // Whether work completes now; if not, its event reports the error.
  bool begins() {
    do_all(*pending);
    if (*is_lost) fail({FE_DEVICE_LOST, "the device was lost, as requested"});
    return !*is_lost && !(error && is("skips_after_errors"));
  }
  template <class Work>
  void give(Work work) {
    if (is("waits_for_nothing"))
      pending->push_back(work);
    else if (begins())
      work();
  }
  std::shared_ptr<std::atomic<bool>> is_lost;  // shared with the device
  std::optional<Error> error;                  // of the work since the last event
  std::shared_ptr<Pending> pending = std::make_shared<Pending>();
  Pending late_traces;
};

InOrder& in_order(Queue* queue) { return static_cast<InOrder&>(*queue); }

struct Sums final : Executable {
  struct Step {
    Operand a, b, out;
    bool multiplies;
  };
  std::vector<Step> steps;
  int64_t lost_at, fails_at;
  std::atomic<int64_t>* executions;

  void execute(Queue* queue, const fe_execution& execution) override {
    InOrder& order = in_order(queue);
    const int64_t number = ++*executions;
    if (number == lost_at) *order.is_lost = true;
    if (!order.begins()) return;
    if (number == fails_at) return order.fail({FE_INTERNAL, "the execution failed, as requested"});
    if (execution.poll && is("ignores_poll")) {
      host->error_release(execution.poll(execution.poll_argument));
    } else if (execution.poll) {
      check(execution.poll(execution.poll_argument));
    }
    const Launch launch(execution);
    for (uint32_t node = 0; node < steps.size(); ++node) {
      const uint64_t begin = monotonic_ns();
      run(launch, steps[node]);
      if (execution.trace) tell(order, execution, node, begin);
    }
  }

  static void tell(InOrder& order, const fe_execution& execution, uint32_t node, uint64_t begin) {
    const uint64_t end = is("traces_backwards") ? begin - 1 : monotonic_ns();
    if (is("traces_another_graph")) node += 100;
    const auto call = [=, trace = execution.trace, argument = execution.trace_argument] {
      trace(argument, node, begin, end);
    };
    if (is("traces_late"))
      order.late_traces.push_back(call);
    else
      call();
  }

  static void run(const Launch& launch, const Step& step) {
    static float shared[1024];  // used by the fault `races` instead of private memory
    const auto *x = launch.pointer<const float>(step.a), *y = launch.pointer<const float>(step.b);
    float* const out = launch.pointer<float>(step.out);
    const auto count = static_cast<size_t>(step.out.count());
    std::vector<float> own(count);
    float* const result = is("races") && count <= 1024 ? shared : own.data();
    for (size_t i = 0; i < count; ++i) {
      result[i] = step.multiplies ? x[i] * y[i] : x[i] + y[i];
      if (result == shared) std::this_thread::yield();
    }
    if (count > 0) std::memcpy(out, result, count * sizeof(float));
  }
};

class Adder final : public HostDevice {
 public:
  explicit Adder(const Options& options)
      : lost_at_(options.integer("lost_at", 0)), fails_at_(options.integer("execution_fails_at", 0)) {
    if (is("leaks_devices")) leaked_ = std::malloc(4096);
  }
  std::unique_ptr<Queue> create_queue(fe_queue_kind kind) override {
    if (kind == FE_QUEUE_UPLOAD && is("has_no_upload_queue")) throw Error(FE_UNSUPPORTED, "there is no such queue");
    return std::make_unique<InOrder>(is("loses_one_queue") ? std::make_shared<std::atomic<bool>>(false) : is_lost_);
  }

  std::unique_ptr<Buffer> borrow(void* pointer, uint64_t size, fe_access access) override {
    return is("borrows_other_memory") ? allocate(size, 64) : HostDevice::borrow(pointer, size, access);
  }

  void copy_from_host(Queue* queue, Buffer& to, uint64_t to_offset, const void* from, uint64_t size) override {
    in_order(queue).give([=, this, &to] { HostDevice::copy_from_host(queue, to, to_offset, from, size); });
  }
  void copy_to_host(Queue* queue, void* to, Buffer& from, uint64_t from_offset, uint64_t size) override {
    in_order(queue).give([=, this, &from] { HostDevice::copy_to_host(queue, to, from, from_offset, size); });
  }
  void copy(Queue* queue, Buffer& to, uint64_t to_offset, Buffer& from, uint64_t from_offset, uint64_t size) override {
    // Byte by byte: where the ranges overlap, bytes are read that were written before.
    const uint64_t step = is("copies_forwards") ? 1 : std::max<uint64_t>(size, 1);
    in_order(queue).give([=, this, &to, &from] {
      for (uint64_t i = 0; i < size; i += step) HostDevice::copy(queue, to, to_offset + i, from, from_offset + i, step);
    });
  }
  void copy_strided(Queue* queue, const StridedCopy& copy) override {
    if (!in_order(queue).begins()) return;
    StridedCopy wrong = copy;
    if (is("copies_words") && copy.item_size > 1) wrong.item_size = copy.item_size / 2 * 2;
    HostDevice::copy_strided(queue, wrong);
  }
  void fill(Queue* queue, Buffer& to, uint64_t to_offset, std::span<const std::byte> pattern, uint64_t size) override {
    if (!in_order(queue).begins()) return;
    if (is("fills_bytes")) pattern = pattern.first(1);
    const bool has_room = to_offset + size + pattern.size() <= to.size();
    HostDevice::fill(queue, to, to_offset, pattern, is("fills_too_much") && has_room ? size + pattern.size() : size);
  }
  void* host_allocate(uint64_t size) override {
    void* const memory = ::operator new(size + room_, host_alignment_, std::nothrow);
    if (!memory) throw Error(FE_OUT_OF_MEMORY, "the host has no such memory");
    return is("misaligns_host_memory") ? static_cast<char*>(memory) + room_ : memory;
  }
  void host_free(void* pointer) override {
    if (is("misaligns_host_memory")) pointer = static_cast<char*>(pointer) - room_;
    ::operator delete(pointer, host_alignment_);
  }

  Support supports(const Node& node) override {
    if (is("silent_refusals")) return {.supported = node.op() == "add"};
    if (node.body() || (node.op() != "add" && node.op() != "multiply"))
      return refused("only add and multiply are here");
    for (uint32_t i = 0; i < 2; ++i)
      if (!node.input(i).is("float32") || !node.input(i).is_contiguous() ||
          node.input(i).count() != node.output(0).count())
        return refused("only equal shapes of float32 are here");
    return {.kernel = "sums", .contiguous_inputs = {0, 1}};
  }

  std::unique_ptr<Executable> compile(const fe_graph_view& view) override {
    if (is("leaks")) leaked_ = std::malloc(64);
    auto executable = std::make_unique<Sums>();
    executable->lost_at = lost_at_;
    executable->fails_at = fails_at_;
    executable->executions = &executions_;
    for (uint32_t i = 0; i < view.node_count; ++i) {
      const Node node(view, i);
      if (const Support answer = supports(node); !answer.supported) throw Error(FE_UNSUPPORTED, answer.reason);
      executable->steps.push_back({node.input(0), node.input(1), node.output(0), node.op() == "multiply"});
    }
    return executable;
  }

 private:
  static Support refused(const char* why) { return {.supported = false, .reason = why}; }
  static constexpr size_t room_ = 8;  // guard bytes before and after each allocation
  static constexpr std::align_val_t host_alignment_{64};
  const int64_t lost_at_, fails_at_;
  std::shared_ptr<std::atomic<bool>> is_lost_ = std::make_shared<std::atomic<bool>>(false);
  std::atomic<int64_t> executions_{0};
  void* volatile leaked_ = nullptr;
};

class Sound final : public Backend {
 public:
  static constexpr bool has_queues = true;
  std::vector<DeviceDescription> devices() override {
    return {{.kind = FE_DEVICE_CPU,  // a test device may have its own clock
             .flags = FE_DEVICE_FLAG_HOST_MEMORY,
             .name = "sound",
             .borrow_alignment = 1,
             .queue_kinds = 1u << FE_QUEUE_UPLOAD | 1u << FE_QUEUE_DOWNLOAD}};
  }
  std::vector<OptionDescription> options() override {
    return {{"lost_at", "integer", "the n-th execution loses it"},
            {"execution_fails_at", "integer", "the n-th execution fails; its event reports it"}};
  }
  std::unique_ptr<Device> open(uint32_t, const Options& options) override { return std::make_unique<Adder>(options); }
};

// ---- faults that replace slots

// Accepts everything without looking at it.
namespace yes {
char object[64];
template <class Handle>
fe_error* give(Handle** out) {
  if (out) *out = reinterpret_cast<Handle*>(object);
  return nullptr;
}
void use(fe_backend* table) {
  table->device_properties = [](fe_module_backend*, uint32_t, fe_device_properties* out) -> fe_error* {
    if (out) std::memset(&out->kind, 0, sizeof *out - sizeof(size_t));  // regardless of its struct_size
    return nullptr;
  };
  table->device_option = [](fe_module_backend*, uint32_t, fe_option_info*) -> fe_error* { return nullptr; };
  table->device_open = [](fe_module_backend*, uint32_t, const fe_option*, uint32_t, fe_module_device** out) {
    return give(out);
  };
  table->device_close = [](fe_module_device*) {};
  table->device_memory = [](fe_module_device*, uint64_t*, uint64_t*) -> fe_error* { return nullptr; };
  table->buffer_allocate = [](fe_module_device*, uint64_t, uint64_t, fe_module_buffer** out) { return give(out); };
  table->buffer_borrow = [](fe_module_device*, void*, uint64_t, fe_access, fe_module_buffer** out) {
    return give(out);
  };
  table->buffer_free = [](fe_module_buffer*) {};
  table->host_allocate = [](fe_module_device*, uint64_t, void** out) { return give(out); };
  table->host_free = [](fe_module_device*, void*) {};
  table->buffer_native = [](fe_module_buffer*, fe_native_memory*) -> fe_error* { return nullptr; };
  table->buffer_import = [](fe_module_device*, const fe_native_memory*, uint64_t, fe_access, fe_module_buffer** out) {
    return give(out);
  };
  table->queue_create = [](fe_module_device*, fe_queue_kind, fe_module_queue** out) { return give(out); };
  table->queue_wait_event = [](fe_module_queue*, fe_module_event*) -> fe_error* { return nullptr; };
  table->queue_native = [](fe_module_queue*, void** out) { return give(out); };
  table->native_wait_event = [](fe_module_device*, void*, fe_module_event*) -> fe_error* { return nullptr; };
  table->queue_destroy = [](fe_module_queue*) {};
  table->queue_reset = [](fe_module_queue*) -> fe_error* { return nullptr; };
  table->event_record = [](fe_module_queue*, fe_module_event** out) { return give(out); };
  table->event_wait = [](fe_module_event*, int64_t) -> fe_error* { return nullptr; };
  table->event_release = [](fe_module_event*) {};
  table->event_time = [](fe_module_event*, uint64_t*) -> fe_error* { return nullptr; };
  table->copy_from_host = [](fe_module_device*, fe_module_queue*, fe_module_buffer*, uint64_t, const void*,
                             uint64_t) -> fe_error* { return nullptr; };
  table->copy_to_host = [](fe_module_device*, fe_module_queue*, void*, fe_module_buffer*, uint64_t,
                           uint64_t) -> fe_error* { return nullptr; };
  table->copy = [](fe_module_device*, fe_module_queue*, fe_module_buffer*, uint64_t, fe_module_buffer*, uint64_t,
                   uint64_t) -> fe_error* { return nullptr; };
  table->copy_peer = [](fe_module_device*, fe_module_queue*, fe_module_buffer*, uint64_t, fe_module_device*,
                        fe_module_buffer*, uint64_t, uint64_t) -> fe_error* { return nullptr; };
  table->copy_strided = [](fe_module_device*, fe_module_queue*, const fe_strided_copy*) -> fe_error* {
    return nullptr;
  };
  table->fill = [](fe_module_device*, fe_module_queue*, fe_module_buffer*, uint64_t, const void*, uint32_t,
                   uint64_t) -> fe_error* { return nullptr; };
  table->supports = [](fe_module_device*, const fe_graph_view*, uint32_t, fe_requirements*) { return 1; };
  table->prepare_size = [](fe_module_device*, const fe_graph_view*, uint32_t, uint32_t, uint64_t*, char*,
                           size_t) -> fe_error* { return nullptr; };
  table->prepare = [](fe_module_device*, const fe_graph_view*, uint32_t, uint32_t, const fe_binding*,
                      const fe_binding*) -> fe_error* { return nullptr; };
  table->compile = [](fe_module_device*, const fe_graph_view*, fe_module_executable** out) { return give(out); };
  table->executable_release = [](fe_module_executable*) {};
  table->executable_scratch_size = [](fe_module_executable*) -> uint64_t { return 64; };
  table->execute = [](fe_module_executable*, fe_module_queue*, const fe_execution*) -> fe_error* { return nullptr; };
}
}  // namespace yes

fe_error* compile_badly(fe_module_device* device, const fe_graph_view* view, fe_module_executable** out) {
  fe_error* const error = slots::compile(device, view, out);
  if (is("breaks_promises")) {
    if (!error) slots::executable_release(*out);
    *out = nullptr;
    if (error) host->error_release(error);
    return host->error_create(FE_UNSUPPORTED, "not after all");
  }
  if (!error) return nullptr;
  if (is("aborts_on_bad_graphs")) std::abort();
  if (is("exits_on_bad_graphs")) std::exit(0);
  if (is("throws_on_bad_graphs")) throw 1;
  if (is("hangs_on_bad_graphs"))
    for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
  if (is("reads_null")) {
    volatile const uint32_t* const nowhere = nullptr;
    static_cast<void>(*nowhere);
  }
  if (is("drops_errors")) host->error_create(FE_INTERNAL, "that nobody sees");
  if (is("blames_itself") || is("says_nothing")) {
    host->error_release(error);
    return host->error_create(is("says_nothing") ? FE_INVALID_ARGUMENT : FE_INTERNAL, is("says_nothing") ? "" : "oh");
  }
  if (is("gives_both")) *out = reinterpret_cast<fe_module_executable*>(yes::object + 1);
  return error;
}

int supports_all(fe_module_device*, const fe_graph_view*, uint32_t, fe_requirements*) { return 1; }

// The last reason that any thread received, or all of them.
int supports_with_its_own_reasons(fe_module_device* device, const fe_graph_view* view, uint32_t node,
                                  fe_requirements* out) {
  const int answer = slots::supports(device, view, node, out);
  if (!out || !out->reason) return answer;
  static char last[256];
  static std::vector<std::string> all;
  if (is("keeps_its_reasons"))
    all.emplace_back(out->reason);
  else
    out->reason = std::strncpy(last, out->reason, sizeof last - 1);
  return answer;
}

fe_error* init(const fe_host* given, fe_backend* out) {
  static int inits = 0;
  static fe_backend first;
  if (is("fills_nothing") && !out) return nullptr;
  if (is("trusts_its_host")) {
    given->log(FE_LOG_DEBUG, "without a look at its size");
    given->thread_count();
  }
  if (is("fills_all") && out) {
    fe_backend whole{};
    whole.struct_size = sizeof whole;
    fe_error* const error = slots::init<Sound>(given, &whole, FERRULE_MODULE_NAME, FERRULE_MODULE_VARIANT);
    whole.struct_size = out->struct_size;
    *out = whole;
    return error;
  }
  if (is("takes_memory")) {
    static char* const taken = static_cast<char*>(std::malloc(64u << 20));
    std::memset(taken, 1, 64u << 20);
  }
  if (is("starts_threads"))
    std::thread([] {
      for (;;) std::this_thread::sleep_for(std::chrono::microseconds(10));  // keeps returning into this file
    }).detach();
  if (is("pins_itself")) {
    Dl_info info;
    dladdr(reinterpret_cast<const void*>(&init), &info);
    dlopen(info.dli_fname, RTLD_NOW);
  }
  if (is("crashes_on_second_init") && inits > 0) std::raise(SIGSEGV);
  if (is("shares_its_backend") && inits > 0) {
    *out = first;
    return nullptr;
  }
  fe_error* const error = slots::init<Sound>(given, out, FERRULE_MODULE_NAME, FERRULE_MODULE_VARIANT);
  if (error) return error;
  ++inits;
  if (out->struct_size < sizeof *out) return nullptr;
  if (is("says_yes")) yes::use(out);
  if (!is("says_yes")) out->compile = compile_badly;
  if (is("breaks_promises")) out->supports = supports_all;
  if (is("shares_its_reasons") || is("keeps_its_reasons")) out->supports = supports_with_its_own_reasons;
  first = *out;
  return nullptr;
}

}  // namespace

FE_DEFINE_MODULE(nullptr, init)
FE_EXPORT_MODULE(FERRULE_MODULE_SYMBOL)
