// Calls the CPU module only through its slots, with hand-made graph views of one node, on every variant that the
// machine can run.
#pragma once

#include <ferrule/ops.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "backend_host.h"

namespace cpu_backend {

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

inline std::vector<int64_t> contiguous(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i]) strides[i] = stride;
  return strides;
}
inline Array array(const std::string& dtype, std::vector<int64_t> shape) {
  std::vector<int64_t> strides = contiguous(shape);
  Array a{dtype, std::move(shape), std::move(strides), 0, {}};
  a.bytes.resize(static_cast<size_t>(a.count()) * size_of(dtype.c_str()) + 64);
  return a;
}
template <class T>
inline Array array_of(const std::string& dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  Array a = array(dtype, std::move(shape));
  std::memcpy(a.bytes.data(), values.data(), values.size() * sizeof(T));
  return a;
}
inline Array random_array(std::vector<int64_t> shape, double scale = 1, unsigned seed = 1) {
  Array a = array("float32", std::move(shape));
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (int64_t i = 0; i < a.count(); ++i) a.data<float>()[i] = static_cast<float>(scale) * uniform(generator);
  return a;
}
inline Array transposed(const Array& a) {
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
          const void* attributes = nullptr, const BodySpec* body = nullptr, uint32_t revision = 1) {
    std::vector<const Array*> all = inputs;
    all.insert(all.end(), outputs.begin(), outputs.end());
    storages_.resize(all.size());
    values_.resize(all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      storages_[i] = {};
      storages_[i].struct_size = sizeof(fe_storage);
      storages_[i].kind = i < inputs.size() ? FE_STORAGE_INPUT : FE_STORAGE_OUTPUT;
      storages_[i].binding = static_cast<uint32_t>(i);
      storages_[i].size = all[i]->bytes.size();
      storages_[i].alignment = 8;
      storages_[i].reuses = -1;
      values_[i] = {};
      values_[i].struct_size = sizeof(fe_value);
      values_[i].dtype = dtype_id(all[i]->dtype);
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
    node_.revision = revision;
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
    arrays_ = std::move(all);
  }

  uint32_t thread_limit = 0;  // per execution; 0 = all

  fe_graph_view& view() { return view_; }

  bool supported(Module& module, std::string* why = nullptr) {
    fe_requirements requirements{};
    requirements.struct_size = sizeof requirements;
    const int answer = module.backend.supports(module.device, &view_, 0, &requirements);
    if (why) *why = requirements.reason ? requirements.reason : "";
    return answer == 1;
  }

  // Compiles, calls `between`, and executes. Returns the error's message, or an empty string.
  std::string run(Module& module, const std::function<void()>& between = {}) {
    const fe_backend& b = module.backend;
    fe_module_executable* executable = nullptr;
    if (fe_error* error = b.compile(module.device, &view_, &executable)) return take(error);
    if (between) between();
    std::vector<fe_module_buffer*> buffers;
    std::vector<fe_binding> bindings;
    for (size_t i = 0; i < arrays_.size(); ++i) {
      const Array* a = arrays_[i];
      fe_module_buffer* buffer = nullptr;
      expect_no_error(b.buffer_borrow(module.device, const_cast<std::byte*>(a->bytes.data()), a->bytes.size(),
                                      FE_ACCESS_READ_WRITE, &buffer));
      buffers.push_back(buffer);
      bindings.push_back({sizeof(fe_binding), buffer, 0, 1});
    }
    fe_execution execution{};
    execution.struct_size = sizeof execution;
    execution.bindings = bindings.data();
    execution.thread_limit = thread_limit;
    const uint64_t scratch = b.executable_scratch_size(executable);
    std::vector<std::byte> scratch_memory(scratch + 2 * guard, std::byte{0x5a});
    if (scratch > 0) {
      const auto start = reinterpret_cast<uintptr_t>(scratch_memory.data());
      execution.scratch_offset = (start + 63) / 64 * 64 - start;
      expect_no_error(b.buffer_borrow(module.device, scratch_memory.data(), scratch_memory.size(), FE_ACCESS_READ_WRITE,
                                      &execution.scratch));
      buffers.push_back(execution.scratch);
    }
    std::string message = take(b.execute(executable, nullptr, &execution));
    for (fe_module_buffer* buffer : buffers) b.buffer_free(buffer);
    b.executable_release(executable);
    const auto behind = scratch_memory.begin() + static_cast<ptrdiff_t>(execution.scratch_offset + scratch);
    const bool intact = std::all_of(behind, scratch_memory.end(), [](std::byte b) { return b == std::byte{0x5a}; });
    return intact ? message : message + "wrote behind its scratch memory";
  }

 private:
  static constexpr size_t guard = 4096;  // bytes after the scratch memory

  static std::string take(fe_error* error) {
    if (!error) return "";
    std::string message = failure(error).message;
    release_error(error);
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
inline Array compute(Module& module, const char* op, const std::vector<const Array*>& inputs, const std::string& dtype,
                     std::vector<int64_t> shape, const void* attributes = nullptr, uint32_t revision = 1) {
  Array out = array(dtype, std::move(shape));
  std::fill(out.bytes.begin(), out.bytes.end(), std::byte{0xa5});
  EXPECT_EQ(OneNode(op, inputs, {&out}, attributes, nullptr, revision).run(module), "") << op;
  for (size_t i = out.bytes.size() - 64; i < out.bytes.size(); ++i)
    EXPECT_EQ(out.bytes[i], std::byte{0xa5}) << op << " wrote behind its output";
  return out;
}
// The same elements converted to another dtype.
inline Array cast(Module& module, const Array& x, const std::string& dtype) {
  const fe_astype_attributes to{sizeof to, dtype_id(dtype)};
  return compute(module, "astype", {&x}, dtype, x.shape, &to);
}
inline bool same_bits(const Array& a, const Array& b) {
  return a.bytes.size() == b.bytes.size() && std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size() - 64) == 0;
}

inline double ulps(float got, long double want) {
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
    before_parallel = nullptr;
    ASSERT_FALSE(modules().empty()) << "no CPU module of this build runs here";
  }
  template <class Test>
  void for_each_module(Test test) {
    for (auto& module : modules()) {
      SCOPED_TRACE(module->path);
      test(*module);
    }
  }
};

}  // namespace cpu_backend
