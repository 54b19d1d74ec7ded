#include "compile.h"

#include <array>
#include <limits>
#include <thread>
#include <utility>

#include "attributes.h"
#include "table.h"
#include "widening.h"

namespace ferrule::cpu {
namespace {

constexpr uint64_t scratch_alignment = 64;
uint64_t aligned(uint64_t bytes) { return (bytes + scratch_alignment - 1) / scratch_alignment * scratch_alignment; }

// Memory with one part per thread that can work at the same time. It allows for the threads of the whole machine,
// because the core's number of threads may be raised later.
LocalMemory local_memory(const LocalScratch& asked) {
  LocalMemory local;
  if (asked.bytes == 0) return local;
  static const uint32_t processors = std::thread::hardware_concurrency();
  const uint32_t most = std::max({1u, processors, sdk::host->thread_count()});
  local.bytes = aligned(asked.bytes);
  local.count = static_cast<uint32_t>(std::clamp<int64_t>(asked.threads, 1, most));
  return local;
}
uint64_t size_of(const LocalMemory& local) { return local.bytes * local.count; }
LocalMemory placed(LocalMemory local, char* at) {
  local.data = at;
  return local;
}

// ---- elementwise nodes, fused or single --------------------------------------------------------------------------

class BodyStep : public Step {
 public:
  Body body;
  Attributes attributes;
  std::vector<Address> inputs, outputs;
  LocalMemory local;

  uint64_t scratch_size() const override { return size_of(local); }

  void run(const Memory& memory, char* scratch) const override {
    std::array<char*, 80> in_local, out_local;
    std::vector<char*> in_many, out_many;
    char* const* in = resolve(memory, inputs, in_local, in_many);
    char* const* out = resolve(memory, outputs, out_local, out_many);
    body.run(in, out, memory.thread_limit(), placed(local, scratch));
  }

  static char* const* resolve(const Memory& memory, const std::vector<Address>& addresses, std::array<char*, 80>& local,
                              std::vector<char*>& many) {
    char** pointers = local.data();
    if (addresses.size() > local.size()) {
      many.resize(addresses.size());
      pointers = many.data();
    }
    for (size_t i = 0; i < addresses.size(); ++i) pointers[i] = memory(addresses[i]);
    return pointers;
  }
};

const void* keep_block_attributes(Attributes& attributes, std::string_view op, const void* from) {
  const Kernel* kernel = find_elementwise(op);
  return kernel == nullptr ? nullptr : attributes.keep(*kernel, from);
}

// Adds the inputs and instructions of a body. `first`: the dtype in which its first input is given, which may differ.
void translate(const fe_body& from, DType first, Attributes& attributes, Body& to) {
  std::vector<uint32_t> values;
  values.reserve(from.input_count + from.instruction_count);
  for (uint32_t i = 0; i < from.input_count; ++i)
    values.push_back(to.input(i == 0 ? first : dtype_from(from.input_dtypes[i])));
  if (from.input_count > 0)
    values[0] = to.apply("astype", std::span(values.data(), 1), dtype_from(from.input_dtypes[0]), nullptr);
  for (uint32_t i = 0; i < from.instruction_count; ++i) {
    const fe_instruction& instruction = *from.instructions[i];
    std::vector<uint32_t> in;
    in.reserve(instruction.input_count);
    for (uint32_t k = 0; k < instruction.input_count; ++k) in.push_back(values.at(instruction.inputs[k]));
    const std::string_view op = sdk::host->op_name(instruction.op);
    values.push_back(to.apply(op, in, dtype_from(instruction.dtype),
                              keep_block_attributes(attributes, op, instruction.attributes), instruction.output));
  }
  for (uint32_t i = 0; i < from.output_count; ++i) to.output(values.at(from.outputs[i]));
}

std::span<const int64_t> shape_of(const Operand& operand) { return {operand.shape, static_cast<size_t>(operand.rank)}; }

// The step of an elementwise node: the op `fused` with its body, or a single op.
Choice choose_body(const fe_graph_view& view, const fe_node& node) {
  auto step = std::make_unique<BodyStep>();
  std::vector<Operand> inputs;
  for (uint32_t i = 0; i < node.input_count; ++i) {
    inputs.push_back(operand_of(view, node.inputs[i]));
    step->inputs.push_back(address_of(view, node.inputs[i]));
  }
  for (uint32_t i = 0; i < node.output_count; ++i) step->outputs.push_back(address_of(view, node.outputs[i]));
  const Operand output = operand_of(view, node.outputs[0]);
  if (node.body != nullptr) {
    const DType first = node.body->input_count > 0 ? dtype_from(node.body->input_dtypes[0]) : DType::count;
    translate(*node.body, first, step->attributes, step->body);
  } else {
    std::vector<uint32_t> in;
    in.reserve(inputs.size());
    for (const Operand& operand : inputs) in.push_back(step->body.input(operand.dtype));
    const std::string_view op = sdk::host->op_name(node.op);
    const void* const attributes = keep_block_attributes(step->attributes, op, node.attributes);
    for (uint32_t i = 0; i < node.output_count; ++i)
      step->body.output(step->body.apply(op, in, operand_of(view, node.outputs[i]).dtype, attributes, i));
  }
  step->body.finish(shape_of(output), inputs, false);
  step->local = local_memory(step->body.local_scratch());
  Choice choice;
  choice.support.kernel = std::string(node.body ? "fused" : sdk::host->op_name(node.op)) + " (blocks)";
  choice.step = std::move(step);
  return choice;
}

// ---- kernels for whole nodes -------------------------------------------------------------------------------------

class KernelStep : public Step {
 public:
  const Kernel* kernel = nullptr;
  Attributes attributes;
  const void* own_attributes = nullptr;
  std::vector<Operand> inputs, outputs;
  std::vector<Address> input_addresses, output_addresses;
  std::vector<Conversion> before, after;
  // Scratch memory in this order: the kernel's, the parts of the threads, the results of conversions.
  uint64_t kernel_scratch = 0, conversion_scratch = 0;
  LocalMemory local;          // of the kernel; each part is followed by that of the epilogue
  uint64_t kernel_local = 0;  // bytes of a part that the kernel uses
  uint64_t local_size = 0;    // of all parts: of the kernel or a conversion, which run one after the other
  // The body of an epilogue, whose input 0 is the kernel's result, and the addresses of its other inputs.
  std::optional<Body> epilogue;
  std::vector<Address> epilogue_inputs;
  DType own_dtype = DType::count;

