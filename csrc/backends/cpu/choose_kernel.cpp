#include "choose_kernel.h"

#include <limits>
#include <utility>

#include "choose_body.h"
#include "table.h"

namespace ferrule::cpu {
namespace {

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
    const Address at{.scratch = bytes};
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
  if (step.prologue || step.epilogue) asked.bytes = step.kernel_local + step.prologue_bytes();
  if (step.epilogue) asked.bytes += step.epilogue->local_scratch().bytes;
  step.local = local_memory(asked);
  step.local_size = size_of(step.local);
  for (auto* conversions : {&step.before, &step.after})
    for (Conversion& conversion : *conversions) {
      conversion.local = local_memory(conversion.body.local_scratch());
      step.local_size = std::max(step.local_size, size_of(conversion.local));
    }
}

void shift_scratch(KernelStep& step) {
  const auto shift = [base = step.before_conversions()](Address& address) {
    if (!address.value) address.scratch += base;
  };
  for (Address& address : step.input_addresses) shift(address);
  for (Address& address : step.output_addresses) shift(address);
  for (Conversion& c : step.before) shift(c.from), shift(c.to);
  for (Conversion& c : step.after) shift(c.from), shift(c.to);
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

}  // namespace

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

std::unique_ptr<KernelStep> step_of(const fe_graph_view& view, const fe_node& node) {
  auto step = std::make_unique<KernelStep>();
  const uint32_t body_inputs = node.body ? node.body->input_count - 1 : 0;
  const uint32_t own = node.input_count - body_inputs;
  for (uint32_t i = 0; i < own; ++i) {
    step->inputs.push_back(operand_of(view, node.inputs[i]));
    step->input_addresses.push_back({sdk::ValuePlace(view, node.inputs[i])});
  }
  for (uint32_t i = 0; i < node.output_count; ++i) {
    step->outputs.push_back(operand_of(view, node.outputs[i]));
    step->output_addresses.push_back({sdk::ValuePlace(view, node.outputs[i])});
  }
  step->own_attributes = node.attributes;  // in the view, until the kernel is known
  if (node.body != nullptr) {
    // The kernel computes a half result in float32; the body rounds it first.
    step->own_dtype = dtype_from(node.body->input_dtypes[0]);
    if (is_half(step->own_dtype)) step->own_dtype = DType::f32;
    step->epilogue.emplace();
    append_body(*node.body, step->own_dtype, step->attributes, *step->epilogue);
    std::vector<Operand> operands(1);
    for (uint32_t i = own; i < node.input_count; ++i) {
      operands.push_back(operand_of(view, node.inputs[i]));
      step->epilogue_inputs.emplace_back(view, node.inputs[i]);
    }
    step->epilogue->finish(shape_of(step->outputs[0]), operands, true);
  }
  return step;
}

Choice choose_kernel(const fe_graph_view& view, const fe_node& node, std::string_view op,
                     std::unique_ptr<Step>* producer) {
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
  Prologue prologue{};
  if (producer != nullptr && kernel->takes_prologue && step->before.empty())
    if (auto* const body = dynamic_cast<BodyStep*>(producer->get()); body != nullptr && body->outputs.size() == 1) {
      producer->release();
      step->prologue.reset(body);
      *producer = std::make_unique<EmptyStep>();
      call.prologue = &prologue;
    }
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

}  // namespace ferrule::cpu
