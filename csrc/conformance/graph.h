// Valid graph views, made without the core, which a check may then make invalid.
#pragma once

#include "conformance/buffer_bytes.h"

#include <ferrule/op_table.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ferrule::conformance {

// A constexpr list of at most `capacity` items. Compilers take minutes for lists of 600 nested vectors.
template <class T, size_t capacity>
class Few {
 public:
  constexpr Few() = default;
  constexpr Few(std::initializer_list<T> items) : size_(items.size()) { std::copy(items.begin(), items.end(), items_); }
  constexpr bool operator==(const Few&) const = default;
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T* data() const { return items_; }
  constexpr const T* begin() const { return items_; }
  constexpr const T* end() const { return items_ + size_; }
  constexpr const T& operator[](size_t i) const { return items_[i]; }

 private:
  T items_[capacity] = {};
  size_t size_ = 0;
};
using SampleShape = Few<int64_t, FE_MAX_RANK>;

struct TensorSample {
  const char* dtype = nullptr;
  SampleShape shape = {};
};
// The field of the attribute's type is set.
struct AttributeValue {
  int64_t integer = 0;
  double real = 0;
  const char* text = nullptr;
  SampleShape integers = {};
};
// A small, valid call of an op.
struct Sample {
  const char* op;
  Few<TensorSample, 5> inputs, outputs;
  Few<AttributeValue, 8> attributes;
};
// Samples of each op that devices may be given, in each dtype that it accepts; from op_samples.inc.
std::span<const Sample> samples();
std::string name_of(const Sample& sample);
const sdk::OpInfo& info_of(const Sample& sample);

// A view that owns everything that it points to. A check may change the public members. Arrays are longer than
// necessary, so that a count that is too high does not lead past their end.
class Graph {
 public:
  static constexpr size_t spare = 80;  // elements of every array

  uint32_t add_storage(fe_storage_kind kind, uint64_t size);
  uint32_t add_value(const TensorSample& type, uint32_t storage);
  uint32_t add_node(fe_op op, const std::vector<uint32_t>& inputs, const std::vector<uint32_t>& outputs);
  // Builds the struct of the node's attributes, with the layout of ops.h.
  void set_attributes(uint32_t node, const sdk::OpInfo& op, std::span<const AttributeValue> values);

  fe_graph_view& view() { return view_; }
  fe_storage& storage(uint32_t index) { return storages_[index]; }
  fe_value& value(uint32_t index) { return values_[index]; }
  fe_node& node(uint32_t index = 0) { return nodes_[index]; }
  uint32_t* inputs(uint32_t node = 0) { return inputs_[node].data(); }
  uint32_t* outputs(uint32_t node = 0) { return outputs_[node].data(); }
  int64_t* shape(uint32_t value) { return shapes_[value].data(); }
  int64_t* strides(uint32_t value) { return strides_[value].data(); }
  const fe_storage** storage_list() { return storage_list_.data(); }
  const fe_value** value_list() { return value_list_.data(); }
  const fe_node** node_list() { return node_list_.data(); }
  // Address of an attribute of the node.
  void* attribute(const sdk::AttributeInfo& info, uint32_t node = 0) { return attributes_[node].data() + info.offset; }
  size_t& attributes_size(uint32_t node = 0) { return *reinterpret_cast<size_t*>(attributes_[node].data()); }

 private:
  std::deque<fe_storage> storages_;
  std::deque<fe_value> values_;
  std::deque<fe_node> nodes_;
  std::deque<std::vector<int64_t>> shapes_, strides_, lists_;
  std::deque<std::vector<uint32_t>> inputs_, outputs_;
  std::deque<Bytes> attributes_;
  std::vector<const fe_storage*> storage_list_ = std::vector<const fe_storage*>(spare);
  std::vector<const fe_value*> value_list_ = std::vector<const fe_value*>(spare);
  std::vector<const fe_node*> node_list_ = std::vector<const fe_node*>(spare);
  fe_graph_view view_{sizeof(fe_graph_view), 0, 0, 0, 0, 0, 0, nullptr, nullptr, nullptr, 0, 64};
};

// A graph of one node: the inputs, then the outputs, with one binding each.
std::unique_ptr<Graph> graph_of(const Sample& sample);
// A graph of two nodes, of which the second reads the result of the first from the workspace. Null if the op's result
// cannot be its first input.
std::unique_ptr<Graph> chain_of(const Sample& sample);
uint64_t byte_size(const TensorSample& type);

// Whether the device supports node `node`.
bool supports(const Device& device, const fe_graph_view& view, uint32_t node = 0, std::string* reason = nullptr);
// The first sample of each op that the device supports, or of the op that the subject names. Throws NotApplicable if
// there is none.
std::vector<const Sample*> supported_samples(const Device& device, const Subject& subject, bool every_dtype = false);

// An executable, released by its destructor.
class Executable {
 public:
  Executable(const Device& device, const fe_graph_view& view);
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;
  ~Executable();
  fe_module_executable* handle() const { return handle_; }
  uint64_t scratch_size() const;

 private:
  const Device* device_;
  fe_module_executable* handle_ = nullptr;
};

// Everything that one execution binds, filled with numbers that depend on the seed.
class Bound {
 public:
  Bound(const Device& device, fe_module_queue* queue, Graph& graph, const Executable& executable, uint64_t seed);
  fe_execution& execution() { return execution_; }
  std::vector<fe_binding>& bindings() { return bindings_; }
  // Fills the outputs with values that no sample computes, to detect an execution that does not run.
  void spoil_outputs(fe_module_queue* queue) const;
  // Reads the bytes of all outputs.
  Bytes outputs(fe_module_queue* queue) const;

 private:
  const Device* device_;
  std::deque<Buffer> buffers_;
  std::vector<fe_binding> bindings_;
  std::vector<uint64_t> output_sizes_;  // per binding; 0 if it is not an output
  std::unique_ptr<Buffer> workspace_, scratch_;
  fe_execution execution_{};
};

// Executes, waits, and returns the error, if any.
Outcome execute(const Device& device, fe_module_queue* queue, const Executable& executable, const fe_execution& what);

}  // namespace ferrule::conformance
