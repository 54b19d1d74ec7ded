// The CPU module through its slots alone: hand-made graph views, a host of our own, and oracles that are not our code
// (float64 loops, the C library's long double). Every variant of this build that the machine can run is tested.
#include <dlfcn.h>
#include <ferrule/backend.h>
#include <ferrule/ops.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

// What our host's errors are; fe_error itself is the core's, which this program contains, too.
struct Failure {
  fe_code code;
  std::string message;
};
const Failure& failure(const fe_error* error) { return *reinterpret_cast<const Failure*>(error); }
void release(fe_error* error) { delete reinterpret_cast<Failure*>(error); }

// ---- a host
// ------------------------------------------------------------------------------------------------------------

uint32_t threads = 1;

const std::vector<std::pair<const char*, size_t>>& dtypes() {
  static const std::vector<std::pair<const char*, size_t>> rows = {
      {"", 0},       {"bool", 1},   {"int8", 1},   {"int16", 2},   {"int32", 4},   {"int64", 8},   {"uint8", 1},
      {"uint16", 2}, {"uint32", 4}, {"uint64", 8}, {"float32", 4}, {"float64", 8}, {"float16", 2}, {"bfloat16", 2}};
  return rows;
}
std::vector<std::string>& op_names() {
  static std::vector<std::string> names = {""};
  return names;
}
fe_op op_id(const char* name) {
  auto& names = op_names();
  for (size_t i = 1; i < names.size(); ++i)
    if (names[i] == name) return static_cast<fe_op>(i);
  names.emplace_back(name);
  return static_cast<fe_op>(names.size() - 1);
}
fe_dtype dtype_id(const char* name) {
  for (size_t i = 1; i < dtypes().size(); ++i)
    if (std::string(dtypes()[i].first) == name) return static_cast<fe_dtype>(i);
  return 0;
}
size_t size_of(const char* dtype) { return dtypes()[dtype_id(dtype)].second; }

fe_error* parallel_for(int64_t n, int64_t grain, uint32_t, fe_range_function fn, void* argument) {
  if (threads == 1 || n <= grain) return fn(argument, 0, n, 0);
  const int64_t share = (n / grain / threads + 1) * grain;
  std::vector<std::thread> workers;
  std::vector<fe_error*> errors(threads, nullptr);
  for (uint32_t t = 0; t < threads; ++t) {
    const int64_t begin = std::min(n, t * share), end = std::min(n, begin + share);
    if (begin < end) workers.emplace_back([&, t, begin, end] { errors[t] = fn(argument, begin, end, t); });
  }
  for (std::thread& worker : workers) worker.join();
  for (fe_error* error : errors)
    if (error) return error;
  return nullptr;
}

const fe_host& host() {
  static const fe_host table = [] {
    fe_host h{};
    h.struct_size = sizeof h;
    h.error_create = [](fe_code code, const char* message) {
      return reinterpret_cast<fe_error*>(new Failure{code, message});
    };
    h.error_code = [](const fe_error* error) { return failure(error).code; };
    h.error_message = [](const fe_error* error) { return failure(error).message.c_str(); };
    h.error_release = [](fe_error* error) { release(error); };
    h.log = [](fe_log_level, const char*) {};
    h.op_id = op_id;
    h.op_name = [](fe_op op) { return op_names().at(op).c_str(); };
    h.dtype_id = dtype_id;
    h.dtype_name = [](fe_dtype dtype) { return dtypes().at(dtype).first; };
    h.dtype_size = [](fe_dtype dtype) { return dtypes().at(dtype).second; };
    h.parallel_for = parallel_for;
    h.thread_count = [] { return threads; };
    return h;
  }();
  return table;
}

void expect_no_error(fe_error* error) {
  if (!error) return;
  ADD_FAILURE() << failure(error).message;
  release(error);
}

// ---- the modules
// -------------------------------------------------------------------------------------------------------

struct Module {
  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module() {
    if (device) backend.device_close(device);
    if (backend.close) backend.close(backend.self);
  }
  std::string path;
  fe_backend backend{};
  fe_module_device* device = nullptr;
};

std::vector<std::string> module_paths() {
  std::vector<std::string> paths;
#ifdef FERRULE_CPU_X64_MODULE
  paths.emplace_back(FERRULE_CPU_X64_MODULE);
#endif
#ifdef FERRULE_CPU_HASWELL_MODULE
  paths.emplace_back(FERRULE_CPU_HASWELL_MODULE);
#endif
#ifdef FERRULE_CPU_SKYLAKEX_MODULE
  paths.emplace_back(FERRULE_CPU_SKYLAKEX_MODULE);
#endif
#ifdef FERRULE_CPU_ICELAKE_MODULE
  paths.emplace_back(FERRULE_CPU_ICELAKE_MODULE);
#endif
#ifdef FERRULE_CPU_ZEN4_MODULE
  paths.emplace_back(FERRULE_CPU_ZEN4_MODULE);
#endif
  return paths;
}

// Opened once, closed when the process ends.
std::vector<std::unique_ptr<Module>>& modules() {
  static std::vector<std::unique_ptr<Module>> opened = [] {
    std::vector<std::unique_ptr<Module>> list;
    for (const std::string& path : module_paths()) {
      void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (!handle) {
        ADD_FAILURE() << dlerror();
        continue;
      }
      const auto score = reinterpret_cast<fe_score_function>(dlsym(handle, FE_SCORE_SYMBOL));
      const auto init = reinterpret_cast<fe_init_function>(dlsym(handle, FE_INIT_SYMBOL));
      if (!score || !init || score() <= 0) continue;
      auto module = std::make_unique<Module>();
      module->path = path;
      module->backend.struct_size = sizeof module->backend;
      expect_no_error(init(&host(), &module->backend));
      expect_no_error(module->backend.device_open(module->backend.self, 0, nullptr, 0, &module->device));
      list.push_back(std::move(module));
    }
    return list;
  }();
  return opened;
}

// ---- arrays and graphs
// ---------------------------------------------------------------------------------------------------

struct Array {
  std::string dtype;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  int64_t offset = 0;  // elements
  std::vector<std::byte> bytes;

  int64_t count() const { return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()); }
  template <class T>
  T* data() {
    return reinterpret_cast<T*>(bytes.data());
  }
  template <class T>
  const T* data() const {
    return reinterpret_cast<const T*>(bytes.data());
  }
};

std::vector<int64_t> contiguous(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i]) strides[i] = stride;
  return strides;
}
Array array(const std::string& dtype, std::vector<int64_t> shape) {
  std::vector<int64_t> strides = contiguous(shape);
  Array a{dtype, std::move(shape), std::move(strides), 0, {}};
  a.bytes.resize(static_cast<size_t>(a.count()) * size_of(dtype.c_str()) + 64);
  return a;
}
template <class T>
Array array_of(const std::string& dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  Array a = array(dtype, std::move(shape));
  std::memcpy(a.bytes.data(), values.data(), values.size() * sizeof(T));
  return a;
}
Array random_array(std::vector<int64_t> shape, double scale = 1, unsigned seed = 1) {
  Array a = array("float32", std::move(shape));
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (int64_t i = 0; i < a.count(); ++i) a.data<float>()[i] = static_cast<float>(scale) * uniform(generator);
  return a;
}
Array transposed(const Array& a) {
  Array t = a;
  std::swap(t.shape[t.shape.size() - 1], t.shape[t.shape.size() - 2]);
  std::swap(t.strides[t.strides.size() - 1], t.strides[t.strides.size() - 2]);
  return t;
}

