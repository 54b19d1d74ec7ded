// Two simulated devices. Each test sets what they support; they compute nothing.
#pragma once

#include "core/compiler/passes.h"
#include "core/registry/backend.h"
#include "error_of.h"
#include "ops/table.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ferrule::test {

struct FakeDevice {
  std::set<std::string> refused;           // ops without a kernel
  bool takes_epilogues = true;             // elementwise bodies after matmul and reductions
  bool takes_bodies = true;                // fused nodes
  std::set<std::string> wants_contiguous;  // ops whose operands must all be contiguous
  std::set<std::string> wants_rows;        // ops whose operands must have innermost stride 1
  std::set<std::string> refuses_strides;   // ops that are unsupported if an operand is not contiguous
  std::set<std::string> wants_aligned;     // ops whose operands must be aligned to 16 bytes
  bool packs = false;                      // packs matmul's second operand if it is constant
  std::size_t asked = 0;                   // number of supports() calls
  fe_code failure = FE_OK;                 // error that supports() returns
};

inline FakeDevice fake_devices[2];

template <int number>
struct FakeTable {
  static constexpr const char* name = number == 0 ? "t_first" : "t_second";
  static FakeDevice& device() { return fake_devices[number]; }

  // "t_first softmax": an op that stays on its device.
  static const char* kernel_of(const std::string& op) {
    static std::set<std::string> kernels;
    return kernels.insert(fmt::format("{} {}", name, op)).first->c_str();
  }

  static bool reads_strides(const fe_graph_view& view, const fe_node& node) {
    for (uint32_t i = 0; i < node.input_count; ++i) {
      const fe_value& value = *view.values[node.inputs[i]];
      int64_t dense = 1;
      for (int32_t k = value.rank; k-- > 0; dense *= value.shape[k])
        if (value.shape[k] != 1 && value.strides[k] != dense) return true;
    }
    return false;
  }

  static int supports(fe_module_device*, const fe_graph_view* view, uint32_t index, fe_requirements* out) {
    FakeDevice& fake = device();
    ++fake.asked;
    const fe_node& node = *view->nodes[index];
    const std::string op = ops::op_by_id(node.op)->name;
    out->kernel = kernel_of(op);
    if (fake.failure != FE_OK) {
      out->reason = "the test has no answer";
      return -static_cast<int>(fake.failure);
    }
    const bool is_fused = op == "fused";
    if (fake.refused.contains(op) || (is_fused && !fake.takes_bodies) ||
        (!is_fused && node.body != nullptr && !fake.takes_epilogues)) {
      out->reason = "the test refuses it";
      return 0;
    }
    if (fake.refuses_strides.contains(op) && reads_strides(*view, node)) {
      out->reason = "the test reads rows";
      return 0;
    }
    for (uint32_t i = 0; i < out->input_count; ++i) {
      fe_input_requirement& input = *fe_input_requirement_at(out, i);
      if (fake.wants_contiguous.contains(op)) input.layout = FE_LAYOUT_CONTIGUOUS;
      if (fake.wants_rows.contains(op)) input.layout = FE_LAYOUT_ROWS;
      if (fake.wants_aligned.contains(op)) input.alignment = 16;
    }
    return 1;
  }

