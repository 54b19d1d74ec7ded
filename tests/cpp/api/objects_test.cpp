// Thread safety of ferrule.h objects: each pair of functions of a graph, an array, a compiled graph, a device and a
// backend is called by two threads at once.
#include "api_handles.h"
#include "core/api/handles.h"
#include "lifecycle_fixture.h"
#include "operation_pairs.h"

#include <array>
#include <atomic>

namespace ferrule::test {
namespace {

constexpr std::array<int64_t, 1> shape{8};
const fe_dtype float32 = fe_dtype_by_name("float32");
fe_scalar one() {
  fe_scalar value{};
  value.f32 = 1;
  return value;
}

class ApiThreads : public LifecycleTest {
 protected:
  ApiThreads() : home(new fe_device{cpu()}) {}
  void must(fe_error* error) {
    const ErrorPointer owner(error);
    ASSERT_EQ(error, nullptr) << fe_error_message(error);
  }
  // A device with queues.
  fe_device* null_device() {
#ifdef FERRULE_NULL_MODULE
    if (!registry.find_backend("null")) load(FERRULE_NULL_MODULE);
#endif
    return new fe_device{registry.by_name("null")};
  }
  // All elements are 1.
  ArrayHandle computed(fe_device* device) {
    fe_array* array = nullptr;
    must(fe_array_full(device, 1, shape.data(), float32, one(), &array));
    must(fe_eval(&array, 1, nullptr, nullptr));
    return ArrayHandle(array);
  }
  // All elements are 2.
  ArrayHandle pending(fe_array* of) {
    fe_array* inputs[] = {of, of};
    fe_array* sum = nullptr;
    must(fe_array_apply("add", inputs, nullptr, 2, nullptr, 0, &sum, 1));
    return ArrayHandle(sum);
  }

  // Records a unary op and releases the result.
  static fe_error* recorded(const char* op, fe_array* input, const fe_attribute* attribute) {
    fe_array* output = nullptr;
    fe_error* const error = fe_array_apply(op, &input, nullptr, 1, attribute, attribute ? 1 : 0, &output, 1);
    const ArrayHandle owner(output);
    return error;
  }