struct BodyOp {
  const char* op;
  const char* dtype;
  std::vector<uint32_t> in;
  const void* attributes = nullptr;
};
struct BodySpec {
  std::vector<const char*> inputs;
  std::vector<BodyOp> ops;
  std::vector<uint32_t> outputs;
};

// A graph of one node.
class OneNode {
 public:
  OneNode(const char* op, const std::vector<const Array*>& inputs, const std::vector<Array*>& outputs,
          const void* attributes = nullptr, const BodySpec* body = nullptr, bool constant_b = false) {
    std::vector<const Array*> all = inputs;
    all.insert(all.end(), outputs.begin(), outputs.end());
    storages_.resize(all.size());
    values_.resize(all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      storages_[i] = {};
      storages_[i].struct_size = sizeof(fe_storage);
      storages_[i].kind =
          i < inputs.size() ? (constant_b && i == 1 ? FE_STORAGE_CONSTANT : FE_STORAGE_INPUT) : FE_STORAGE_OUTPUT;
      storages_[i].binding = static_cast<uint32_t>(i);
      storages_[i].size = all[i]->bytes.size();
      storages_[i].alignment = 8;
      storages_[i].reuses = -1;
      values_[i] = {};
      values_[i].struct_size = sizeof(fe_value);
      values_[i].dtype = dtype_id(all[i]->dtype.c_str());
      values_[i].rank = static_cast<int32_t>(all[i]->shape.size());
      values_[i].shape = all[i]->shape.data();
      values_[i].strides = all[i]->strides.data();
      values_[i].storage = static_cast<uint32_t>(i);
      values_[i].offset_slot = -1;
      values_[i].offset = all[i]->offset;
      storage_pointers_.push_back(&storages_[i]);
      value_pointers_.push_back(&values_[i]);
      (i < inputs.size() ? in_ : out_).push_back(static_cast<uint32_t>(i));
    }
    node_.struct_size = sizeof node_;
    node_.op = op_id(op);
    node_.revision = 1;
    node_.input_count = static_cast<uint32_t>(in_.size());
    node_.output_count = static_cast<uint32_t>(out_.size());
    node_.inputs = in_.data();
    node_.outputs = out_.data();
    node_.attributes = attributes;
    if (body) set_body(*body);
    view_.struct_size = sizeof view_;
    view_.storage_count = view_.value_count = view_.binding_count = static_cast<uint32_t>(all.size());
    view_.node_count = 1;
    view_.storages = storage_pointers_.data();
    view_.values = value_pointers_.data();
    view_.nodes = &node_pointer_;
    view_.workspace_alignment = 64;
    arrays_ = all;
  }

  fe_graph_view& view() { return view_; }
  fe_storage& storage(size_t i) { return storages_[i]; }

  bool supported(Module& module, std::string* why = nullptr) {
    fe_requirements requirements{};
    requirements.struct_size = sizeof requirements;
    const int answer = module.backend.supports(module.device, &view_, 0, &requirements);
    if (why) *why = requirements.reason ? requirements.reason : "";
    return answer == 1;
  }

  // Compiles and executes; the error's message, or nothing.
  std::string run(Module& module, const Array* prepared = nullptr) {
    const fe_backend& b = module.backend;
    fe_module_executable* executable = nullptr;
    if (fe_error* error = b.compile(module.device, &view_, &executable)) return take(error);
    std::vector<fe_module_buffer*> buffers;
    std::vector<fe_binding> bindings;
    for (size_t i = 0; i < arrays_.size(); ++i) {
      const Array* a = prepared && i == 1 ? prepared : arrays_[i];
      fe_module_buffer* buffer = nullptr;
      expect_no_error(b.buffer_borrow(module.device, const_cast<std::byte*>(a->bytes.data()), a->bytes.size(),
                                      FE_ACCESS_READ_WRITE, &buffer));
      buffers.push_back(buffer);
      bindings.push_back({sizeof(fe_binding), buffer, 0, 1});
    }
    fe_execution execution{};
    execution.struct_size = sizeof execution;
    execution.bindings = bindings.data();
    if (const uint64_t scratch = b.executable_scratch_size(executable)) {
      expect_no_error(b.buffer_allocate(module.device, scratch, 64, &execution.scratch));
      buffers.push_back(execution.scratch);
    }
    std::string message = take(b.execute(executable, nullptr, &execution));
    for (fe_module_buffer* buffer : buffers) b.buffer_free(buffer);
    b.executable_release(executable);
    return message;
  }

 private:
  static std::string take(fe_error* error) {
    if (!error) return "";
    std::string message = failure(error).message;
    release(error);
    return message;
  }
  void set_body(const BodySpec& spec) {
    for (const char* dtype : spec.inputs) body_inputs_.push_back(dtype_id(dtype));
    body_ops_ = spec.ops;
    instructions_.resize(spec.ops.size());
    for (size_t i = 0; i < spec.ops.size(); ++i) {
      instructions_[i] = {};
      instructions_[i].struct_size = sizeof(fe_instruction);
      instructions_[i].op = op_id(spec.ops[i].op);
      instructions_[i].dtype = dtype_id(spec.ops[i].dtype);
      instructions_[i].input_count = static_cast<uint32_t>(spec.ops[i].in.size());
      instructions_[i].revision = 1;
      instructions_[i].inputs = body_ops_[i].in.data();
      instructions_[i].attributes = spec.ops[i].attributes;
      instruction_pointers_.push_back(&instructions_[i]);
    }
    body_outputs_ = spec.outputs;
    body_.struct_size = sizeof body_;
    body_.input_count = static_cast<uint32_t>(body_inputs_.size());
    body_.instruction_count = static_cast<uint32_t>(instructions_.size());
    body_.output_count = static_cast<uint32_t>(body_outputs_.size());
    body_.input_dtypes = body_inputs_.data();
    body_.instructions = instruction_pointers_.data();
    body_.outputs = body_outputs_.data();
    node_.body = &body_;
  }

  std::vector<const Array*> arrays_;
  std::vector<fe_storage> storages_;
  std::vector<fe_value> values_;
  std::vector<const fe_storage*> storage_pointers_;
  std::vector<const fe_value*> value_pointers_;
  std::vector<uint32_t> in_, out_;
  fe_node node_{};
  const fe_node* node_pointer_ = &node_;
  fe_graph_view view_{};
  std::vector<fe_dtype> body_inputs_;
  std::vector<BodyOp> body_ops_;
  std::vector<fe_instruction> instructions_;
  std::vector<const fe_instruction*> instruction_pointers_;
  std::vector<uint32_t> body_outputs_;
  fe_body body_{};
};

