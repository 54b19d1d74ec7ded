#include "conformance/graph.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

namespace ferrule::conformance {
namespace {

int64_t count_of(std::span<const int64_t> shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

template <class Field>
void put(Bytes& bytes, size_t offset, const Field& field) {
  std::memcpy(bytes.data() + offset, &field, sizeof field);
}

}  // namespace

uint64_t byte_size(const TensorSample& type) {
  return static_cast<uint64_t>(fe_bytes_of(dtype_info(dtype_id(type.dtype)), count_of(type.shape)));
}

uint32_t Graph::add_storage(fe_storage_kind kind, uint64_t size) {
  const uint32_t index = view_.storage_count++;
  uint32_t binding = 0;
  uint64_t offset = 0;
  if (kind == FE_STORAGE_TEMPORARY) {
    offset = view_.workspace_size;
    view_.workspace_size += (size + 63) / 64 * 64;
  } else {
    binding = kind == FE_STORAGE_SCALAR ? view_.scalar_count++ : view_.binding_count++;
  }
  storages_.push_back({sizeof(fe_storage), static_cast<uint32_t>(kind), binding, offset, size, 64, -1, 0});
  storage_list_[index] = &storages_.back();
  view_.storages = storage_list_.data();
  return index;
}

uint32_t Graph::add_value(const TensorSample& type, uint32_t storage) {
  const uint32_t index = view_.value_count++;
  std::vector<int64_t>& shape = shapes_.emplace_back(type.shape.begin(), type.shape.end());
  std::vector<int64_t>& strides = strides_.emplace_back(type.shape.size());
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0; stride *= shape[axis]) strides[axis] = stride;
  const auto rank = static_cast<int32_t>(shape.size());
  shape.resize(spare, 1);
  strides.resize(spare, 0);
  values_.push_back({sizeof(fe_value), dtype_id(type.dtype), rank, shape.data(), strides.data(), storage, -1, 0});
  value_list_[index] = &values_.back();
  view_.values = value_list_.data();
  return index;
}

uint32_t Graph::add_node(fe_op op, const std::vector<uint32_t>& inputs, const std::vector<uint32_t>& outputs) {
  const uint32_t index = view_.node_count++;
  std::vector<uint32_t>&in = inputs_.emplace_back(inputs), &out = outputs_.emplace_back(outputs);
  in.resize(spare, 0);
  out.resize(spare, outputs.front());
  attributes_.emplace_back();
  nodes_.push_back({sizeof(fe_node), op, 1, static_cast<uint32_t>(inputs.size()), static_cast<uint32_t>(outputs.size()),
                    in.data(), out.data(), nullptr, nullptr});
  node_list_[index] = &nodes_.back();
  view_.nodes = node_list_.data();
  return index;
}

void Graph::set_attributes(uint32_t node, const sdk::OpInfo& op, std::span<const AttributeValue> values) {
  if (op.attributes.empty()) return;
  Bytes& bytes = attributes_[node];
  const sdk::AttributeInfo& last = op.attributes.back();
  const size_t size = (size_t{last.offset} + last.size + 7) / 8 * 8;
  bytes.resize(size);
  put(bytes, 0, size);
  for (size_t i = 0; i < values.size(); ++i) {
    const sdk::AttributeInfo& info = op.attributes[i];
    const AttributeValue& value = values[i];
    switch (info.kind) {
      case sdk::AttributeKind::integer:
      case sdk::AttributeKind::axis:
        put(bytes, info.offset, value.integer);
        break;
      case sdk::AttributeKind::boolean:
        put(bytes, info.offset, static_cast<int32_t>(value.integer));
        break;
      case sdk::AttributeKind::real:
        put(bytes, info.offset, value.real);
        break;
      case sdk::AttributeKind::string:
        put(bytes, info.offset, value.text);
        break;
      case sdk::AttributeKind::dtype:
        put(bytes, info.offset, dtype_id(value.text));
        break;
      case sdk::AttributeKind::integers:
      case sdk::AttributeKind::axes: {
        const std::vector<int64_t>& list = lists_.emplace_back(value.integers.begin(), value.integers.end());
        put(bytes, info.offset, fe_int64_list{list.empty() ? nullptr : list.data(), list.size()});
        break;
      }
      case sdk::AttributeKind::reals:
        put(bytes, info.offset, fe_float64_list{&value.real, 1});
        break;
    }
  }
  nodes_[node].attributes = bytes.data();
}

std::unique_ptr<Graph> graph_of(const Sample& sample) {
  auto graph = std::make_unique<Graph>();
  std::vector<uint32_t> inputs, outputs;
  for (const TensorSample& type : sample.inputs)
    inputs.push_back(graph->add_value(type, graph->add_storage(FE_STORAGE_INPUT, byte_size(type))));
  for (const TensorSample& type : sample.outputs)
    outputs.push_back(graph->add_value(type, graph->add_storage(FE_STORAGE_OUTPUT, byte_size(type))));
  const sdk::OpInfo& info = info_of(sample);
  graph->set_attributes(graph->add_node(op_id(sample.op), inputs, outputs), info, sample.attributes);
  return graph;
}

std::unique_ptr<Graph> chain_of(const Sample& sample) {
  if (sample.inputs.empty() || sample.outputs.size() != 1) return nullptr;
  const TensorSample& type = sample.outputs[0];
  if (std::strcmp(sample.inputs[0].dtype, type.dtype) != 0 || sample.inputs[0].shape != type.shape) return nullptr;
  auto graph = std::make_unique<Graph>();
  std::vector<uint32_t> inputs;
  for (const TensorSample& input : sample.inputs)
    inputs.push_back(graph->add_value(input, graph->add_storage(FE_STORAGE_INPUT, byte_size(input))));
  const uint32_t middle = graph->add_value(type, graph->add_storage(FE_STORAGE_TEMPORARY, byte_size(type)));
  const uint32_t output = graph->add_value(type, graph->add_storage(FE_STORAGE_OUTPUT, byte_size(type)));
  const sdk::OpInfo& info = info_of(sample);
  graph->set_attributes(graph->add_node(op_id(sample.op), inputs, {middle}), info, sample.attributes);
  inputs[0] = middle;
  graph->set_attributes(graph->add_node(op_id(sample.op), inputs, {output}), info, sample.attributes);
  return graph;
}

bool supports(const Device& device, const fe_graph_view& view, uint32_t node, std::string* reason) {
  fe_requirements requirements{};
  requirements.struct_size = sizeof requirements;
  const int answer = device.backend()->supports(device.handle(), &view, node, &requirements);
  if (reason) *reason = requirements.reason ? requirements.reason : "";
  return answer == 1;
}

std::vector<const Sample*> supported_samples(const Device& device, const Subject& subject, bool every_dtype) {
  std::vector<const Sample*> found;
  for (const Sample& sample : samples()) {
    if (!subject.op.empty() && subject.op != sample.op) continue;
    if (!every_dtype && !found.empty() && std::strcmp(found.back()->op, sample.op) == 0) continue;
    if (supports(device, graph_of(sample)->view())) found.push_back(&sample);
  }
  if (found.empty())
    throw NotApplicable{"it supports no " + (subject.op.empty() ? std::string("op") : subject.op) + " at shape (4, 6)"};
  return found;
}

Executable::Executable(const Device& device, const fe_graph_view& view) : device_(&device) {
  expect(take(device.backend()->compile(device.handle(), &view, &handle_)), "compile");
  if (!handle_) throw Failure{"compile gave neither an error nor an executable"};
}

Executable::~Executable() { device_->backend()->executable_release(handle_); }

uint64_t Executable::scratch_size() const {
  const Backend& backend = device_->backend();
  return FE_HAS_SLOT(&backend.table(), executable_scratch_size) ? backend->executable_scratch_size(handle_) : 0;
}

namespace {

// Numbers that every op accepts: small, positive, and valid as indices.
template <class Item>
void fill(Bytes& bytes, std::mt19937_64& generator) {
  for (size_t i = 0; i < bytes.size() / sizeof(Item); ++i) {
    const auto item = std::is_floating_point_v<Item>
                          ? static_cast<Item>(0.25 + static_cast<double>(generator() % 512) / 512)
                          : static_cast<Item>(generator() % 3);
    std::memcpy(bytes.data() + i * sizeof(Item), &item, sizeof item);
  }
}

Bytes numbers(const char* dtype, uint64_t size, std::mt19937_64& generator) {
  Bytes bytes(size);
  const std::string name = dtype;
  if (name == "float32")
    fill<float>(bytes, generator);
  else if (name == "float64")
    fill<double>(bytes, generator);
  else if (name == "bool")
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(generator() % 2); });
  else if (name == "int64" || name == "uint64")
    fill<int64_t>(bytes, generator);
  else if (name == "int32" || name == "uint32")
    fill<int32_t>(bytes, generator);
  else if (name == "int16" || name == "uint16")
    fill<int16_t>(bytes, generator);
  else if (name == "int8" || name == "uint8")
    fill<int8_t>(bytes, generator);
  return bytes;  // zeros for any other dtype
}