  uint64_t before_conversions() const { return aligned(kernel_scratch) + local_size; }
  uint64_t scratch_size() const override { return before_conversions() + conversion_scratch; }

  Call call() const {
    Call call{};
    call.host = sdk::host;
    call.in = inputs.data();
    call.out = outputs.data();
    call.in_count = static_cast<uint32_t>(inputs.size());
    call.out_count = static_cast<uint32_t>(outputs.size());
    call.attributes = own_attributes;
    return call;
  }

  bool own_in_place() const { return outputs[0].dtype == own_dtype; }

  // An epilogue as the kernel sees it.
  struct BoundEpilogue : Epilogue {
    const Body* body;
    char* const* in;
    char* const* out;
    uint64_t kernel_local;  // bytes of a thread's part that the kernel uses
  };
  static fe_error* apply_epilogue(const Epilogue* self, int64_t first, int64_t count, const void* own, char* local) {
    const auto* bound = static_cast<const BoundEpilogue*>(self);
    return bound->body->run_range(bound->in, bound->out, first, count, own, local + bound->kernel_local);
  }

  void run(const Memory& memory, char* scratch) const override {
    char* const local_data = scratch + aligned(kernel_scratch);
    const auto resolve = [&](const Address& address) {
      return address.kind == Address::in_scratch ? scratch + address.bytes : memory(address);
    };
    const auto convert = [&](const Conversion& conversion) {
      char *const in = resolve(conversion.from), *const out = resolve(conversion.to);
      conversion.body.run(&in, &out, memory.thread_limit(), placed(conversion.local, local_data));
    };
    for (const Conversion& conversion : before) convert(conversion);

    std::vector<Operand> many;
    std::array<Operand, 6> few;
    const size_t total = inputs.size() + outputs.size();
    Operand* operands = few.data();
    if (total > few.size()) {
      many.resize(total);
      operands = many.data();
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      operands[i] = inputs[i];
      operands[i].data = resolve(input_addresses[i]);
    }
    Operand* out = operands + inputs.size();
    for (size_t i = 0; i < outputs.size(); ++i) {
      out[i] = outputs[i];
      out[i].data = resolve(output_addresses[i]);
    }

    Call bound = call();
    bound.in = operands;
    bound.out = out;
    bound.scratch = scratch;
    bound.local = placed(local, local_data);
    bound.thread_limit = memory.thread_limit();
    BoundEpilogue with_epilogue{};
    std::vector<char*> epilogue_in, epilogue_out;
    if (epilogue) {
      epilogue_in.push_back(nullptr);
      for (const Address& address : epilogue_inputs) epilogue_in.push_back(resolve(address));
      for (size_t i = 0; i < outputs.size(); ++i) epilogue_out.push_back(out[i].data);
      with_epilogue.apply = apply_epilogue;
      with_epilogue.own_dtype = own_dtype;
      with_epilogue.own_in_place = own_in_place();
      with_epilogue.body = &*epilogue;
      with_epilogue.kernel_local = kernel_local;
      with_epilogue.in = epilogue_in.data();
      with_epilogue.out = epilogue_out.data();
      bound.epilogue = &with_epilogue;
    }
    sdk::check(kernel->run(bound));
    for (const Conversion& conversion : after) convert(conversion);
  }
};

bool fits(const Kernel& kernel, std::string_view op, uint32_t revision, const KernelStep& step, bool has_body) {
  if (kernel.run == nullptr || op != (kernel.op != nullptr ? kernel.op : kernel.name)) return false;
  if (revision > kernel.revision || (has_body && !kernel.takes_epilogue)) return false;
  if (!step.inputs.empty()) {
    if (step.inputs[0].dtype == DType::count) return false;
    if ((kernel.dtypes >> static_cast<unsigned>(step.inputs[0].dtype) & 1) == 0) return false;
  }
  if (kernel.accepts == nullptr) return true;
  Call call = step.call();
  Epilogue epilogue{};
  if (has_body) {
    epilogue.own_dtype = step.own_dtype;
    epilogue.own_in_place = step.own_in_place();
    call.epilogue = &epilogue;
  }
  return kernel.accepts(call);
}

// Replaces half operands with float32 ones in scratch memory, except outputs of an epilogue, which converts them
// itself. A prepared operand needs no conversion: it was prepared from float32. Returns false if nothing was replaced.
bool widen(KernelStep& step) {
  bool any = false;
  uint64_t bytes = 0;
  // Addresses are relative to the end of the other scratch memory; shift_scratch adds that when it is known.
  const auto scratch_for = [&](const Operand& operand) {
    Address at;
    at.kind = Address::in_scratch;
    at.bytes = static_cast<int64_t>(bytes);
    bytes += aligned(static_cast<uint64_t>(element_count(operand)) * 4);
    return at;
  };
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    if (!is_half(step.inputs[i].dtype)) continue;
    any = true;
    const Widening widened = widening(step.inputs[i]);
    step.inputs[i] = widened.wide;
    if (widened.wide.prepared) continue;
    const Address from = std::exchange(step.input_addresses[i], scratch_for(widened.from));
    step.before.push_back(conversion(widened.from, from, DType::f32, step.input_addresses[i]));
  }
  for (size_t i = 0; i < step.outputs.size() && !step.epilogue; ++i) {
    if (!is_half(step.outputs[i].dtype)) continue;
    any = true;
    const DType half = std::exchange(step.outputs[i], widening(step.outputs[i]).wide).dtype;
    const Address to = std::exchange(step.output_addresses[i], scratch_for(step.outputs[i]));
    step.after.push_back(conversion(step.outputs[i], step.output_addresses[i], half, to));
  }
  step.conversion_scratch = bytes;
  return any;
}

// Plans the memory per thread of the chosen kernel, its epilogue and the conversions.
void plan_local(KernelStep& step, const Call& call) {
  LocalScratch asked;
  asked.threads = std::numeric_limits<int64_t>::max();
  if (step.kernel->local_scratch != nullptr) asked = step.kernel->local_scratch(call);
  step.kernel_local = aligned(asked.bytes);
  if (step.epilogue) asked.bytes = step.kernel_local + step.epilogue->local_scratch().bytes;
  step.local = local_memory(asked);
  step.local_size = size_of(step.local);
  for (auto* conversions : {&step.before, &step.after})
    for (Conversion& conversion : *conversions) {
      conversion.local = local_memory(conversion.body.local_scratch());
      step.local_size = std::max(step.local_size, size_of(conversion.local));
    }
}

void shift_scratch(KernelStep& step) {
  const auto base = static_cast<int64_t>(step.before_conversions());
  const auto shift = [base](Address& address) {
    if (address.kind == Address::in_scratch) address.bytes += base;
  };
  for (Address& address : step.input_addresses) shift(address);
  for (Address& address : step.output_addresses) shift(address);
  for (Conversion& c : step.before) shift(c.from), shift(c.to);
  for (Conversion& c : step.after) shift(c.from), shift(c.to);
}

// Finds a kernel for the step; if there is none, widens the step and finds a kernel for that.
const Kernel* find_kernel(std::string_view op, uint32_t revision, KernelStep& step) {
  const KernelTable& kernels = table();
  const auto find = [&]() -> const Kernel* {
    for (uint32_t i = 0; i < kernels.count; ++i)
      if (fits(*kernels.kernels[i], op, revision, step, step.epilogue.has_value())) return kernels.kernels[i];
    return nullptr;
  };
  const Kernel* const kernel = find();
  return kernel == nullptr && widen(step) ? find() : kernel;
}

// The step of a node, with the operands of its op; those of its body are in the epilogue.
std::unique_ptr<KernelStep> step_of(const fe_graph_view& view, const fe_node& node) {
  auto step = std::make_unique<KernelStep>();
  const uint32_t body_inputs = node.body ? node.body->input_count - 1 : 0;
  const uint32_t own = node.input_count - body_inputs;
  for (uint32_t i = 0; i < own; ++i) {
    step->inputs.push_back(operand_of(view, node.inputs[i]));
    step->input_addresses.push_back(address_of(view, node.inputs[i]));
  }
  for (uint32_t i = 0; i < node.output_count; ++i) {
    step->outputs.push_back(operand_of(view, node.outputs[i]));
    step->output_addresses.push_back(address_of(view, node.outputs[i]));
  }
  step->own_attributes = node.attributes;  // in the view, until the kernel is known
  if (node.body != nullptr) {
    // The kernel computes a half result in float32; the body rounds it first.
    step->own_dtype = dtype_from(node.body->input_dtypes[0]);
    if (is_half(step->own_dtype)) step->own_dtype = DType::f32;
    step->epilogue.emplace();
    translate(*node.body, step->own_dtype, step->attributes, *step->epilogue);
    std::vector<Operand> operands(1);
    for (uint32_t i = own; i < node.input_count; ++i) {
      operands.push_back(operand_of(view, node.inputs[i]));
      step->epilogue_inputs.push_back(address_of(view, node.inputs[i]));
    }
    step->epilogue->finish(shape_of(step->outputs[0]), operands, true);
  }
  return step;
}

std::string describe(const KernelStep& step, std::string_view op) {
  std::string text = "no kernel for " + std::string(op) + "(";
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const DType dtype = step.inputs[i].dtype;
    const char* name = dtype == DType::count ? "an unknown dtype" : sdk::host->dtype_name(id_of(dtype));
    text += (i ? ", " : "") + std::string(name ? name : "?") + "[";
    for (int32_t k = 0; k < step.inputs[i].rank; ++k) text += (k ? ", " : "") + std::to_string(step.inputs[i].shape[k]);
    text += ']';
  }
  return text + ")";
}