// Runs `op` and expects success.
Array compute(Module& module, const char* op, const std::vector<const Array*>& inputs, const std::string& dtype,
              std::vector<int64_t> shape, const void* attributes = nullptr) {
  Array out = array(dtype, std::move(shape));
  std::fill(out.bytes.begin(), out.bytes.end(), std::byte{0xa5});
  EXPECT_EQ(OneNode(op, inputs, {&out}, attributes).run(module), "") << op;
  for (size_t i = out.bytes.size() - 64; i < out.bytes.size(); ++i)
    EXPECT_EQ(out.bytes[i], std::byte{0xa5}) << op << " wrote behind its output";
  return out;
}
bool same_bits(const Array& a, const Array& b) {
  return a.bytes.size() == b.bytes.size() && std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size() - 64) == 0;
}

double ulps(float got, long double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : INFINITY;
  const float rounded = static_cast<float>(want);
  if (std::isnan(got)) return INFINITY;
  if (std::isinf(got) || std::isinf(rounded)) {
    const float other = std::isinf(got) ? rounded : got;
    return got == rounded || std::nextafter(other, got > 0 || rounded > 0 ? INFINITY : -INFINITY) ==
                                 (std::isinf(got) ? got : rounded)
               ? 0
               : INFINITY;
  }
  int exponent = 0;
  std::frexp(want, &exponent);
  return static_cast<double>(std::fabs(got - want) / std::ldexp(1.0L, std::max(exponent - 24, -149)));
}

class CpuBackend : public testing::Test {
 protected:
  void SetUp() override {
    threads = 1;
    if (modules().empty()) GTEST_SKIP() << "no CPU module of this build runs here";
  }
  template <class Test>
  void for_each_module(Test test) {
    for (auto& module : modules()) {
      SCOPED_TRACE(module->path);
      test(*module);
    }
  }
};

// ---- elementwise
// -------------------------------------------------------------------------------------------------------

TEST_F(CpuBackend, ElementaryFunctionsStayWithinTwoUlpOfLongDouble) {
  struct Function {
    const char* op;
    long double (*oracle)(long double);
  };
  const std::vector<Function> functions = {{"exp", expl},   {"log", logl},     {"expm1", expm1l}, {"log1p", log1pl},
                                           {"log2", log2l}, {"log10", log10l}, {"sin", sinl},     {"cos", cosl},
                                           {"tan", tanl},   {"tanh", tanhl},   {"erf", erfl},     {"sqrt", sqrtl},
                                           {"asin", asinl}, {"acos", acosl},   {"atan", atanl},   {"sinh", sinhl},
                                           {"cosh", coshl}, {"asinh", asinhl}, {"acosh", acoshl}, {"atanh", atanhl}};
  std::vector<float> values = {0.0f,    -0.0f,    INFINITY, -INFINITY, NAN,      1e-45f,   -1e-45f, 1.17549435e-38f,
                               3.4e38f, -3.4e38f, 88.7228f, 88.7229f,  -103.97f, -103.98f, 1.0f,    -1.0f,
                               0.5f,    1e6f,     1e7f,     1e20f};
  for (uint32_t bits = 0; bits < 0xff000000u; bits += 104729) {
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    values.push_back(value);
  }
  const Array x = array_of("float32", {static_cast<int64_t>(values.size())}, values);
  for_each_module([&](Module& module) {
    for (const Function& function : functions) {
      const Array y = compute(module, function.op, {&x}, "float32", x.shape);
      double worst = 0;
      float at = 0;
      for (size_t i = 0; i < values.size(); ++i) {
        const double error = ulps(y.data<float>()[i], function.oracle(values[i]));
        if (error > worst) worst = error, at = values[i];
      }
      EXPECT_LE(worst, 2.0) << function.op << " at " << at;
    }
  });
}

TEST_F(CpuBackend, ResultsDoNotDependOnThePlaceOfAnElement) {
  const Array x = random_array({1, 257}, 4);
  for_each_module([&](Module& module) {
    for (const char* op : {"exp", "tanh", "erf", "sigmoid", "sin", "log1p"}) {
      const Array whole = compute(module, op, {&x}, "float32", {257});
      for (int64_t offset : {1, 7, 15, 100, 256}) {
        Array part = x;
        part.offset = offset;
        part.shape = {257 - offset};
        part.strides = {1};
        const Array y = compute(module, op, {&part}, "float32", part.shape);
        EXPECT_EQ(std::memcmp(y.bytes.data(), whole.data<float>() + offset, static_cast<size_t>(257 - offset) * 4), 0)
            << op;
      }
    }
  });
}

TEST_F(CpuBackend, BroadcastsAndStridesReadTheRightElements) {
  const Array a = random_array({33, 1, 70}), b = random_array({5, 70}, 1, 2), square = random_array({70, 33}, 1, 3);
  for_each_module([&](Module& module) {
    const Array sum = compute(module, "add", {&a, &b}, "float32", {33, 5, 70});
    for (int64_t i = 0; i < 33; ++i)
      for (int64_t j = 0; j < 5; ++j)
        for (int64_t k = 0; k < 70; ++k)
          ASSERT_EQ(sum.data<float>()[(i * 5 + j) * 70 + k], a.data<float>()[i * 70 + k] + b.data<float>()[j * 70 + k]);
    const Array turned = transposed(square);
    const Array flat = random_array({33, 70}, 1, 4);
    const Array product = compute(module, "multiply", {&turned, &flat}, "float32", {33, 70});
    for (int64_t i = 0; i < 33; ++i)
      for (int64_t k = 0; k < 70; ++k)
        ASSERT_EQ(product.data<float>()[i * 70 + k], square.data<float>()[k * 33 + i] * flat.data<float>()[i * 70 + k]);
    Array reversed = random_array({100}, 1, 5);
    const Array original = reversed;
    reversed.offset = 99;
    reversed.strides = {-1};
    const Array negated = compute(module, "negative", {&reversed}, "float32", {100});
    for (int64_t i = 0; i < 100; ++i) ASSERT_EQ(negated.data<float>()[i], -original.data<float>()[99 - i]);
  });
}

TEST_F(CpuBackend, IntegerDivisionFollowsPythonAndNeverTraps) {
  const int32_t low = std::numeric_limits<int32_t>::min();
  const std::vector<int32_t> a = {7, -7, 7, -7, 5, low, low, 0, 6}, b = {2, 2, -2, -2, 0, -1, 0, 3, 3};
  const std::vector<int32_t> quotient = {3, -4, -4, 3, 0, low, 0, 0, 2}, rest = {1, 1, -1, -1, 0, 0, 0, 0, 0};
  const Array x = array_of("int32", {9}, a), y = array_of("int32", {9}, b);
  for_each_module([&](Module& module) {
    const Array q = compute(module, "floor_divide", {&x, &y}, "int32", {9});
    const Array r = compute(module, "remainder", {&x, &y}, "int32", {9});
    for (size_t i = 0; i < 9; ++i) {
      EXPECT_EQ(q.data<int32_t>()[i], quotient[i]) << a[i] << " // " << b[i];
      EXPECT_EQ(r.data<int32_t>()[i], rest[i]) << a[i] << " % " << b[i];
    }
  });
}

