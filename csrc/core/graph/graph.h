// The graph that is built, traced, compiled and printed: single assignment, nodes in execution order.
#pragma once

#include "ops/attributes.h"
#include "ops/numbers.h"
#include "ops/row.h"
#include "base/tensor_type.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ferrule {

class Device;   // core/registry/device.h
class Storage;  // core/memory/storage.h: a buffer on a device, shared by views

using ValueId = uint32_t;

// Position of the elements of a strided array in a storage.
struct StridedStorage {
  std::shared_ptr<Storage> storage;  // null if the array has no elements
  int64_t offset = 0;                // in elements, from the storage's first byte
  Strides strides;                   // in elements
};

enum class ValueKind : uint8_t {
  input,     // bound at each execution
  constant,  // held by the graph; its bytes never change, so kernels may pack them
  scalar,    // one element, bound at each execution (default: Graph::scalar_defaults)
  result,    // output of a node
};

struct ValueInfo {
  TensorType type;
  ValueKind kind = ValueKind::result;
  uint32_t index = 0;  // of the input, constant or scalar; for results, of the node
};

// Straight-line code of a fused node. Values are numbered: inputs first, then one per instruction
// (ferrule/graph_view.h).
struct Body {
  struct Instruction {
    const ops::Row* op = nullptr;
    DType dtype = DType::none;
    std::vector<uint32_t> inputs;
    ops::Attributes attributes;
    uint32_t output = 0;  // output number of the op
  };
  std::vector<DType> inputs;
  std::vector<Instruction> instructions;
  std::vector<uint32_t> outputs;
};

struct Node {
  const ops::Row* op = nullptr;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::shared_ptr<const ops::Attributes> attributes;  // never null
  std::shared_ptr<const Body> body;                   // null unless fused
  Device* device = nullptr;                           // requested device; null = the graph's device
};

struct GraphInput {
  std::string name;
  Strides strides;             // of the arrays that will be bound; part of the signature
  bool dynamic_offset = true;  // the offset in the storage is bound at each execution
};

struct GraphConstant {
  std::string name;
  StridedStorage data;
  std::string placement = {};  // origin of the bytes, as in Array::placement; empty: computed
};

class Graph {
 public:
  std::vector<ValueInfo> values;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs;  // value of each input number
  std::vector<GraphInput> input_info;
  std::vector<ValueId> constants;
  std::vector<GraphConstant> constant_info;
  std::vector<ValueId> scalars;
  std::vector<fe_scalar> scalar_defaults;
  std::vector<ValueId> outputs;

  ValueId add_input(std::string name, TensorType type);  // contiguous
  ValueId add_input(std::string name, TensorType type, Strides strides);
  ValueId add_constant(std::string name, TensorType type, StridedStorage view, std::string placement = {});
  ValueId add_scalar(DType dtype, fe_scalar value);
  // Records an op: promotes operands (inserts casts), completes and canonicalizes attributes, infers the
  // results. Returns the outputs. Throws Error. `numbers`: operands that are numbers (see ops::record_call); empty =
  // none.
  std::vector<ValueId> add_call(const ops::Row& op, std::span<const ValueId> operands,
                                const std::vector<ops::NamedAttribute>& given, Device* device = nullptr,
                                std::span<const ops::OperandNumber> numbers = {});
  // add_call() for an op with one output.
  ValueId add(const ops::Row& op, std::span<const ValueId> operands, const std::vector<ops::NamedAttribute>& given,
              Device* device = nullptr, std::span<const ops::OperandNumber> numbers = {});
  // Adds a node without checks; used by passes, which have checked it.
  std::vector<ValueId> add_checked(Node node, std::span<const TensorType> results);
  const TensorType& type(ValueId value) const { return values[value].type; }
};

// Converts a number to a scalar of the dtype, for add_scalar.
fe_scalar scalar_of(double value, DType dtype);
fe_scalar scalar_of(int64_t value, DType dtype);
fe_scalar scalar_of(const ops::Number& number, DType dtype);
// The scalar as kernels expect it: a nonzero bool becomes 1.
fe_scalar checked_scalar(DType dtype, fe_scalar value);

std::string to_text(const Graph& graph);  // one line per node: "%3 = matmul(%0, %1) : float32(2, 3)"
std::string to_dot(const Graph& graph);   // graphviz
std::string to_json(const Graph& graph);

}  // namespace ferrule
