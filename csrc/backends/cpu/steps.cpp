#include "steps.h"

#include <array>
#include <vector>

namespace ferrule::cpu {
namespace {

// The addresses in this execution, in `local` or, if they are more, in `many`.
char* const* pointers_to(const Memory& memory, const std::vector<sdk::ValuePlace>& values, std::array<char*, 80>& local,
                         std::vector<char*>& many) {
  char** pointers = local.data();
  if (values.size() > local.size()) {
    many.resize(values.size());
    pointers = many.data();
  }
  for (size_t i = 0; i < values.size(); ++i) pointers[i] = memory(values[i]);
  return pointers;
}

// An epilogue as the kernel sees it.
struct BoundEpilogue : Epilogue {
  const Body* body;
  char* const* in;
  char* const* out;
  uint64_t before;  // bytes of a thread's part that the kernel and the prologue use
};
fe_error* apply_epilogue(const Epilogue* self, int64_t first, int64_t count, const void* own, char* local) {
  const auto* bound = static_cast<const BoundEpilogue*>(self);
  return bound->body->run_range(bound->in, bound->out, first, count, own, local + bound->before);
}

// A prologue as the kernel sees it.
struct BoundPrologue : Prologue {
  const Body* body;
  char* const* in;
  uint64_t before;  // bytes of a thread's part that the kernel uses
};
fe_error* compute_prologue(const Prologue* self, int64_t first, int64_t count, void* to, char* local) {
  const auto* bound = static_cast<const BoundPrologue*>(self);
  char* const out = static_cast<char*>(to);
  return bound->body->run_range(bound->in, &out, first, count, nullptr, local + bound->before, first);
}

}  // namespace

void BodyStep::run(const Memory& memory, char* scratch) const {
  std::array<char*, 80> in_local, out_local;
  std::vector<char*> in_many, out_many;
  char* const* in = pointers_to(memory, inputs, in_local, in_many);
  char* const* out = pointers_to(memory, outputs, out_local, out_many);
  body.run(in, out, memory.thread_limit(), placed(local, scratch));
}

Call KernelStep::call() const {
  Call call{};
  call.host = sdk::host;
  call.in = inputs.data();
  call.out = outputs.data();
  call.in_count = static_cast<uint32_t>(inputs.size());
  call.out_count = static_cast<uint32_t>(outputs.size());
  call.attributes = own_attributes;
  return call;
}

void KernelStep::run(const Memory& memory, char* scratch) const {
  char* const local_data = scratch + aligned(kernel_scratch);
  const auto resolve = [&](const Address& address) {
    return address.value ? memory(*address.value) : scratch + address.scratch;
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
    operands[i].data = i == 0 && prologue ? nullptr : resolve(input_addresses[i]);
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
  BoundPrologue with_prologue{};
  std::array<char*, 80> prologue_local;
  std::vector<char*> prologue_many;
  if (prologue) {
    with_prologue.compute = compute_prologue;
    with_prologue.body = &prologue->body;
    with_prologue.in = pointers_to(memory, prologue->inputs, prologue_local, prologue_many);
    with_prologue.before = kernel_local;
    bound.prologue = &with_prologue;
  }
  BoundEpilogue with_epilogue{};
  std::vector<char*> epilogue_in, epilogue_out;
  if (epilogue) {
    epilogue_in.push_back(nullptr);
    for (const sdk::ValuePlace& value : epilogue_inputs) epilogue_in.push_back(memory(value));
    for (size_t i = 0; i < outputs.size(); ++i) epilogue_out.push_back(out[i].data);
    with_epilogue.apply = apply_epilogue;
    with_epilogue.own_dtype = own_dtype;
    with_epilogue.own_in_place = own_in_place();
    with_epilogue.body = &*epilogue;
    with_epilogue.before = kernel_local + prologue_bytes();
    with_epilogue.in = epilogue_in.data();
    with_epilogue.out = epilogue_out.data();
    bound.epilogue = &with_epilogue;
  }
  sdk::check(kernel->run(bound));
  for (const Conversion& conversion : after) convert(conversion);
}

}  // namespace ferrule::cpu