TEST_F(CpuBackend, MaximumPropagatesNaN) {
  const Array a = array_of<float>("float32", {4}, {NAN, 1, NAN, 2}),
              b = array_of<float>("float32", {4}, {1, NAN, NAN, 3});
  for_each_module([&](Module& module) {
    const Array m = compute(module, "maximum", {&a, &b}, "float32", {4});
    EXPECT_TRUE(std::isnan(m.data<float>()[0]) && std::isnan(m.data<float>()[1]) && std::isnan(m.data<float>()[2]));
    EXPECT_EQ(m.data<float>()[3], 3);
  });
}

// (x * w + b) with a second output, and the same as single ops.
TEST_F(CpuBackend, FusedEqualsUnfusedBitForBit) {
  const Array x = random_array({300, 77}, 3), w = random_array({77}, 1, 2), b = random_array({300, 1}, 1, 3);
  const BodySpec body = {{"float32", "float32", "float32"},
                         {{"multiply", "float32", {0, 1}},
                          {"add", "float32", {3, 2}},
                          {"tanh", "float32", {4}},
                          {"multiply", "float32", {5, 4}},
                          {"exp", "float32", {6}}},
                         {4, 7}};
  for_each_module([&](Module& module) {
    for (uint32_t n : {1u, 2u, 3u}) {
      threads = n;
      Array first = array("float32", {300, 77}), second = array("float32", {300, 77});
      ASSERT_EQ(OneNode("fused", {&x, &w, &b}, {&first, &second}, nullptr, &body).run(module), "");
      const Array p = compute(module, "multiply", {&x, &w}, "float32", {300, 77});
      const Array s = compute(module, "add", {&p, &b}, "float32", {300, 77});
      const Array t = compute(module, "tanh", {&s}, "float32", {300, 77});
      const Array m = compute(module, "multiply", {&t, &s}, "float32", {300, 77});
      const Array e = compute(module, "exp", {&m}, "float32", {300, 77});
      EXPECT_TRUE(same_bits(first, s));
      EXPECT_TRUE(same_bits(second, e));
    }
  });
}

TEST_F(CpuBackend, UnknownOpsAndDtypesAreRefusedWithAReason) {
  const Array x = random_array({4});
  for_each_module([&](Module& module) {
    Array out = array("float32", {4}), integers = array("int32", {4});
    std::string why;
    EXPECT_FALSE(OneNode("no_such_op", {&x}, {&out}).supported(module, &why));
    EXPECT_NE(why.find("no_such_op"), std::string::npos) << why;
    EXPECT_FALSE(OneNode("exp", {&x}, {&integers}).supported(module, &why));
    EXPECT_NE(why.find("exp"), std::string::npos) << why;
    EXPECT_TRUE(OneNode("exp", {&x}, {&out}).supported(module));
  });
}

// ---- matmul
// --------------------------------------------------------------------------------------------------------------

void expect_product(const Array& a, const Array& b, const Array& c, int64_t m, int64_t k, int64_t n) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0, magnitude = 0;
      for (int64_t q = 0; q < k; ++q) {
        const double term = static_cast<double>(a.data<float>()[a.offset + i * a.strides[0] + q * a.strides[1]]) *
                            b.data<float>()[b.offset + q * b.strides[0] + j * b.strides[1]];
        sum += term;
        magnitude += std::fabs(term);
      }
      ASSERT_NEAR(c.data<float>()[i * n + j], sum, 1e-7 + magnitude * 0x1p-24 * (2 + std::sqrt(static_cast<double>(k))))
          << i << ", " << j;
    }
}

TEST_F(CpuBackend, MatmulOfAnyShapeAndStride) {
  struct Size {
    int64_t m, k, n;
  };
  for_each_module([&](Module& module) {
    for (const Size s : {Size{1, 1, 1}, {3, 5, 7}, {1, 1000, 33}, {29, 385, 65}, {64, 0, 8}, {100, 130, 100}})
      for (bool turn_a : {false, true})
        for (bool turn_b : {false, true}) {
          const Array a = turn_a ? transposed(random_array({s.k, s.m})) : random_array({s.m, s.k});
          const Array b = turn_b ? transposed(random_array({s.n, s.k}, 1, 2)) : random_array({s.k, s.n}, 1, 2);
          const Array c = compute(module, "matmul", {&a, &b}, "float32", {s.m, s.n});
          expect_product(a, b, c, s.m, s.k, s.n);
        }
  });
}

TEST_F(CpuBackend, MatmulRowsAreTheSameAloneAndTogetherAndOnAnyThreads) {
  constexpr int64_t depth = 700, width = 613;  // two K blocks; whole groups of panels, single ones and a part of one
  const Array a = random_array({120, depth}), b = random_array({depth, width}, 1, 2);
  for_each_module([&](Module& module) {
    threads = 1;
    const Array all = compute(module, "matmul", {&a, &b}, "float32", {120, width});
    for (uint32_t n : {2u, 3u, 7u}) {
      threads = n;
      EXPECT_TRUE(same_bits(all, compute(module, "matmul", {&a, &b}, "float32", {120, width})));
    }
    for (const int64_t rows : {1, 2, 3, 4, 13, 14, 15, 16, 28, 29, 30})
      for (const int64_t row : {0, 13, 77, 90}) {
        threads = row == 13 ? 2 : 1;
        Array some = a;
        some.offset = row * depth;
        some.shape = {rows, depth};
        const Array c = compute(module, "matmul", {&some, &b}, "float32", {rows, width});
        EXPECT_EQ(std::memcmp(c.bytes.data(), all.data<float>() + row * width, static_cast<size_t>(rows * width) * 4),
                  0)
            << rows << " rows from " << row;
      }
  });
}

void expect_same_bits_prepared(Module& module, int64_t rows) {
  const Array a = random_array({rows, 500}), b = transposed(random_array({400, 500}, 1, 2));
  const Array plain = compute(module, "matmul", {&a, &b}, "float32", {rows, 400});
  Array c = array("float32", {rows, 400});
  OneNode node("matmul", {&a, &b}, {&c}, nullptr, nullptr, true);
  uint64_t size = 0;
  char key[128] = "";
  expect_no_error(module.backend.prepare_size(module.device, &node.view(), 0, 1, &size, key, sizeof key));
  ASSERT_GT(size, 0u);
  EXPECT_NE(std::string(key), "");
  Array packed{"uint8", {static_cast<int64_t>(size)}, {1}, 0, std::vector<std::byte>(size)};
  fe_module_buffer *from = nullptr, *to = nullptr;
  expect_no_error(module.backend.buffer_borrow(module.device, const_cast<std::byte*>(b.bytes.data()), b.bytes.size(),
                                               FE_ACCESS_READ, &from));
  expect_no_error(module.backend.buffer_borrow(module.device, packed.bytes.data(), size, FE_ACCESS_READ_WRITE, &to));
  const fe_binding source{sizeof(fe_binding), from, 0, 1}, target{sizeof(fe_binding), to, 0, 1};
  expect_no_error(module.backend.prepare(module.device, &node.view(), 0, 1, &source, &target));
  module.backend.buffer_free(from);
  module.backend.buffer_free(to);
  node.storage(1).prepared = 1;
  ASSERT_EQ(node.run(module, &packed), "");
  EXPECT_TRUE(same_bits(plain, c)) << rows << " rows";
}
TEST_F(CpuBackend, PreparedWeightsGiveTheSameBits) {
  for_each_module([&](Module& module) {
    for (const int64_t rows : {1, 2, 3, 16, 50}) expect_same_bits_prepared(module, rows);
  });
}

