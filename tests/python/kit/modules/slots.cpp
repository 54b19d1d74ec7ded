// A module that is right (two ops, a queue, a device that can be lost) until FERRULE_MUTANT names something for it to
// get wrong: one file, compiled once, is every mutant of the slots.
#include <ferrule/backend.hpp>

#include <dlfcn.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace ferrule::sdk;

bool is(const char* mutant) {
  const char* const value = std::getenv("FERRULE_MUTANT");
  return value && std::strcmp(value, mutant) == 0;
}

// ---- the module

struct Done final : Event {
  explicit Done(std::optional<Error> of) : error(std::move(of)) {}
  bool done() override { return !is("resets_at_once"); }
  void wait(int64_t) override {
    while (error && is("hangs_when_lost")) std::this_thread::sleep_for(std::chrono::seconds(1));
    if (!error) return;
    const Error told = *error;
    if (is("forgets_loss")) error.reset();
    throw told;
  }
  std::optional<Error> error;
};

struct InOrder final : Queue {
  std::unique_ptr<Event> record() override { return std::make_unique<Done>(error); }
  void reset() override { error.reset(); }
  std::optional<Error> error;
};

struct Sums final : Executable {
  struct Step {
    Operand a, b, out;
    bool multiplies;
  };
  std::vector<Step> steps;
  int64_t lost_at;
  std::atomic<int64_t>* executions;

  void execute(Queue* queue, const fe_execution& execution) override {
    auto& order = static_cast<InOrder&>(*queue);
    if (++*executions == lost_at) order.error.emplace(FE_DEVICE_LOST, "the device was lost, as it was asked to be");
    if (order.error) return;
    if (execution.poll && is("ignores_poll")) {
      host->error_release(execution.poll(execution.poll_argument));
    } else if (execution.poll) {
      check(execution.poll(execution.poll_argument));
    }
    const Launch launch(execution);
    for (const Step& step : steps) run(launch, step);
  }

  static void run(const Launch& launch, const Step& step) {
    static float shared[1024];  // what `races` uses where it should have memory of its own
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
  explicit Adder(int64_t lost_at) : lost_at_(lost_at) {
    if (is("leaks_devices")) leaked_ = std::malloc(4096);
  }
  std::unique_ptr<Queue> create_queue() override { return std::make_unique<InOrder>(); }

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
  int64_t lost_at_;
  std::atomic<int64_t> executions_{0};
  void* volatile leaked_ = nullptr;
};

class Sound final : public Backend {
 public:
  static constexpr bool has_queues = true;
  std::vector<DeviceDescription> devices() override {
    return {{.kind = FE_DEVICE_TEST, .flags = FE_DEVICE_FLAG_HOST_MEMORY, .name = "sound", .borrow_alignment = 1}};
  }
  std::vector<OptionDescription> options() override { return {{"lost_at", "integer", "the n-th execution loses it"}}; }
  std::unique_ptr<Device> open(uint32_t, const Options& options) override {
    return std::make_unique<Adder>(options.integer("lost_at", 0));
  }
};

// ---- the mutants that replace slots

// Says yes to everything and looks at nothing.
namespace yes {
char object[64];
template <class Handle>
fe_error* give(Handle** out) {
  if (out) *out = reinterpret_cast<Handle*>(object);
  return nullptr;
}
void use(fe_backend* table) {
  table->device_properties = [](fe_module_backend*, uint32_t, fe_device_properties* out) -> fe_error* {
    if (out) std::memset(&out->kind, 0, sizeof *out - sizeof(size_t));  // whatever its size
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
  table->queue_create = [](fe_module_device*, fe_module_queue** out) { return give(out); };
  table->queue_destroy = [](fe_module_queue*) {};
  table->queue_reset = [](fe_module_queue*) -> fe_error* { return nullptr; };
  table->event_record = [](fe_module_queue*, fe_module_event** out) { return give(out); };
  table->event_wait = [](fe_module_event*, int64_t) -> fe_error* { return nullptr; };
  table->event_release = [](fe_module_event*) {};
  table->copy_from_host = [](fe_module_device*, fe_module_queue*, fe_module_buffer*, uint64_t, const void*,
                             uint64_t) -> fe_error* { return nullptr; };
  table->copy_to_host = [](fe_module_device*, fe_module_queue*, void*, fe_module_buffer*, uint64_t,
                           uint64_t) -> fe_error* { return nullptr; };
  table->copy = [](fe_module_device*, fe_module_queue*, fe_module_buffer*, uint64_t, fe_module_buffer*, uint64_t,
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

// The last reason that any thread was told, or all of them.
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
      for (;;) std::this_thread::sleep_for(std::chrono::microseconds(10));  // comes back into this file all the time
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
