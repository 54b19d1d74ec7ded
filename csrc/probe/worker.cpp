#include "probe/worker.h"

#include "probe/process_state.h"
#include "probe/worker_system.h"

#include <ferrule/ferrule.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace ferrule::probe {
namespace {

using nlohmann::json;

// An fe_error as an exception inside the worker.
struct Failure {
  fe_code code;
  std::string sentence;
};

void check(fe_error* error) {
  if (error == nullptr) return;
  Failure failure{fe_error_code(error), fe_error_message(error)};
  fe_error_release(error);
  throw failure;
}

template <class Handle, void (*release)(Handle*)>
struct Release {
  void operator()(Handle* handle) const { release(handle); }
};
using DevicePointer = std::unique_ptr<fe_device, Release<fe_device, fe_device_release>>;
using BackendPointer = std::unique_ptr<fe_backend_ref, Release<fe_backend_ref, fe_backend_release>>;
using GraphPointer = std::unique_ptr<fe_graph, Release<fe_graph, fe_graph_release>>;
using CompiledPointer = std::unique_ptr<fe_compiled, Release<fe_compiled, fe_compiled_release>>;
using ArrayPointer = std::unique_ptr<fe_array, Release<fe_array, fe_array_release>>;

// Reports each step, and checks after it what the module changed in the process.
class Steps {
 public:
  explicit Steps(intptr_t answer) : answer_(answer) {}

  void begin(const std::string& step, const std::string& device = "") {
    look_around();
    name_ = device.empty() ? step : step + "' on '" + device;
    say({{"step", step}, {"device", device}});
  }
  void look_around() {
    if (!sentinels_.are_open() && !closed_) {
      closed_ = true;
      found_.push_back(fmt::format("it closes descriptors that are not its own (step '{}')", name_));
    }
    const ProcessState now = ProcessState::now();
    for (const std::string& change : changes(before_, now))
      found_.push_back(fmt::format("{} (step '{}')", change, name_));
    if (const std::string change = environment_changes(before_, now); !change.empty())
      notes_.push_back(fmt::format("{} (step '{}')", change, name_));
    before_ = now;
  }
  void say(const json& line) {
    const std::string text = line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    for (std::size_t done = 0; done < text.size();) {
      const std::size_t written = write_some(answer_, text.data() + done, text.size() - done);
      if (written == 0) end_process(answer_is_closed);
      done += written;
    }
  }

  std::vector<std::string>& changes_found() { return found_; }
  std::vector<std::string>& notes() { return notes_; }

