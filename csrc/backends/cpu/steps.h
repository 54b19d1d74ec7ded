// Compiled nodes: what each one needs at execution, and how it runs.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "attributes.h"
#include "body.h"
#include "local_memory.h"
#include "operands.h"
#include "widening.h"

namespace ferrule::cpu {

// A compiled node.
class Step {
 public:
  virtual ~Step() = default;
  virtual uint64_t scratch_size() const { return 0; }
  virtual void run(const Memory& memory, char* scratch) const = 0;
};

// The step that computes a node, or the reason why there is none.
struct Choice {
  std::unique_ptr<Step> step;
  sdk::Support support;
};

// An elementwise node, fused or single.
class BodyStep : public Step {
 public:
  Body body;
  Attributes attributes;
  std::vector<sdk::ValuePlace> inputs, outputs;
  LocalMemory local;

  uint64_t scratch_size() const override { return size_of(local); }

  void run(const Memory& memory, char* scratch) const override;
};

// A node whose work another step does.
class EmptyStep : public Step {
 public:
  void run(const Memory&, char*) const override {}
};

// A node that one kernel computes, with the prologue, the epilogue and the conversions of halves around it.
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
  LocalMemory local;                   // of the kernel; each part is followed by those of the prologue and the epilogue
  uint64_t kernel_local = 0;           // bytes of a part that the kernel uses
  uint64_t local_size = 0;             // of all parts: of the kernel or a conversion, which run one after the other
  std::unique_ptr<BodyStep> prologue;  // the step that would compute input 0; null: it is in memory
  // The body of an epilogue, whose input 0 is the kernel's result, and its other inputs.
  std::optional<Body> epilogue;
  std::vector<sdk::ValuePlace> epilogue_inputs;
  DType own_dtype = DType::count;

  uint64_t before_conversions() const { return aligned(kernel_scratch) + local_size; }
  uint64_t scratch_size() const override { return before_conversions() + conversion_scratch; }

  // The operands without addresses, and the attributes.
  Call call() const;
  bool own_in_place() const { return outputs[0].dtype == own_dtype; }
  uint64_t prologue_bytes() const { return prologue ? aligned(prologue->body.local_scratch().bytes) : 0; }

  void run(const Memory& memory, char* scratch) const override;
};

}  // namespace ferrule::cpu