TEST_F(CpuBackend, MatmulEpilogueEqualsSeparateOps) {
  const Array a = random_array({90, 400}), b = random_array({400, 130}, 1, 2), bias = random_array({130}, 1, 3);
  const BodySpec body = {{"float32", "float32"}, {{"add", "float32", {0, 1}}, {"tanh", "float32", {2}}}, {3}};
  const BodySpec compare = {{"float32", "float32"}, {{"less", "bool", {0, 1}}}, {2}};
  for_each_module([&](Module& module) {
    for (uint32_t n : {1u, 2u}) {
      threads = n;
      const Array product = compute(module, "matmul", {&a, &b}, "float32", {90, 130});
      const Array sum = compute(module, "add", {&product, &bias}, "float32", {90, 130});
      const Array activated = compute(module, "tanh", {&sum}, "float32", {90, 130});
      const Array smaller = compute(module, "less", {&product, &bias}, "bool", {90, 130});
      Array fused = array("float32", {90, 130}), fused_bool = array("bool", {90, 130});
      ASSERT_EQ(OneNode("matmul", {&a, &b, &bias}, {&fused}, nullptr, &body).run(module), "");
      EXPECT_TRUE(same_bits(activated, fused));
      ASSERT_EQ(OneNode("matmul", {&a, &b, &bias}, {&fused_bool}, nullptr, &compare).run(module), "");
      EXPECT_TRUE(same_bits(smaller, fused_bool));
    }
  });
}

TEST_F(CpuBackend, BatchedMatmulBroadcastsItsBatches) {
  const Array a = random_array({3, 1, 20, 40}), b = random_array({5, 40, 30}, 1, 2);
  for_each_module([&](Module& module) {
    const Array c = compute(module, "matmul", {&a, &b}, "float32", {3, 5, 20, 30});
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 5; ++j) {
        Array x = a, y = b, z = array("float32", {20, 30});
        x.offset = i * 800, x.shape = {20, 40}, x.strides = {40, 1};
        y.offset = j * 1200, y.shape = {40, 30}, y.strides = {30, 1};
        std::memcpy(z.bytes.data(), c.data<float>() + (i * 5 + j) * 600, 2400);
        expect_product(x, y, z, 20, 40, 30);
      }
  });
}

// ---- reductions
// ----------------------------------------------------------------------------------------------------------

fe_sum_attributes axes(const std::vector<int64_t>& list) {
  fe_sum_attributes attributes{};
  attributes.struct_size = sizeof attributes;
  attributes.axis = {list.data(), list.size()};
  return attributes;
}

TEST_F(CpuBackend, SumsOverAnyAxesOfAnyStrides) {
  const Array x = random_array({13, 70, 37});
  const std::vector<std::vector<int64_t>> all_axes = {{}, {0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}};
  for_each_module([&](Module& module) {
    for (const bool turn : {false, true})
      for (const auto& list : all_axes) {
        const Array view = turn ? transposed(x) : x;
        const auto attributes = axes(list);
        std::vector<bool> reduced(3, list.empty());
        for (const int64_t axis : list) reduced[static_cast<size_t>(axis)] = true;
        std::vector<int64_t> shape, kept(3, 0);
        int64_t stride = 1;
        for (size_t k = 3; k-- > 0;)
          if (!reduced[k]) kept[k] = stride, stride *= view.shape[k], shape.insert(shape.begin(), view.shape[k]);
        std::vector<double> want(static_cast<size_t>(stride), 0), magnitude(want), greatest(want.size(), -INFINITY);
        for (int64_t a = 0; a < view.shape[0]; ++a)
          for (int64_t b = 0; b < view.shape[1]; ++b)
            for (int64_t c = 0; c < view.shape[2]; ++c) {
              const double v = view.data<float>()[a * view.strides[0] + b * view.strides[1] + c * view.strides[2]];
              const auto at = static_cast<size_t>(a * kept[0] + b * kept[1] + c * kept[2]);
              want[at] += v;
              magnitude[at] += std::fabs(v);
              greatest[at] = std::max(greatest[at], v);
            }
        for (uint32_t n : {1u, 3u}) {
          threads = n;
          const Array sum = compute(module, "sum", {&view}, "float32", shape, &attributes);
          const Array max = compute(module, "max", {&view}, "float32", shape, &attributes);
          for (size_t i = 0; i < want.size(); ++i) {
            ASSERT_NEAR(sum.data<float>()[i], want[i], magnitude[i] * 0x1p-21) << i;
            ASSERT_EQ(max.data<float>()[i], greatest[i]);
          }
        }
      }
  });
}

TEST_F(CpuBackend, LongSumsAreExactToFewUlpAndTheSameOnAnyThreads) {
  const Array x = random_array({300001}), columns = random_array({20011, 17}, 1, 2);
  const std::vector<int64_t> zero = {0};
  const auto attributes = axes(zero);
  for_each_module([&](Module& module) {
    double want = 0, magnitude = 0;
    for (int64_t i = 0; i < x.count(); ++i) want += x.data<float>()[i], magnitude += std::fabs(x.data<float>()[i]);
    threads = 1;
    const Array sum = compute(module, "sum", {&x}, "float32", {}, &attributes);
    const Array column_sums = compute(module, "sum", {&columns}, "float32", {17}, &attributes);
    EXPECT_NEAR(*sum.data<float>(), want, magnitude * 0x1p-23);
    for (uint32_t n : {2u, 3u}) {
      threads = n;
      EXPECT_TRUE(same_bits(sum, compute(module, "sum", {&x}, "float32", {}, &attributes)));
      EXPECT_TRUE(same_bits(column_sums, compute(module, "sum", {&columns}, "float32", {17}, &attributes)));
    }
  });
}