  static fe_error* init(const fe_host*, fe_backend* out) {
    out->name = name;
    out->variant = "";
    out->version = "test";
    out->close = [](fe_module_backend*) {};
    out->device_count = [](fe_module_backend*) { return 1u; };
    out->device_properties = [](fe_module_backend*, uint32_t, fe_device_properties* properties) -> fe_error* {
      properties->kind = FE_DEVICE_TEST;
      properties->flags = FE_DEVICE_FLAG_HOST_MEMORY;
      properties->name = properties->description = name;
      properties->borrow_alignment = 1;
      return nullptr;
    };
    out->device_open = [](fe_module_backend*, uint32_t, const fe_option*, uint32_t,
                          fe_module_device** opened) -> fe_error* {
      *opened = reinterpret_cast<fe_module_device*>(&device());
      return nullptr;
    };
    out->device_close = [](fe_module_device*) {};
    out->buffer_allocate = [](fe_module_device*, uint64_t size, uint64_t alignment,
                              fe_module_buffer** buffer) -> fe_error* {
      *buffer =
          static_cast<fe_module_buffer*>(std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment));
      return nullptr;
    };
    out->buffer_borrow = [](fe_module_device*, void* pointer, uint64_t, fe_access,
                            fe_module_buffer** buffer) -> fe_error* {
      *buffer = static_cast<fe_module_buffer*>(pointer);  // buffer_free never frees it: see below
      borrowed().insert(*buffer);
      return nullptr;
    };
    out->buffer_free = [](fe_module_buffer* buffer) {
      if (borrowed().erase(buffer) == 0) std::free(buffer);
    };
    out->buffer_host_pointer = [](fe_module_buffer* buffer) -> void* { return buffer; };
    out->copy_from_host = [](fe_module_device*, fe_module_queue*, fe_module_buffer*, uint64_t, const void*,
                             uint64_t) -> fe_error* { return nullptr; };
    out->copy_to_host = [](fe_module_device*, fe_module_queue*, void*, fe_module_buffer*, uint64_t,
                           uint64_t) -> fe_error* { return nullptr; };
    out->copy = [](fe_module_device*, fe_module_queue*, fe_module_buffer*, uint64_t, fe_module_buffer*, uint64_t,
                   uint64_t) -> fe_error* { return nullptr; };
    out->supports = supports;
    out->prepare_size = [](fe_module_device*, const fe_graph_view* view, uint32_t index, uint32_t input, uint64_t* size,
                           char* key, size_t) -> fe_error* {
      const fe_node& node = *view->nodes[index];
      const bool is_packed = device().packs && input == 1 && ops::op_by_id(node.op)->name == std::string("matmul");
      *size = is_packed ? 256 : 0;
      std::strcpy(key, "packed");
      return nullptr;
    };
    out->prepare = [](fe_module_device*, const fe_graph_view*, uint32_t, uint32_t, const fe_binding*,
                      const fe_binding*) -> fe_error* { return nullptr; };
    out->compile = [](fe_module_device*, const fe_graph_view*, fe_module_executable** executable) -> fe_error* {
      *executable = nullptr;
      return nullptr;
    };
    out->executable_release = [](fe_module_executable*) {};
    out->execute = [](fe_module_executable*, fe_module_queue*, const fe_execution*) -> fe_error* { return nullptr; };
    return nullptr;
  }

  static std::set<fe_module_buffer*>& borrowed() {
    static std::set<fe_module_buffer*> buffers;
    return buffers;
  }
};

// Devices "t_first:0" and "t_second:0", and helpers that build graphs.
class CompilerTest : public testing::Test {
 protected:
  CompilerTest() {
    fake_devices[0] = fake_devices[1] = {};
    backends_ = {start<0>(), start<1>()};
    first = backends_[0]->devices().front();
    second = backends_[1]->devices().front();
    first->open();
    second->open();
  }
  ~CompilerTest() override {
    graph = {};
    first.reset();
    second.reset();
    for (const auto& backend : backends_) backend->close();
  }
  FakeDevice& of_first = fake_devices[0];
  FakeDevice& of_second = fake_devices[1];

  ValueId input(Shape shape, DType dtype = DType::float32) {
    return graph.add_input(fmt::format("x{}", graph.inputs.size()), {dtype, shape});
  }
  ValueId scalar(double value, DType dtype = DType::float32) {
    return graph.add_scalar(dtype, scalar_of(value, dtype));
  }
  ValueId add(const char* op, std::vector<ValueId> operands, const std::vector<ops::NamedAttribute>& attributes = {},
              Device* device = nullptr) {
    return graph.add(ops::op_named(op), operands, attributes, device);
  }
  CompileOptions options() const {
    CompileOptions options;
    options.device = first.get();
    options.fallback = {second.get()};
    options.on_fallback = Fallback::allow;
    return options;
  }
  // The op names of the nodes in order; those of a fused body are in braces.
  static std::string ops_of(const Graph& of) {
    std::string text;
    for (const Node& node : of.nodes) {
      text += fmt::format("{}{}", text.empty() ? "" : " ", node.op->name);
      if (!node.body) continue;
      text += '{';
      for (std::size_t i = 0; i < node.body->instructions.size(); ++i)
        text += fmt::format("{}{}", i ? " " : "", node.body->instructions[i].op->name);
      text += '}';
    }
    return text;
  }
  std::shared_ptr<Device> first, second;
  Graph graph;

 private:
  template <int number>
  static std::shared_ptr<Backend> start() {
    ModuleSource source;
    source.name = FakeTable<number>::name;
    source.abi = module_file::own_abi();
    source.init = FakeTable<number>::init;
    return Backend::start(std::move(source));
  }
  std::vector<std::shared_ptr<Backend>> backends_;
};

}  // namespace ferrule::test