Choice choose_kernel(const fe_graph_view& view, const fe_node& node, std::string_view op) {
  Choice choice;
  auto step = step_of(view, node);
  const bool has_body = node.body != nullptr;
  const Kernel* kernel = find_kernel(op, node.revision, *step);
  if (kernel == nullptr) {
    choice.support.supported = false;
    choice.support.reason = describe(*step, op) + (has_body ? " with an epilogue" : "");
    return choice;
  }
  step->kernel = kernel;
  step->own_attributes = step->attributes.keep(*kernel, node.attributes);
  Call call = step->call();
  Epilogue epilogue{};
  if (has_body) {
    epilogue.own_in_place = step->own_in_place();
    call.epilogue = &epilogue;
  }
  if (kernel->scratch_size != nullptr) step->kernel_scratch = kernel->scratch_size(call);
  plan_local(*step, call);
  shift_scratch(*step);
  choice.support.kernel = kernel->name;
  choice.support.revision = kernel->revision;
  for (uint32_t i = 0; i < std::size(kernel->layouts); ++i) {
    if (kernel->layouts[i] == FE_LAYOUT_CONTIGUOUS) choice.support.contiguous_inputs.add(i);
    if (kernel->layouts[i] == FE_LAYOUT_ROWS) choice.support.row_inputs.add(i);
  }
  choice.step = std::move(step);
  return choice;
}