TEST_F(CpuBackend, ReductionsOfIntegersBoolsAndNothing) {
  const Array integers = array_of<int64_t>("int64", {4}, {INT64_MAX, 1, 5, -3}), empty = array("float32", {3, 0});
  const Array flags = array_of<uint8_t>("bool", {2, 2}, {1, 0, 1, 1});
  const std::vector<int64_t> one = {1}, none = {};
  const auto last = axes(one), all = axes(none);
  for_each_module([&](Module& module) {
    EXPECT_EQ(*compute(module, "sum", {&integers}, "int64", {}, &all).data<int64_t>(), INT64_MIN + 2);
    EXPECT_EQ(*compute(module, "prod", {&integers}, "int64", {}, &all).data<int64_t>(),
              static_cast<int64_t>(static_cast<uint64_t>(INT64_MAX) * static_cast<uint64_t>(-15)));
    const Array every = compute(module, "all", {&flags}, "bool", {2}, &last),
                some = compute(module, "any", {&flags}, "bool", {2}, &last);
    EXPECT_EQ(every.data<uint8_t>()[0], 0);
    EXPECT_EQ(every.data<uint8_t>()[1], 1);
    EXPECT_EQ(some.data<uint8_t>()[0], 1);
    const Array sum = compute(module, "sum", {&empty}, "float32", {3}, &last),
                prod = compute(module, "prod", {&empty}, "float32", {3}, &last);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(sum.data<float>()[i], 0);
      EXPECT_EQ(prod.data<float>()[i], 1);
    }
  });
}

TEST_F(CpuBackend, MaxOfRowsAndColumnsPropagatesNaN) {
  Array x = random_array({100, 70});
  x.data<float>()[33 * 70 + 5] = NAN;
  const std::vector<int64_t> zero = {0}, one = {1};
  const auto columns = axes(zero), rows = axes(one);
  for_each_module([&](Module& module) {
    for (const char* op : {"max", "min"}) {
      const Array down = compute(module, op, {&x}, "float32", {70}, &columns);
      const Array along = compute(module, op, {&x}, "float32", {100}, &rows);
      for (int64_t i = 0; i < 70; ++i) EXPECT_EQ(std::isnan(down.data<float>()[i]), i == 5);
      for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(std::isnan(along.data<float>()[i]), i == 33);
    }
  });
}

TEST_F(CpuBackend, ArgmaxGivesTheFirstAndNaNWins) {
  Array x = random_array({7, 5000});
  x.data<float>()[100] = x.data<float>()[4200] = 9;                   // row 0: equal
  x.data<float>()[5000 + 4100] = x.data<float>()[5000 + 4999] = NAN;  // row 1: NaN
  x.data<float>()[10000 + 4999] = 5;
  fe_argmax_attributes attributes{};
  attributes.struct_size = sizeof attributes;
  attributes.axis = 1;
  for_each_module([&](Module& module) {
    const Array at = compute(module, "argmax", {&x}, "int64", {7}, &attributes);
    EXPECT_EQ(at.data<int64_t>()[0], 100);
    EXPECT_EQ(at.data<int64_t>()[1], 4100);
    EXPECT_EQ(at.data<int64_t>()[2], 4999);
  });
}

// ---- rows
// ----------------------------------------------------------------------------------------------------------------

TEST_F(CpuBackend, SoftmaxAndLayerNormOfRowsOfAnyWidth) {
  for_each_module([&](Module& module) {
    for (const int64_t width : {1, 7, 16, 100, 1000, 5000}) {
      const Array x = random_array({5, width}, 10), weight = random_array({width}, 1, 2),
                  bias = random_array({width}, 1, 3);
      const fe_softmax_attributes last{sizeof last, 1};
      const fe_layer_norm_attributes epsilon{sizeof epsilon, 1e-5};
      const Array s = compute(module, "softmax", {&x}, "float32", x.shape, &last);
      const Array l = compute(module, "log_softmax", {&x}, "float32", x.shape, &last);
      const Array n = compute(module, "layer_norm", {&x, &weight, &bias}, "float32", x.shape, &epsilon);
      for (int64_t i = 0; i < 5; ++i) {
        const float* row = x.data<float>() + i * width;
        double greatest = -INFINITY, sum = 0, mean = 0, variance = 0;
        for (int64_t j = 0; j < width; ++j) greatest = std::max<double>(greatest, row[j]), mean += row[j];
        mean /= static_cast<double>(width);
        for (int64_t j = 0; j < width; ++j)
          sum += std::exp(row[j] - greatest), variance += (row[j] - mean) * (row[j] - mean);
        variance /= static_cast<double>(width);
        for (int64_t j = 0; j < width; ++j) {
          const double want = std::exp(row[j] - greatest) / sum;
          ASSERT_NEAR(s.data<float>()[i * width + j], want, want * 3e-6);
          ASSERT_NEAR(l.data<float>()[i * width + j], row[j] - greatest - std::log(sum), 4e-6);
          ASSERT_NEAR(n.data<float>()[i * width + j],
                      (row[j] - mean) / std::sqrt(variance + 1e-5) * weight.data<float>()[j] + bias.data<float>()[j],
                      5e-6);
        }
      }
    }
  });
}

TEST_F(CpuBackend, ANaNAnywhereInARowMakesTheWholeSoftmaxNaN) {
  const fe_softmax_attributes along_rows{sizeof along_rows, 1};
  for (const int64_t width : {1, 5, 16, 33, 100, 5000})
    for (const int64_t at : {int64_t{0}, width / 2, width - 1}) {
      std::vector<float> values(static_cast<size_t>(width) * 2, 1.0f);
      values[static_cast<size_t>(at)] = NAN;
      if (at > 0) values[0] = INFINITY;
      values[static_cast<size_t>(width)] = -INFINITY;  // of the second row, which is one more than width - 1 equal ones
      const Array x = array_of("float32", {2, width}, values);
      for_each_module([&](Module& module) {
        const Array y = compute(module, "softmax", {&x}, "float32", x.shape, &along_rows);
        for (size_t i = 0; i < static_cast<size_t>(width); ++i) ASSERT_TRUE(std::isnan(y.data<float>()[i])) << i;
        if (width == 1) return;
        EXPECT_EQ(y.data<float>()[width], 0.0f);
        EXPECT_LE(ulps(y.data<float>()[width + 1], 1.0L / static_cast<long double>(width - 1)), 2);
      });
    }
}

TEST_F(CpuBackend, SigmoidAndSiluKeepTheirDigitsInBothTails) {
  std::vector<float> values = {0.0f, -0.0f, 1e-45f, -1e-40f, 87.0f, -87.0f, 87.1f, -87.1f, -100.0f, 3e38f, -3e38f, NAN};
  for (double v = -104; v < 100; v += 0.000937) values.push_back(static_cast<float>(v));
  for (double v = 1e-6; v < 1; v *= 1.0003)
    values.insert(values.end(), {static_cast<float>(v), static_cast<float>(-v)});
  const Array x = array_of("float32", {static_cast<int64_t>(values.size())}, values);
  for_each_module([&](Module& module) {
    const Array sigmoid = compute(module, "sigmoid", {&x}, "float32", x.shape);
    const Array silu = compute(module, "silu", {&x}, "float32", x.shape);
    for (size_t i = 0; i < values.size(); ++i) {
      const long double v = values[i];
      ASSERT_LE(ulps(sigmoid.data<float>()[i], 1 / (1 + expl(-v))), 2) << v;
      ASSERT_LE(ulps(silu.data<float>()[i], v / (1 + expl(-v))), 2) << v;
    }
  });
}