 private:
  const intptr_t answer_;
  std::string name_ = "start";
  const Sentinels sentinels_;
  bool closed_ = false;
  ProcessState before_ = ProcessState::now();
  std::vector<std::string> found_, notes_;
};

fe_device* by_name(const std::string& name) {
  fe_device* device = nullptr;
  fe_error* error = fe_device_by_name(name.c_str(), nullptr, &device);
  fe_error_release(error);
  return device;
}

constexpr std::array<float, 6> left = {0, 1, -2, 0.5F, 1e6F, 3}, right = {1, -1, 0.25F, 8, 1, 3};

CompiledPointer compiled_sum(fe_device* device) {
  const fe_dtype float32 = fe_dtype_by_name("float32");
  const auto count = static_cast<int64_t>(left.size());
  fe_graph* raw_graph = nullptr;
  check(fe_graph_create(device, &raw_graph));
  const GraphPointer graph(raw_graph);
  std::array<uint32_t, 2> values{};
  check(fe_graph_input(graph.get(), "a", float32, 1, &count, nullptr, &values[0]));
  check(fe_graph_input(graph.get(), "b", float32, 1, &count, nullptr, &values[1]));
  uint32_t sum = 0;
  check(fe_graph_apply(graph.get(), "add", values.data(), nullptr, values.size(), nullptr, 0, nullptr, &sum, 1));
  check(fe_graph_output(graph.get(), sum));
  fe_compiled* compiled = nullptr;
  fe_compile_options options{};
  options.struct_size = sizeof options;
  options.fallback = "error";
  check(fe_graph_compile(graph.get(), &options, &compiled));
  return CompiledPointer(compiled);
}

ArrayPointer array_of(fe_device* device, const std::array<float, 6>& numbers) {
  const auto count = static_cast<int64_t>(numbers.size());
  fe_host_memory memory{};
  memory.struct_size = sizeof memory;
  memory.pointer = const_cast<float*>(numbers.data());
  memory.dtype = fe_dtype_by_name("float32");
  memory.rank = 1;
  memory.shape = &count;
  memory.access = FE_ACCESS_READ;
  memory.copy = 1;
  fe_array* array = nullptr;
  check(fe_array_from_host(device, &memory, &array));
  return ArrayPointer(array);
}

// The sum must be exact: float32 represents all its elements.
bool computes_the_sum(fe_device* device, fe_compiled* compiled) {
  const ArrayPointer a = array_of(device, left), b = array_of(device, right);
  std::array<float, 6> result{};
  const std::array<fe_array*, 2> inputs = {a.get(), b.get()};
  void* const memory = result.data();
  const uint64_t bytes = sizeof result;
  fe_array* output = nullptr;
  fe_compute_options options{};
  options.struct_size = sizeof options;
  options.out_memory = &memory;
  options.out_bytes = &bytes;
  check(fe_compute(compiled, inputs.data(), inputs.size(), &options, &output, 1));
  for (std::size_t i = 0; i < result.size(); ++i)
    if (result[i] != left[i] + right[i]) return false;
  return true;
}

// Tries one device. Returns {name, kind, state: "right" | "wrong" | "unchecked" | "error", reason}.
json try_device(fe_device* device, Steps& steps) {
  const std::string name = fe_device_name(device);
  json row = {{"name", name}, {"state", "right"}, {"reason", ""}};
  const auto end = [&](const char* state, const std::string& reason) {
    row["state"] = state;
    row["reason"] = reason;
    return row;
  };
  fe_device_details details{};
  details.struct_size = sizeof details;
  check(fe_device_details_get(device, &details));
  row["kind"] = fe_device_kind_name(details.kind);
  std::string step = "device_open";
  try {
    steps.begin(step, name);
    check(fe_device_open(device, nullptr, 0));
    step = "compile";
    steps.begin(step, name);
    const CompiledPointer compiled = compiled_sum(device);
    step = "execute";
    steps.begin(step, name);
    const bool is_right = computes_the_sum(device, compiled.get());
    // A device of kind test computes nothing.
    if (details.kind != FE_DEVICE_TEST && !is_right)
      return end("wrong", fmt::format("{} computes a wrong sum of six float32 numbers", name));
    return row;
  } catch (const Failure& failure) {
    if (step == "compile" && failure.code == FE_UNSUPPORTED) return end("unchecked", failure.sentence);
    return end("error", fmt::format("{} failed in the step '{}': {}", name, step, failure.sentence));
  }
}

void begin_step(void* steps, const char* step) { static_cast<Steps*>(steps)->begin(step); }

// Lets the loader report the steps inside fe_load.
void tell_steps_to(Steps& steps) {
  using Setter = void (*)(fe_load_step_callback, void*);
  if (const auto set = reinterpret_cast<Setter>(fe_get_proc(FE_SET_LOAD_STEP_CALLBACK))) set(begin_step, &steps);
}

// The number of threads beyond `before` that have not ended after 0.2 s.
std::size_t threads_left(std::size_t before) {
  std::size_t now = thread_count();
  for (int i = 0; i < 40 && now > before; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    now = thread_count();
  }
  return now > before ? now - before : 0;
}

// Unloads the module, but keeps its code mapped until no thread can be running it.
void close_all(const std::string& module, std::size_t threads, Steps& steps, json& answer) {
  void* const code = keep_mapped(module);
  steps.begin("close");
  fe_set_log_level(FE_LOG_ERROR);  // suppresses the warning that the code stays mapped, which is intended here
  check(fe_shutdown());
  const std::size_t left_behind = threads_left(threads);
  answer["threads"] = left_behind;
  if (left_behind > 0)
    steps.notes().push_back(
        fmt::format("it leaves {} thread{} running after its close, so its file will stay mapped when it is unloaded",
                    left_behind, left_behind == 1 ? "" : "s"));
  else if (code != nullptr)
    release_mapped(code);
}

json examine(const std::string& module, Steps& steps) {
  json answer = {{"devices", json::array()}, {"error", nullptr}};
  const std::size_t threads = thread_count();
  tell_steps_to(steps);
  try {
    fe_backend_ref* raw = nullptr;
    fe_load_options options{};
    options.struct_size = sizeof options;
    options.probe = "never";
    options.trust = "any";
    check(fe_load(module.c_str(), &options, &raw));
    const BackendPointer backend(raw);
    fe_backend_details details{};
    details.struct_size = sizeof details;
    check(fe_backend_details_get(backend.get(), &details));
    answer["version"] = details.version;
    for (std::size_t i = 0;; ++i) {
      const DevicePointer device(by_name(fmt::format("{}:{}", details.name, i)));
      if (!device) break;
      answer["devices"].push_back(try_device(device.get(), steps));
    }
  } catch (const Failure& failure) {
    answer["error"] = {{"code", failure.code}, {"reason", failure.sentence}};
  }
  close_all(module, threads, steps, answer);
  steps.look_around();
  return answer;
}

}  // namespace

void work(const std::string& module, intptr_t answer_descriptor, const std::string& seal) {
  Steps steps(answer_descriptor);
  const auto answer_with = [&](json answer) { steps.say({{"answer", std::move(answer)}, {"seal", seal}}); };
  try {
    json answer = examine(module, steps);
    answer["changes"] = steps.changes_found();
    answer["notes"] = steps.notes();
    answer_with(std::move(answer));
  } catch (const Failure& failure) {
    answer_with({{"error", {{"code", failure.code}, {"reason", failure.sentence}}}});
  } catch (const std::exception& error) {
    answer_with({{"error", {{"code", FE_INTERNAL}, {"reason", error.what()}}}});
  }
  end_process(0);
}

}  // namespace ferrule::probe