bool is_elementwise(const fe_node& node, std::string_view op) {
  return node.body == nullptr && find_elementwise(op) != nullptr;
}
// Whether a node casts block dtypes, whose elements cannot be computed one by one.
bool casts_blocks(const fe_graph_view& view, const fe_node& node) {
  const auto is_of_blocks = [&view](uint32_t value) { return is_block(dtype_from(view.values[value]->dtype)); };
  return is_of_blocks(node.outputs[0]) || (node.input_count > 0 && is_of_blocks(node.inputs[0]));
}

Choice choose_of_any_revision(const fe_graph_view& view, const fe_node& node) {
  const char* name = sdk::host->op_name(node.op);
  const std::string_view op = name ? name : "";
  Choice refused;
  refused.support.supported = false;
  try {
    if (op == "fused" || (is_elementwise(node, op) && !casts_blocks(view, node))) return choose_body(view, node);
    return choose_kernel(view, node, op);
  } catch (const sdk::Error& error) {
    if (error.code() != FE_UNSUPPORTED) throw;
    refused.support.reason = error.what();
  }
  return refused;
}

}  // namespace

Choice choose(const fe_graph_view& view, uint32_t index) {
  Choice choice = choose_of_any_revision(view, *view.nodes[index]);
  choice.support = sdk::unless_too_young(std::move(choice.support), sdk::Node(view, index));
  return choice;
}