  DeviceHandle home;
};

struct RecordedGraph {
  GraphHandle handle;
  uint32_t x = 0;
  std::atomic<uint32_t> recorded{0};  // values
};

TEST_F(ApiThreads, GraphIsRecordedReadAndCompiledByThreadsAtOnce) {
  const ArrayHandle ones = computed(home.get());
  const auto recorded = [](RecordedGraph& graph, fe_error* error) {
    graph.recorded += error == nullptr;
    return error;
  };
  const auto apply = [&](RecordedGraph& graph, fe_device* device) {
    uint32_t value = 0;
    const std::array<uint32_t, 2> inputs{graph.x, graph.x};
    return recorded(
        graph, fe_graph_apply(graph.handle.get(), "add", inputs.data(), nullptr, 2, nullptr, 0, device, &value, 1));
  };
  const auto compile = [](RecordedGraph& graph, CompiledHandle& out) {
    fe_compiled* compiled = nullptr;
    fe_error* const error = fe_graph_compile(graph.handle.get(), nullptr, &compiled);
    out.reset(compiled);
    return error;
  };
  const std::vector<Operation<RecordedGraph>> operations = {
      {"input",
       [&](RecordedGraph& graph) {
         uint32_t value = 0;
         return recorded(graph, fe_graph_input(graph.handle.get(), "y", float32, 1, shape.data(), nullptr, &value));
       }},
      {"constant",
       [&](RecordedGraph& graph) {
         uint32_t value = 0;
         return recorded(graph, fe_graph_constant(graph.handle.get(), "c", ones.get(), &value));
       }},
      {"pending constant",
       [&](RecordedGraph& graph) {
         uint32_t value = 0;
         const ArrayHandle twos = pending(ones.get());
         return recorded(graph, fe_graph_constant(graph.handle.get(), "c", twos.get(), &value));
       }},
      {"scalar",
       [&](RecordedGraph& graph) {
         uint32_t value = 0;
         return recorded(graph, fe_graph_scalar(graph.handle.get(), float32, one(), &value));
       }},
      {"apply", [&](RecordedGraph& graph) { return apply(graph, nullptr); }},
      {"apply elsewhere", [&](RecordedGraph& graph) { return apply(graph, home.get()); }},
      {"output", [](RecordedGraph& graph) { return fe_graph_output(graph.handle.get(), graph.x); }},
      {"value_type",
       [](RecordedGraph& graph) {
         fe_array_info info{};
         info.struct_size = sizeof info;
         return fe_graph_value_type(graph.handle.get(), graph.x, &info);
       }},
      {"text", [](RecordedGraph& graph) { return text_of(fe_graph_text, graph.handle.get(), "text"); }},
      {"dot", [](RecordedGraph& graph) { return text_of(fe_graph_text, graph.handle.get(), "dot"); }},
      {"json", [](RecordedGraph& graph) { return text_of(fe_graph_text, graph.handle.get(), "json"); }},
      {"compile",
       [&](RecordedGraph& graph) {
         CompiledHandle compiled;
         return compile(graph, compiled);
       }},
      {"compute", [&](RecordedGraph& graph) -> fe_error* {
         CompiledHandle compiled;
         if (fe_error* const error = compile(graph, compiled)) return error;
         fe_compiled_info info{};
         info.struct_size = sizeof info;
         if (fe_error* const error = fe_compiled_info_get(compiled.get(), &info)) return error;
         const std::vector<fe_array*> inputs(info.input_count, ones.get());
         std::vector<fe_array*> outputs(info.output_count, nullptr);
         fe_error* const error =
             fe_compute(compiled.get(), inputs.data(), inputs.size(), nullptr, outputs.data(), outputs.size());
         for (fe_array* output : outputs) fe_array_release(output);
         return error;
       }}};
  const auto make = [&] {
    auto graph = std::make_unique<RecordedGraph>();
    fe_graph* handle = nullptr;
    must(fe_graph_create(home.get(), &handle));
    graph->handle.reset(handle);
    must(fe_graph_input(handle, "x", float32, 1, shape.data(), nullptr, &graph->x));
    const std::array<uint32_t, 2> inputs{graph->x, graph->x};
    uint32_t sum = 0;
    must(fe_graph_apply(handle, "add", inputs.data(), nullptr, 2, nullptr, 0, nullptr, &sum, 1));
    must(fe_graph_output(handle, sum));
    return graph;
  };
  run_pairs(operations, {2, 5}, make, [&](RecordedGraph& graph, auto&, auto&) {
    uint32_t next = 0;
    must(fe_graph_scalar(graph.handle.get(), float32, one(), &next));
    EXPECT_EQ(next, 2 + graph.recorded);
  });
}

struct SharedArray {
  ArrayHandle handle;
};

class ArrayThreads : public ApiThreads {
 protected:
  // Calls on an array whose elements are all 2.
  std::vector<Operation<SharedArray>> operations() {
    return {
        {"retain",
         [](SharedArray& array) -> fe_error* {
           fe_array_retain(array.handle.get());
           fe_array_release(array.handle.get());
           return nullptr;
         }},
        {"info",
         [](SharedArray& array) {
           fe_array_info info{};
           info.struct_size = sizeof info;
           return fe_array_info_get(array.handle.get(), &info);
         }},
        {"device",
         [](SharedArray& array) {
           return given_back<fe_device_release, fe_device>(fe_array_device, array.handle.get());
         }},
        {"placement", [](SharedArray& array) { return text_of(fe_array_placement, array.handle.get()); }},
        {"apply",
         [](SharedArray& array) {
           fe_array* const input = array.handle.get();
           return recorded("relu", input, nullptr);
         }},
        {"view",
         [](SharedArray& array) {
           fe_array* const input = array.handle.get();
           static constexpr std::array<int64_t, 2> sizes{2, 4};
           const fe_attribute shape = fe_attribute_int64_list("shape", sizes.data(), sizes.size());
           return recorded("reshape", input, &shape);
         }},
        {"compute a result",
         [&](SharedArray& array) -> fe_error* {
           const ArrayHandle sum = pending(array.handle.get());
           std::array<float, 8> values{};
           if (fe_error* const error = fe_array_read(sum.get(), values.data(), sizeof values)) return error;
           return values[7] == 4 ? nullptr : make_error(FE_INTERNAL, "a sum is wrong");
         }},
        {"to_device", [&](SharedArray& array) { return array_of(fe_array_to_device, array.handle.get(), home.get()); }},
        {"to another device",
         [&](SharedArray& array) { return array_of(fe_array_to_device, array.handle.get(), elsewhere.get()); }},
        {"eval",
         [](SharedArray& array) {
           fe_array* const list[] = {array.handle.get()};
           return fe_eval(list, 1, nullptr, nullptr);
         }},
        {"host_pointer",
         [](SharedArray& array) {
           void* pointer = nullptr;
           return fe_array_host_pointer(array.handle.get(), &pointer);
         },
         {FE_INVALID_ARGUMENT}},  // not computed yet
        {"read",
         [](SharedArray& array) {
           std::array<float, 8> values{};
           fe_error* const error = fe_array_read(array.handle.get(), values.data(), sizeof values);
           return !error && values[0] != 2 ? make_error(FE_INTERNAL, "an array is wrong") : error;
         }},
        {"cut",
         [](SharedArray& array) {
           return array_of(fe_array_cut, array.handle.get(), uint64_t{4}, float32, int32_t{0}, nullptr);
         }},
        {"snapshot",
         [](SharedArray& array) -> fe_error* {
           // The second constant is compared with the last one, and shares its memory while that is in use.
           std::array<ArrayHandle, 2> copies;
           for (ArrayHandle& copy : copies) {
             fe_array* made = nullptr;
             if (fe_error* const error = fe_array_snapshot(array.handle.get(), &made)) return error;
             copy.reset(made);
           }
           std::array<float, 8> values{};
           if (fe_error* const error = fe_array_read(copies[1].get(), values.data(), sizeof values)) return error;
           return values[7] == 2 ? nullptr : make_error(FE_INTERNAL, "a snapshot is wrong");
         }},
        {"constant", [&](SharedArray& array) -> fe_error* {
           fe_graph* graph = nullptr;
           if (fe_error* const error = fe_graph_create(home.get(), &graph)) return error;
           uint32_t value = 0;
           const GraphHandle owner(graph);
           return fe_graph_constant(graph, "c", array.handle.get(), &value);
         }}};
  }