// Whether the storage has matrices that an op inverts or whose roots it takes: others than these have no result.
bool needs_regular_matrices(const fe_graph_view& view, uint32_t storage) {
  for (uint32_t i = 0; i < view.node_count; ++i) {
    const fe_node& node = *view.nodes[i];
    for (const char* op : {"cholesky", "inv", "solve"})
      if (node.op == op_id(op) && view.values[node.inputs[0]]->storage == storage) return true;
  }
  return false;
}

// Writes identity matrices of `side` rows.
void write_identities(Bytes& bytes, const std::string& dtype, size_t side) {
  const bool is_single = dtype == "float32" || dtype == "complex64";
  const size_t item = (is_single ? 4U : 8U) * (dtype.starts_with("complex") ? 2U : 1U);
  std::fill(bytes.begin(), bytes.end(), Bytes::value_type{});
  for (size_t element = 0; (element + 1) * item <= bytes.size(); ++element) {
    if (element / side % side != element % side) continue;
    const float narrow = 1;
    const double wide = 1;
    std::memcpy(bytes.data() + element * item, is_single ? static_cast<const void*>(&narrow) : &wide,
                is_single ? sizeof narrow : sizeof wide);
  }
}

// The number of elements that a mask in this storage must choose, if there must be as many as there are values; else
// -1.
int64_t chosen_elements(const fe_graph_view& view, uint32_t storage) {
  for (uint32_t i = 0; i < view.node_count; ++i) {
    const fe_node& node = *view.nodes[i];
    if (node.op != op_id("masked_scatter")) continue;
    if (view.values[node.inputs[1]]->storage == storage) return view.values[node.inputs[2]]->shape[0];
  }
  return -1;
}

}  // namespace