sdk::PreparedForm prepared_form(const fe_graph_view& view, uint32_t index, uint32_t input) {
  const fe_node& node = *view.nodes[index];
  const auto step = step_of(view, node);
  if (input >= step->inputs.size() || step->inputs[input].dtype == DType::count) return {};
  const Operand original = step->inputs[input];
  const Kernel* kernel = find_kernel(sdk::host->op_name(node.op), node.revision, *step);
  if (kernel == nullptr || kernel->prepare_size == nullptr) return {};
  char key[128] = "";
  const uint64_t size = kernel->prepare_size(step->call(), input, key, sizeof key);
  if (size == 0) return {};
  std::string name = "cpu-" + std::string(table().variant) + "/" + key;
  if (step->inputs[input].dtype != original.dtype) {  // the key only contains the strides of the wide form
    name += std::string("/") + sdk::host->dtype_name(id_of(original.dtype));
    for (int32_t i = 0; i < original.rank; ++i) name += ":" + std::to_string(original.strides[i]);
  }
  return {size, name};
}

void prepare(const fe_graph_view& view, uint32_t index, uint32_t input, const fe_binding& from, const fe_binding& to) {
  const fe_node& node = *view.nodes[index];
  const auto step = step_of(view, node);
  Operand original = step->inputs.at(input);
  const Kernel* kernel = find_kernel(sdk::host->op_name(node.op), node.revision, *step);
  if (kernel == nullptr || kernel->prepare == nullptr)
    throw sdk::Error(FE_INTERNAL, "prepare: this node has no prepared form");
  char* data = pointer_of(from) + address_of(view, node.inputs[input]).bytes;
  std::vector<float> wide;
  if (step->inputs[input].dtype != original.dtype) {
    original = widening(original).from;
    wide.resize(static_cast<size_t>(element_count(original)));
    char* const converted = reinterpret_cast<char*>(wide.data());
    const Conversion to_wide = conversion(original, {}, DType::f32, {});
    const LocalMemory local = local_memory(to_wide.body.local_scratch());
    std::vector<std::byte> buffers(size_of(local));
    to_wide.body.run(&data, &converted, 0, placed(local, reinterpret_cast<char*>(buffers.data())));
    data = converted;
  }
  step->inputs[input].data = data;
  kernel->prepare(step->call(), input, pointer_of(to));
}

}  // namespace ferrule::cpu