TEST_F(CpuBackend, GeluKeepsItsDigitsInBothTails) {
  std::vector<float> values;
  for (double v = -15; v < 14; v += 0.000371) values.push_back(static_cast<float>(v));
  for (double v = 1e-6; v < 1; v *= 1.0003)
    values.insert(values.end(), {static_cast<float>(v), static_cast<float>(-v)});
  for (float v : {0.0f, -0.0f, 1e-30f, -1e-40f, 3e38f, -3e38f, INFINITY, -INFINITY, NAN}) values.push_back(v);
  const Array x = array_of("float32", {static_cast<int64_t>(values.size())}, values);
  const fe_gelu_attributes exact{sizeof exact, "none"}, approximate{sizeof approximate, "tanh"};
  for_each_module([&](Module& module) {
    const Array y = compute(module, "gelu", {&x}, "float32", x.shape, &exact);
    const Array z = compute(module, "gelu", {&x}, "float32", x.shape, &approximate);
    double worst = 0;
    float at = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const long double v = values[i];
      if (std::isinf(values[i]) && v > 0) {
        EXPECT_EQ(y.data<float>()[i], v);
        continue;
      }
      const double error = ulps(y.data<float>()[i], 0.5L * v * erfcl(-v * 0.70710678118654752440L));
      if (error > worst) worst = error, at = values[i];
      const long double u = 0.79788456080286535588L * (v + 0.044715L * v * v * v);
      ASSERT_LE(ulps(z.data<float>()[i], v / (1 + expl(-2 * u))), 2) << v;
    }
    EXPECT_TRUE(std::signbit(y.data<float>()[values.size() - 8])) << "gelu(-0) is -0";
    EXPECT_LE(worst, 5.5) << "gelu at " << at;
    RecordProperty("gelu_worst_ulp", std::to_string(worst));
  });
}

TEST_F(CpuBackend, AttentionMatchesItsDefinition) {
  struct Setup {
    int64_t queries, keys, head, value;
    int mask;
    bool causal;
  };  // mask: 0 none, 1 added, 2 bool
  for_each_module([&](Module& module) {
    for (const Setup s : {Setup{5, 7, 8, 8, 0, false},
                          {130, 300, 64, 64, 1, false},
                          {200, 257, 40, 48, 2, true},
                          {1, 400, 64, 64, 0, true}}) {
      const Array q = random_array({2, 3, s.queries, s.head}, 3), v = random_array({2, 3, s.keys, s.value}, 1, 3);
      // Keys as a projection leaves them: (batch, position, head, element).
      Array k = random_array({2, s.keys, 3, s.head}, 3, 2);
      std::swap(k.shape[1], k.shape[2]);
      std::swap(k.strides[1], k.strides[2]);
      Array added = random_array({s.queries, s.keys}, 2, 4), kept = array("bool", {2, 1, 1, s.keys});
      for (int64_t i = 0; i < kept.count(); ++i) kept.data<uint8_t>()[i] = i % 3 != 0;
      std::vector<const Array*> inputs = {&q, &k, &v};
      if (s.mask == 1) inputs.push_back(&added);
      if (s.mask == 2) inputs.push_back(&kept);
      const fe_scaled_dot_product_attention_attributes attributes{sizeof attributes, 0, s.causal};
      threads = 1;
      const Array y =
          compute(module, "scaled_dot_product_attention", inputs, "float32", {2, 3, s.queries, s.value}, &attributes);
      threads = 3;
      EXPECT_TRUE(
          same_bits(y, compute(module, "scaled_dot_product_attention", inputs, "float32", y.shape, &attributes)));
      for (int64_t b = 0; b < 2; ++b)
        for (int64_t h = 0; h < 3; ++h)
          for (int64_t i = 0; i < s.queries; i += 3) {
            std::vector<double> p(static_cast<size_t>(s.keys));
            double greatest = -INFINITY, sum = 0;
            for (int64_t j = 0; j < s.keys; ++j) {
              double score = 0;
              for (int64_t e = 0; e < s.head; ++e)
                score += static_cast<double>(q.data<float>()[((b * 3 + h) * s.queries + i) * s.head + e]) *
                         k.data<float>()[b * k.strides[0] + h * k.strides[1] + j * k.strides[2] + e];
              score /= std::sqrt(static_cast<double>(s.head));
              if (s.mask == 1) score += added.data<float>()[i * s.keys + j];
              if (s.mask == 2 && !kept.data<uint8_t>()[b * s.keys + j]) score = -INFINITY;
              if (s.causal && j > i + s.keys - s.queries) score = -INFINITY;
              p[static_cast<size_t>(j)] = score;
              greatest = std::max(greatest, score);
            }
            for (double& w : p) w = greatest == -INFINITY ? 0 : std::exp(w - greatest), sum += w;
            for (int64_t e = 0; e < s.value; ++e) {
              double want = 0;
              for (int64_t j = 0; j < s.keys; ++j)
                want += p[static_cast<size_t>(j)] * v.data<float>()[((b * 3 + h) * s.keys + j) * s.value + e];
              if (sum > 0) want /= sum;
              ASSERT_NEAR(y.data<float>()[((b * 3 + h) * s.queries + i) * s.value + e], want, 4e-6);
            }
          }
    }
  });
}

TEST_F(CpuBackend, AQueryThatSeesNothingGivesZeros) {
  const Array q = random_array({4, 8}), k = random_array({6, 8}, 1, 2), v = random_array({6, 8}, 1, 3),
              none = array("bool", {4, 6});
  const fe_scaled_dot_product_attention_attributes attributes{sizeof attributes, 0, 0};
  for_each_module([&](Module& module) {
    const Array y =
        compute(module, "scaled_dot_product_attention", {&q, &k, &v, &none}, "float32", {4, 8}, &attributes);
    for (int64_t i = 0; i < 32; ++i) EXPECT_EQ(y.data<float>()[i], 0);
  });
}

// ---- movement and casts
// ----------------------------------------------------------------------------------------------------

TEST_F(CpuBackend, CopiesTransposesOfEveryItemSize) {
  for_each_module([&](Module& module) {
    for (const char* dtype : {"uint8", "int16", "float32", "float64"}) {
      const auto item = static_cast<int64_t>(size_of(dtype));
      Array x = array(dtype, {3, 130, 67});
      for (size_t i = 0; i < x.bytes.size(); ++i) x.bytes[i] = static_cast<std::byte>(i * 31 + i / 256);
      Array t = transposed(x);
      const Array y = compute(module, "copy", {&t}, dtype, t.shape);
      for (int64_t a = 0; a < 3; ++a)
        for (int64_t b = 0; b < 67; ++b)
          for (int64_t c = 0; c < 130; ++c)
            ASSERT_EQ(std::memcmp(y.bytes.data() + ((a * 67 + b) * 130 + c) * item,
                                  x.bytes.data() + ((a * 130 + c) * 67 + b) * item, static_cast<size_t>(item)),
                      0);
    }
  });
}