Bound::Bound(const Device& device, fe_module_queue* queue, Graph& graph, const Executable& executable, uint64_t seed)
    : device_(&device) {
  std::mt19937_64 generator(seed);
  const fe_graph_view& view = graph.view();
  for (uint32_t i = 0; i < view.storage_count; ++i) {
    const fe_storage& storage = *view.storages[i];
    if (storage.kind == FE_STORAGE_TEMPORARY || storage.kind == FE_STORAGE_SCALAR) continue;
    bindings_.push_back({sizeof(fe_binding), buffers_.emplace_back(device, storage.size).handle(), 0, 1});
    output_sizes_.push_back(storage.kind == FE_STORAGE_OUTPUT ? storage.size : 0);
    if (storage.kind == FE_STORAGE_OUTPUT) continue;
    const char* dtype = "float32";
    for (uint32_t value = 0; value < view.value_count; ++value)
      if (view.values[value]->storage == i) dtype = dtype_name(view.values[value]->dtype);
    Bytes bytes = numbers(dtype, storage.size, generator);
    if (const int64_t chosen = chosen_elements(view, i); chosen >= 0)
      for (size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<char>(std::cmp_less(k, chosen));
    if (needs_regular_matrices(view, i))
      for (uint32_t value = 0; value < view.value_count; ++value)
        if (const fe_value& matrix = *view.values[value]; matrix.storage == i && matrix.rank > 1)
          write_identities(bytes, dtype, static_cast<size_t>(matrix.shape[matrix.rank - 1]));
    write_bytes(device, queue, buffers_.back(), bytes);
  }
  if (view.workspace_size > 0) workspace_ = std::make_unique<Buffer>(device, view.workspace_size);
  if (const uint64_t scratch = executable.scratch_size()) scratch_ = std::make_unique<Buffer>(device, scratch);
  execution_.struct_size = sizeof execution_;
  execution_.bindings = bindings_.data();
  execution_.workspace = workspace_ ? workspace_->handle() : nullptr;
  execution_.scratch = scratch_ ? scratch_->handle() : nullptr;
}

void Bound::spoil_outputs(fe_module_queue* queue) const {
  constexpr char unlikely = 0x5a;
  for (size_t i = 0; i < buffers_.size(); ++i)
    if (output_sizes_[i] > 0) write_bytes(*device_, queue, buffers_[i], Bytes(output_sizes_[i], unlikely));
}

Bytes Bound::outputs(fe_module_queue* queue) const {
  Bytes all;
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (output_sizes_[i] == 0) continue;
    const Bytes bytes = read_bytes(*device_, queue, buffers_[i], output_sizes_[i]);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

Outcome execute(const Device& device, fe_module_queue* queue, const Executable& executable, const fe_execution& what) {
  const Outcome outcome = take(device.backend()->execute(executable.handle(), queue, &what));
  return outcome ? finish(device, queue) : outcome;
}

}  // namespace ferrule::conformance