  const ArrayHandle ones = computed(home.get());
  const DeviceHandle elsewhere{null_device()};
};

TEST_F(ArrayThreads, ArrayIsComputedWhileOtherThreadsReadIt) {
  run_pairs(operations(), {6, 2}, [&] { return std::make_unique<SharedArray>(SharedArray{pending(ones.get())}); });
}

// The owner may write to the memory, so each op and each graph that reads the array copies it.
TEST_F(ArrayThreads, ArrayInBorrowedWritableMemoryIsCopiedWhileOtherThreadsReadIt) {
  alignas(64) std::array<float, 8> twos{};
  twos.fill(2);
  const auto borrowed_array = [&] {
    fe_host_memory memory{};
    memory.struct_size = sizeof memory;
    memory.pointer = twos.data();
    memory.dtype = float32;
    memory.rank = 1;
    memory.shape = shape.data();
    memory.access = FE_ACCESS_READ_WRITE;
    memory.copy = 0;
    fe_array* array = nullptr;
    must(fe_array_from_host(home.get(), &memory, &array));
    return std::make_unique<SharedArray>(SharedArray{ArrayHandle(array)});
  };
  fe_array_info info{};
  info.struct_size = sizeof info;
  must(fe_array_info_get(borrowed_array()->handle.get(), &info));
  ASSERT_TRUE(info.computed && info.writable);
  run_pairs(operations(), {4, 20}, borrowed_array);
}

struct SharedCompiled {
  CompiledHandle handle;
};

TEST_F(ApiThreads, CompiledGraphComputesOnThreadsAtOnce) {
  const ArrayHandle ones = computed(home.get());
  fe_graph* handle = nullptr;
  uint32_t x = 0, scalar = 0, sum = 0;
  must(fe_graph_create(home.get(), &handle));
  const GraphHandle graph(handle);
  must(fe_graph_input(handle, "x", float32, 1, shape.data(), nullptr, &x));
  must(fe_graph_scalar(handle, float32, one(), &scalar));
  const std::array<uint32_t, 2> inputs{x, scalar};
  must(fe_graph_apply(handle, "add", inputs.data(), nullptr, 2, nullptr, 0, nullptr, &sum, 1));
  must(fe_graph_output(handle, sum));
  const auto compute = [&](SharedCompiled& compiled, fe_array* input, bool in_place) -> fe_error* {
    std::array<float, 8> values{};
    void* const memory[] = {values.data()};
    const uint64_t bytes[] = {sizeof values};
    fe_array* output = nullptr;
    fe_compute_options options{};
    options.struct_size = sizeof options;
    options.out_memory = in_place ? memory : nullptr;
    options.out_bytes = bytes;
    fe_error* error = fe_compute(compiled.handle.get(), &input, 1, &options, &output, 1);
    const ArrayHandle owner(output);
    if (!error && !in_place) error = fe_array_read(output, values.data(), sizeof values);
    if (error) return error;
    const float expected = input == ones.get() ? 2.0F : 3.0F;
    return values[3] == expected ? nullptr : make_error(FE_INTERNAL, "a result is wrong");
  };
  const std::vector<Operation<SharedCompiled>> operations = {
      {"compute", [&](SharedCompiled& compiled) { return compute(compiled, ones.get(), false); }},
      {"compute in place", [&](SharedCompiled& compiled) { return compute(compiled, ones.get(), true); }},
      {"compute of a pending array",
       [&](SharedCompiled& compiled) {
         const ArrayHandle twos = pending(ones.get());
         return compute(compiled, twos.get(), false);
       }},
      {"info",
       [](SharedCompiled& compiled) {
         fe_compiled_info info{};
         info.struct_size = sizeof info;
         return fe_compiled_info_get(compiled.handle.get(), &info);
       }},
      {"scalar",
       [](SharedCompiled& compiled) {
         fe_dtype dtype = 0;
         fe_scalar value{};
         return fe_compiled_scalar(compiled.handle.get(), 0, &dtype, &value);
       }},
      {"plan", [](SharedCompiled& compiled) { return text_of(fe_compiled_plan, compiled.handle.get()); }},
      {"placement", [](SharedCompiled& compiled) { return text_of(fe_compiled_placement, compiled.handle.get()); }}};
  run_pairs(operations, {4, 8}, [&] {
    fe_compiled* compiled = nullptr;
    must(fe_graph_compile(graph.get(), nullptr, &compiled));
    return std::make_unique<SharedCompiled>(SharedCompiled{CompiledHandle(compiled)});
  });
}

struct SharedCalls {
  CallsHandle handle;
};

TEST_F(ApiThreads, CallCacheIsUsedByThreadsAtOnce) {
  const ArrayHandle ones = computed(home.get());
  fe_graph* handle = nullptr;
  uint32_t x = 0, sum = 0;
  must(fe_graph_create(home.get(), &handle));
  const GraphHandle graph(handle);
  must(fe_graph_input(handle, "x", float32, 1, shape.data(), nullptr, &x));
  const std::array<uint32_t, 2> inputs{x, x};
  must(fe_graph_apply(handle, "add", inputs.data(), nullptr, 2, nullptr, 0, nullptr, &sum, 1));
  must(fe_graph_output(handle, sum));
  fe_compiled* made = nullptr;
  must(fe_graph_compile(handle, nullptr, &made));
  const CompiledHandle compiled(made);
  std::atomic<int> added = 0, released = 0;
  const auto computes = [&](fe_compiled* found, void* context) -> fe_error* {
    const CompiledHandle owner(found);
    if (!found) return nullptr;
    if (context != &released) return make_error(FE_INTERNAL, "another context");
    fe_array *input = ones.get(), *output = nullptr;
    if (fe_error* const error = fe_compute(found, &input, 1, nullptr, &output, 1)) return error;
    fe_array_release(output);
    return nullptr;
  };
  const std::vector<Operation<SharedCalls>> operations = {
      {"find",
       [&](SharedCalls& calls) {
         fe_array* input = ones.get();
         fe_compiled* found = nullptr;
         void* context = nullptr;
         fe_error* const error = fe_calls_find(calls.handle.get(), -1, &input, nullptr, 1, &found, &context);
         return error ? error : computes(found, context);
       }},
      {"add",
       [&](SharedCalls& calls) {
         fe_array* input = ones.get();
         fe_compiled* kept = nullptr;
         void* context = nullptr;
         const int64_t structure = -1 - added++ % 3;  // more signatures than the cache keeps
         fe_error* const error = fe_calls_add(
             calls.handle.get(), structure, &input, nullptr, 1, compiled.get(), &released,
             [](void* argument) { ++*static_cast<std::atomic<int>*>(argument); }, &kept, &context);
         return error ? error : computes(kept, context);
       }},
      {"clear",
       [](SharedCalls& calls) -> fe_error* {
         fe_calls_clear(calls.handle.get());
         return nullptr;
       }},
      {"info", [](SharedCalls& calls) {
         fe_calls_info info{};
         info.struct_size = sizeof info;
         fe_error* const error = fe_calls_info_get(calls.handle.get(), &info);
         if (!error && info.size > info.capacity) return make_error(FE_INTERNAL, "too many are kept");
         return error;
       }}};
  run_pairs(operations, {4, 20}, [&] {
    fe_calls* calls = nullptr;
    must(fe_calls_create(2, &calls));
    return std::make_unique<SharedCalls>(SharedCalls{CallsHandle(calls)});
  });
  fe_drain();
  EXPECT_EQ(released, added);
}

struct SharedDevice {
  fe_device* handle;
};

std::vector<Operation<SharedDevice>> operations_of_a_device() {
  return {{"open", [](SharedDevice& device) { return fe_device_open(device.handle, nullptr, 0); }},
          {"name",
           [](SharedDevice& device) -> fe_error* {
             return *fe_device_name(device.handle) ? nullptr : make_error(FE_INTERNAL, "no name");
           }},
          {"id",
           [](SharedDevice& device) -> fe_error* {
             return fe_device_id(device.handle) ? nullptr : make_error(FE_INTERNAL, "no id");
           }},
          {"equal",
           [](SharedDevice& device) -> fe_error* {
             return fe_device_equal(device.handle, device.handle) ? nullptr : make_error(FE_INTERNAL, "not itself");
           }},
          {"backends",
           [](SharedDevice& device) {
             fe_backend_ref** list = nullptr;
             size_t count = 0;
             fe_error* const error = fe_device_backends(device.handle, &list, &count);
             release_list<fe_backend_release>(list, count);
             return error;
           }},
          {"backend",
           [](SharedDevice& device) {
             return given_back<fe_backend_release, fe_backend_ref>(fe_device_backend, device.handle);
           }},
          {"view",
           [](SharedDevice& device) {
             const std::string name = device.handle->device->backend()->name();
             return given_back<fe_device_release, fe_device>(fe_device_view, device.handle, name.c_str());
           }},
          {"details",
           [](SharedDevice& device) {
             fe_device_details details{};
             details.struct_size = sizeof details;
             return fe_device_details_get(device.handle, &details);
           }},
          {"option",
           [](SharedDevice& device) {
             fe_option_info option{};
             option.struct_size = sizeof option;
             return fe_device_option(device.handle, 0, &option);
           },
           {FE_NOT_FOUND}},
          {"memory",
           [](SharedDevice& device) {
             uint64_t free_bytes = 0, total_bytes = 0;
             return fe_device_memory(device.handle, &free_bytes, &total_bytes);
           }},
          {"memory_stats",
           [](SharedDevice& device) {
             fe_memory_stats stats{};
             stats.struct_size = sizeof stats;
             return fe_memory_stats_get(device.handle, &stats);
           }},
          {"trim", [](SharedDevice& device) { return fe_trim(device.handle); }},
          {"queue_reset", [](SharedDevice& device) { return fe_queue_reset(device.handle); }},
          {"supports",
           [](SharedDevice& device) {
             int answer = 0;
             return fe_supports(device.handle, "add", std::array{float32, float32}.data(), 2, &answer);
           }},
          {"full",
           [](SharedDevice& device) -> fe_error* {
             fe_array* array = nullptr;
             if (fe_error* const error = fe_array_full(device.handle, 1, shape.data(), float32, one(), &array))
               return error;
             const ArrayHandle owner(array);
             return fe_eval(&array, 1, nullptr, nullptr);
           }},
          {"scalar", [](SharedDevice& device) { return array_of(fe_array_scalar, device.handle, float32, one()); }},
          {"from_host",
           [](SharedDevice& device) {
             std::array<float, 8> values{};
             fe_host_memory memory{};
             memory.struct_size = sizeof memory;
             memory.pointer = values.data();
             memory.dtype = float32;
             memory.rank = 1;
             memory.shape = shape.data();
             memory.access = FE_ACCESS_READ;
             memory.copy = 2;
             return array_of(fe_array_from_host, device.handle, &memory);
           }},
          {"buffer_from_host_ptr",
           [](SharedDevice& device) {
             alignas(64) std::array<float, 16> values{};
             return array_of(
                 fe_buffer_from_host_ptr, device.handle, static_cast<void*>(values.data()), uint64_t{sizeof values},
                 FE_ACCESS_READ, UINT64_MAX, [](void*) {}, nullptr);
           }},
          {"graph", [](SharedDevice& device) {
             return given_back<fe_graph_release, fe_graph>(fe_graph_create, device.handle);
           }}};
}

TEST_F(ApiThreads, DeviceIsUsedAndInspectedByThreadsAtOnce) {
  run_pairs(operations_of_a_device(), {2, 4}, [&] { return std::make_unique<SharedDevice>(SharedDevice{home.get()}); });
}

TEST_F(ApiThreads, DeviceWithQueuesIsUsedAndInspectedByThreadsAtOnce) {
  const DeviceHandle device(null_device());
  run_pairs(operations_of_a_device(), {2, 4},
            [&] { return std::make_unique<SharedDevice>(SharedDevice{device.get()}); });
}

struct SharedBackend {
  BackendHandle handle;
};

TEST_F(ApiThreads, BackendQueriesMayRunConcurrently) {
  const std::vector<Operation<SharedBackend>> operations = {
      {"details",
       [](SharedBackend& backend) {
         fe_backend_details details{};
         details.struct_size = sizeof details;
         return fe_backend_details_get(backend.handle.get(), &details);
       }},
      {"devices",
       [](SharedBackend& backend) {
         fe_device** list = nullptr;
         size_t count = 0;
         fe_error* const error = fe_backend_devices(backend.handle.get(), &list, &count);
         release_list<fe_device_release>(list, count);
         return error;
       }},
      {"get_proc",
       [](SharedBackend& backend) -> fe_error* {
         fe_proc function = nullptr;
         if (fe_error* const error = fe_backend_get_proc(backend.handle.get(), FE_FEATURES_TEXT, &function))
           return error;
         return *reinterpret_cast<fe_features_text_function>(function)() ? nullptr
                                                                         : make_error(FE_INTERNAL, "no features");
       }},
      {"set_n_threads",
       [](SharedBackend& backend) -> fe_error* {
         fe_proc function = nullptr;
         if (fe_error* const error = fe_backend_get_proc(backend.handle.get(), FE_SET_N_THREADS, &function))
           return error;
         reinterpret_cast<fe_set_n_threads_function>(function)(0);
         return nullptr;
       }},
      {"compute",
       [&](SharedBackend&) -> fe_error* {
         const ArrayHandle twos = pending(computed(home.get()).get());
         fe_array* const list[] = {twos.get()};
         return fe_eval(list, 1, nullptr, nullptr);
       }},
      {"feature",
       [](SharedBackend& backend) {
         fe_feature feature{};
         feature.struct_size = sizeof feature;
         return fe_backend_feature(backend.handle.get(), 0, &feature);
       },
       {FE_NOT_FOUND}}};
  run_pairs(operations, {3, 6}, [&] {
    fe_backend_ref* handle = nullptr;
    must(fe_backend_by_name("cpu", &handle));
    return std::make_unique<SharedBackend>(SharedBackend{BackendHandle(handle)});
  });
}

}  // namespace
}  // namespace ferrule::test
