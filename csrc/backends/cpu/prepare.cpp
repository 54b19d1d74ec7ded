#include "prepare.h"

#include <string>
#include <vector>

#include "choose_kernel.h"
#include "table.h"

namespace ferrule::cpu {

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
  char* data = pointer_of(from.buffer, from.offset + sdk::ValuePlace(view, node.inputs[input]).bytes());
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
  kernel->prepare(step->call(), input, pointer_of(to.buffer, to.offset));
}

}  // namespace ferrule::cpu
