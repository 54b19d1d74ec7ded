// Compiles a graph view: chooses the kernel of each node, and prepares everything that is known before execution.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "body.h"
#include "operands.h"

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
Choice choose(const fe_graph_view& view, uint32_t node);

std::unique_ptr<sdk::Executable> compile(const fe_graph_view& view);

// The packed form that the node's kernel wants for a constant input; and the function that packs it.
sdk::PreparedForm prepared_form(const fe_graph_view& view, uint32_t node, uint32_t input);
void prepare(const fe_graph_view& view, uint32_t node, uint32_t input, const fe_binding& from, const fe_binding& to);

}  // namespace ferrule::cpu
