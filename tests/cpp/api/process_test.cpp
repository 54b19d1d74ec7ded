// Thread safety of the process-wide functions of ferrule.h: loading, device lookup, settings, logging and statistics.
// Two threads call each pair of functions at once, computation included.
#include "api_handles.h"
#include "lifecycle_fixture.h"
#include "operation_pairs.h"

extern "C" const fe_static_module ferrule_module_null;

namespace ferrule::test {
namespace {

struct Process {};

template <auto release, class Handle>
fe_error* list_of(fe_error* (*function)(Handle***, size_t*)) {
  Handle** list = nullptr;
  size_t count = 0;
  fe_error* const error = function(&list, &count);
  if (!error) release_list<release>(list, count);
  return error;
}

// Computes on the named device, from opening it to releasing it.
fe_error* compute_by_name(const char* name) {
  fe_device* device = nullptr;
  if (fe_error* const error = fe_device_by_name(name, nullptr, &device)) return error;
  const DeviceHandle owner(device);
  const int64_t shape[] = {8};
  fe_scalar one{};
  one.f32 = 1;
  fe_array* ones = nullptr;
  if (fe_error* const error = fe_array_full(device, 1, shape, fe_dtype_by_name("float32"), one, &ones)) return error;
  const ArrayHandle owner_of_ones(ones);
  fe_array* const inputs[] = {ones, ones};
  fe_array* sum = nullptr;
  if (fe_error* const error = fe_array_apply("add", inputs, nullptr, 2, nullptr, 0, &sum, 1)) return error;
  const ArrayHandle owner_of_sum(sum);
  float values[8] = {};
  return fe_array_read(sum, values, sizeof values);
}

// A backend of this program, with a complete table and no devices.
fe_error* fill_table(void* name, const fe_host*, fe_backend* out) {
  static int self = 0;
  const auto unsupported = []() -> fe_error* { return make_error(FE_UNSUPPORTED, "there is nothing"); };
  out->self = reinterpret_cast<fe_module_backend*>(&self);
  out->name = static_cast<const char*>(name);
  out->variant = "";
  out->close = [](fe_module_backend*) {};
  out->device_count = [](fe_module_backend*) -> uint32_t { return 0; };
  static const auto refuse = unsupported;
  out->device_properties = [](auto...) { return refuse(); };
  out->device_open = [](auto...) { return refuse(); };
  out->device_close = [](auto...) {};
  out->buffer_allocate = [](auto...) { return refuse(); };
  out->buffer_free = [](auto...) {};
  out->copy_from_host = [](auto...) { return refuse(); };
  out->copy_to_host = [](auto...) { return refuse(); };
  out->copy = [](auto...) { return refuse(); };
  out->supports = [](auto...) { return 0; };
  out->compile = [](auto...) { return refuse(); };
  out->executable_release = [](auto...) {};
  out->execute = [](auto...) { return refuse(); };
  return nullptr;
}

using ProcessThreads = LifecycleTest;

TEST_F(ProcessThreads, LoadUnloadListAndComputeAtOnce) {
  const fs::path module = put(root("single"), "t_plain");
  put(root("more"), "t_two");
  std::vector<std::string> folders = {root("more").string()};
  for (const fs::path& folder : dirs_of_build()) folders.push_back(folder.string());
  std::vector<const char*> dirs;
  dirs.reserve(folders.size());
  for (const std::string& folder : folders) dirs.push_back(folder.c_str());
  fe_load_options options{};
  options.struct_size = sizeof options;
  options.dirs = dirs.data();
  options.dir_count = dirs.size();
  const auto load_all = [&](fe_load_report** report) { return fe_load_all(&options, report); };
  ASSERT_EQ(load_all(nullptr), nullptr);
  fe_load_report* report = nullptr;
  ASSERT_EQ(load_all(&report), nullptr);
  const std::unique_ptr<fe_load_report, decltype(&fe_load_report_release)> owner(report, fe_load_report_release);
  static const fe_abi abi = FE_ABI_INITIALIZER;

  // Concurrent closing, lookup or loading may cause only errors of these codes.
  const std::vector<fe_code> lost = {FE_NOT_FOUND, FE_INVALID_ARGUMENT, FE_UNSUPPORTED};
  std::vector<Operation<Process>> operations = {
      {"load_all", [&](Process&) { return load_all(nullptr); }, lost},
      {"load",
       [&](Process&) {
         return given_back<fe_backend_release, fe_backend_ref>(fe_load, module.string().c_str(), nullptr);
       },
       lost},
      {"unload", [](Process&) { return fe_unload("t_plain"); }, lost},
      {"unload another", [](Process&) { return fe_unload("t_two"); }, lost},
      {"reload", [](Process&) { return given_back<fe_backend_release, fe_backend_ref>(fe_reload, "t_plain"); }, lost},
      {"register_backend",
       [](Process&) {
         static char name[] = "t_own";
         const fe_program_backend backend{sizeof(fe_program_backend), name, &abi, fill_table, name, 0};
         return fe_register_backend(&backend, nullptr);
       },
       lost},
      {"unload what was registered", [](Process&) { return fe_unload("t_own"); }, lost},
      {"register",
       [](Process&) { return given_back<fe_backend_release, fe_backend_ref>(fe_register, &ferrule_module_null); },
       lost},
      {"unload what was linked in", [](Process&) { return fe_unload("null"); }, lost},
      {"refresh", [](Process&) { return fe_refresh(); }},
      {"shutdown", [](Process&) { return fe_shutdown(); }, lost},
      {"backends", [](Process&) { return list_of<fe_backend_release>(fe_backends); }},
      {"devices", [](Process&) { return list_of<fe_device_release>(fe_devices); }},
      {"device_views", [](Process&) { return list_of<fe_device_release>(fe_device_views); }},
      {"device_by_name",
       [](Process&) { return given_back<fe_device_release, fe_device>(fe_device_by_name, "t_two:1", nullptr); }, lost},
      {"device_by_kind",
       [](Process&) { return given_back<fe_device_release, fe_device>(fe_device_by_kind, FE_DEVICE_CPU); }, lost},
      {"device_best", [](Process&) { return given_back<fe_device_release, fe_device>(fe_device_best); }, lost},
      {"a backend's functions",
       [](Process&) -> fe_error* {
         fe_backend_ref* backend = nullptr;
         if (fe_error* const error = fe_backend_by_name("cpu", &backend)) return error;
         const BackendHandle held(backend);
         fe_backend_details details{};
         details.struct_size = sizeof details;
         fe_proc function = nullptr;
         if (fe_error* const error = fe_backend_details_get(backend, &details)) return error;
         if (fe_error* const error = fe_backend_get_proc(backend, FE_FEATURES_TEXT, &function)) return error;
         reinterpret_cast<fe_features_text_function>(function)();
         fe_feature feature{};
         feature.struct_size = sizeof feature;
         return fe_backend_feature(backend, 0, &feature);
       },
       lost},
      {"a device's info",
       [](Process&) -> fe_error* {
         fe_device* device = nullptr;
         if (fe_error* const error = fe_device_by_name("t_plain", nullptr, &device)) return error;
         const DeviceHandle held(device);
         uint64_t free_bytes = 0, total_bytes = 0;
         if (fe_error* const error = fe_device_memory(device, &free_bytes, &total_bytes)) return error;
         if (fe_error* const error = fe_trim(device)) return error;
         if (fe_error* const error = fe_queue_reset(device)) return error;
         fe_option_info option{};
         option.struct_size = sizeof option;
         return fe_device_option(device, 0, &option);
       },
       lost},
      {"compute", [](Process&) { return compute_by_name("cpu"); }, lost},
      {"compute elsewhere", [](Process&) { return compute_by_name("t_two"); }, lost},
      {"report as text", [&](Process&) { return text_of(fe_load_report_format, report, "text"); }},
      {"report as JSON", [&](Process&) { return text_of(fe_load_report_format, report, "json"); }},
      {"explain", [&](Process&) { return text_of(fe_load_report_explain, report, "cpu", nullptr); }},
      {"explain a kind", [&](Process&) { return text_of(fe_load_report_explain, report, "gpu", nullptr); }},
      {"stats",
       [](Process&) {
         fe_stats stats{};
         stats.struct_size = sizeof stats;
         return fe_stats_get(&stats);
       }},
      {"set_thread_count", [](Process&) { return fe_set_thread_count(2); }},
      {"thread_count",
       [](Process&) -> fe_error* {
         return fe_thread_count() > 0 ? nullptr : make_error(FE_INTERNAL, "there are no threads");
       }},
      {"set_log_callback",
       [](Process&) -> fe_error* {
         static std::atomic<int> lines{0};
         fe_set_log_callback([](void* count, fe_log_level, const char*) { ++*static_cast<std::atomic<int>*>(count); },
                             &lines);
         return nullptr;
       }},
      {"set_log_level",
       [](Process&) -> fe_error* {
         fe_set_log_level(FE_LOG_DEBUG);
         return nullptr;
       }},
      {"drain",
       [](Process&) -> fe_error* {
         fe_drain();
         return nullptr;
       }},
      {"load steps", [](Process&) -> fe_error* {
         using Setter = void (*)(fe_load_step_callback, void*);
         static std::atomic<int> steps{0};
         reinterpret_cast<Setter>(fe_get_proc(FE_SET_LOAD_STEP_CALLBACK))(
             [](void* count, const char*) { ++*static_cast<std::atomic<int>*>(count); }, &steps);
         return nullptr;
       }}};
  run_pairs(operations, {1, 3}, [&] {
    const ErrorPointer loaded(load_all(nullptr));
    EXPECT_EQ(loaded, nullptr) << message_of(loaded.get());
    return std::make_unique<Process>();
  });
  fe_set_log_callback(nullptr, nullptr);
  fe_set_log_level(FE_LOG_WARNING);
  reinterpret_cast<void (*)(fe_load_step_callback, void*)>(fe_get_proc(FE_SET_LOAD_STEP_CALLBACK))(nullptr, nullptr);
  ASSERT_EQ(fe_set_thread_count(0), nullptr);
  if (registry.find_backend("null")) registry.unload("null");
  registry.add_static_modules();
}

}  // namespace
}  // namespace ferrule::test