TEST_F(CpuBackend, TakeWrapsNegativeIndicesAndRefusesThoseOutOfBounds) {
  const Array x = random_array({4, 6, 5}), indices = array_of<int64_t>("int64", {2, 2}, {5, -6, -1, 0});
  const Array wrong = array_of<int32_t>("int32", {1}, {6});
  const fe_take_attributes attributes{sizeof attributes, 1};
  for_each_module([&](Module& module) {
    const Array y = compute(module, "take", {&x, &indices}, "float32", {4, 2, 2, 5}, &attributes);
    const int64_t rows[] = {5, 0, 5, 0};
    for (int64_t a = 0; a < 4; ++a)
      for (int64_t i = 0; i < 4; ++i)
        for (int64_t c = 0; c < 5; ++c)
          ASSERT_EQ(y.data<float>()[(a * 4 + i) * 5 + c], x.data<float>()[(a * 6 + rows[i]) * 5 + c]);
    Array out = array("float32", {4, 1, 5});
    const std::string message = OneNode("take", {&x, &wrong}, {&out}, &attributes).run(module);
    EXPECT_NE(message.find("index 6 is out of bounds for axis 1 with size 6"), std::string::npos) << message;
  });
}

TEST_F(CpuBackend, ConcatPadAndIota) {
  const Array a = random_array({3, 2, 4}), b = transposed(random_array({3, 4, 5}, 1, 2)),
              value = array_of<float>("float32", {}, {7});
  const fe_concat_attributes axis{sizeof axis, 1};
  const std::vector<int64_t> before = {1, 0, 2}, after = {0, 1, 3};
  const fe_pad_attributes sizes{sizeof sizes, {before.data(), 3}, {after.data(), 3}};
  const fe_iota_attributes ten{sizeof ten, 10, dtype_id("int32")};
  for_each_module([&](Module& module) {
    const Array joined = compute(module, "concat", {&a, &b}, "float32", {3, 7, 4}, &axis);
    const Array padded = compute(module, "pad", {&a, &value}, "float32", {4, 3, 9}, &sizes);
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 7; ++j)
        for (int64_t k = 0; k < 4; ++k)
          ASSERT_EQ(joined.data<float>()[(i * 7 + j) * 4 + k],
                    j < 2 ? a.data<float>()[(i * 2 + j) * 4 + k] : b.data<float>()[i * 20 + k * 5 + j - 2]);
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t j = 0; j < 3; ++j)
        for (int64_t k = 0; k < 9; ++k) {
          const bool inside = i >= 1 && j < 2 && k >= 2 && k < 6;
          ASSERT_EQ(padded.data<float>()[(i * 3 + j) * 9 + k],
                    inside ? a.data<float>()[((i - 1) * 2 + j) * 4 + k - 2] : 7);
        }
    const Array counted = compute(module, "iota", {}, "int32", {10}, &ten);
    for (int32_t i = 0; i < 10; ++i) EXPECT_EQ(counted.data<int32_t>()[i], i);
  });
}

TEST_F(CpuBackend, CastsSaturateAndNeverTrap) {
  const Array x = array_of<float>("float32", {9}, {NAN, INFINITY, -INFINITY, 3e9f, -3e9f, 2.9f, -2.9f, 255.5f, 0.0f});
  const fe_astype_attributes to{sizeof to, dtype_id("int32")};
  const int32_t want[] = {0, INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, 2, -2, 255, 0};
  const uint8_t bytes[] = {0, 255, 0, 255, 0, 2, 0, 255, 0};
  for_each_module([&](Module& module) {
    const Array i = compute(module, "astype", {&x}, "int32", {9}, &to);
    const Array b = compute(module, "astype", {&x}, "uint8", {9}, &to);
    const Array f = compute(module, "astype", {&x}, "bool", {9}, &to);
    for (size_t k = 0; k < 9; ++k) {
      EXPECT_EQ(i.data<int32_t>()[k], want[k]);
      EXPECT_EQ(b.data<uint8_t>()[k], bytes[k]);
      EXPECT_EQ(f.data<uint8_t>()[k], k != 8);
    }
    // float16 holds 11 bits: to it and back rounds to nearest even, also in one step from float64.
    const Array d = array_of<double>("float64", {4}, {1 + 0x1p-11, 1 + 0x1p-11 + 0x1p-40, 65520, 0x1p-25 + 0x1p-50});
    const Array h = compute(module, "astype", {&d}, "float16", {4}, &to);
    const Array back = compute(module, "astype", {&h}, "float32", {4}, &to);
    EXPECT_EQ(back.data<float>()[0], 1);
    EXPECT_EQ(back.data<float>()[1], 1 + 0x1p-10f);
    EXPECT_EQ(back.data<float>()[2], INFINITY);
    EXPECT_EQ(back.data<float>()[3], 0x1p-24f);
  });
}

TEST_F(CpuBackend, IntegerMatmulWraps) {
  const Array a = array_of<int8_t>("int8", {2, 2}, {100, 100, -128, 1}),
              b = array_of<int8_t>("int8", {2, 2}, {2, 1, 2, -1});
  for_each_module([&](Module& module) {
    const Array c = compute(module, "matmul", {&a, &b}, "int8", {2, 2});
    EXPECT_EQ(c.data<int8_t>()[0], static_cast<int8_t>(400));
    EXPECT_EQ(c.data<int8_t>()[1], 0);
    EXPECT_EQ(c.data<int8_t>()[2], static_cast<int8_t>(-254));
    EXPECT_EQ(c.data<int8_t>()[3], static_cast<int8_t>(-129));
  });
}

TEST_F(CpuBackend, HalvesAreComputedInFloat32AndRoundedOnce) {
  const Array x = random_array({200}, 3);
  const fe_astype_attributes to{sizeof to, 0};
  for_each_module([&](Module& module) {
    for (const char* half : {"float16", "bfloat16"}) {
      const Array h = compute(module, "astype", {&x}, half, {200}, &to);
      const Array wide = compute(module, "astype", {&h}, "float32", {200}, &to);
      const Array y = compute(module, "exp", {&h}, half, {200});
      const Array e = compute(module, "exp", {&wide}, "float32", {200});
      EXPECT_TRUE(same_bits(y, compute(module, "astype", {&e}, half, {200}, &to)));
      Array square = h;
      square.shape = {10, 20};
      square.strides = {20, 1};
      const fe_softmax_attributes last{sizeof last, 1};
      Array wide_square = wide;
      wide_square.shape = {10, 20};
      wide_square.strides = {20, 1};
      const Array s = compute(module, "softmax", {&square}, half, {10, 20}, &last);
      const Array f = compute(module, "softmax", {&wide_square}, "float32", {10, 20}, &last);
      EXPECT_TRUE(same_bits(s, compute(module, "astype", {&f}, half, {10, 20}, &to)));
    }
  });
}

}  // namespace
