#include "core/lazy/array.h"

#include "core/compiler/lowered.h"
#include "core/registry/device.h"
#include "ops/table.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ferrule {
namespace {

// Recording more than this computes: a loop that never looks at its result must not grow without end.
constexpr uint32_t most_pending = 10'000;

constexpr const char* copied_for_owner = "copied: the owner of the memory may write to it";

bool reads_lent_memory(const Array& array) {
  return array.state() == Array::State::computed && may_change(array.view());
}

// Compares storages in host memory; others count as different.
bool is_equal_on_host(const Storage& a, const Storage& b) {
  return a.size() == b.size() && a.host_pointer() && b.host_pointer() &&
         std::memcmp(a.host_pointer(), b.host_pointer(), a.size()) == 0;
}

}  // namespace

BriefMutex& evaluation_mutex() {
  static constinit BriefMutex mutex;
  return mutex;
}

ArrayPointer Array::computed(TensorType type, std::shared_ptr<Device> device, View view, std::string placement) {
  ArrayPointer array = pointer_to(std::unique_ptr<Array>(new Array(type, std::move(device), State::computed)));
  array->view_ = std::move(view);
  array->placement_ = std::move(placement);
  return array;
}

ArrayPointer Array::scalar(DType dtype, std::shared_ptr<Device> device, fe_scalar value) {
  ArrayPointer array = pointer_to(std::unique_ptr<Array>(new Array({dtype, {}}, std::move(device), State::scalar)));
  array->scalar_ = checked_scalar(dtype, value);
  return array;
}

std::string Array::placement() const {
  if (state() != State::computed) return "lazy: not computed yet";
  const std::scoped_lock lock(evaluation_mutex());
  return placement_.empty() ? "computed" : placement_;
}

ArrayPointer Array::record(const ops::Row& op, std::vector<ArrayPointer> inputs, std::span<const bool> weak,
                           const std::vector<ops::NamedAttribute>& given) {
  if (inputs.empty()) fail_argument("{}: an array's op needs an input, whose device it takes", op.name);
  std::vector<TensorType> types;
  for (const ArrayPointer& input : inputs) {
    types.push_back(input->type());
    if (input->device() != inputs[0]->device())
      fail_argument("{}: its inputs lie on {} and {}; bring them together with to_device", op.name,
                    inputs[0]->device()->name(), input->device()->name());
  }
  const std::vector<DType> dtypes = ops::input_dtypes(op, types, weak);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (dtypes[i] == types[i].dtype) continue;
    inputs[i] = record(ops::op_named("astype"), {inputs[i]}, {}, {{"dtype", dtypes[i]}});
    types[i].dtype = dtypes[i];
  }
  ops::Attributes attributes = ops::complete_attributes(op, given);
  const std::vector<TensorType> results = ops::infer(op, types, attributes);
  return record_checked(op, std::move(inputs), std::move(attributes), results.front());
}

ArrayPointer Array::record_checked(const ops::Row& op, std::vector<ArrayPointer> inputs, ops::Attributes attributes,
                                   TensorType type) {
  const std::shared_ptr<Device> device = inputs[0]->device();
  if (op.kind == ops::Kind::view && inputs[0]->state() == State::computed)
    if (ArrayPointer view = inputs[0]->viewed(op, attributes, type)) return view;
  ArrayPointer array = pointer_to(std::unique_ptr<Array>(new Array(type, device, State::pending)));
  array->op_ = &op;
  array->attributes_ = std::make_shared<const ops::Attributes>(std::move(attributes));
  array->pending_below_ = 1;
  bool lent = false;
  for (const ArrayPointer& input : inputs) {
    lent = lent || reads_lent_memory(*input);
    if (input->state() == State::pending)
      array->pending_below_ = std::min(array->pending_below_ + input->pending_below_, most_pending + 1);
  }
  array->inputs_ = std::move(inputs);
  // What the lender writes later must not change a result that is recorded now.
  if (lent || array->pending_below_ > most_pending) evaluate({&array, 1});
  return array;
}

ArrayPointer Array::viewed(const ops::Row& op, const ops::Attributes& attributes, const TensorType& type) const {
  Operand operand{0, type_, view_.offset, view_.strides};
  if (!apply_view(op, attributes, type.shape, operand)) return nullptr;
  View view{element_count(type.shape) == 0 ? nullptr : view_.storage, operand.offset, operand.strides};
  if (!may_change({type, view})) return computed(type, device_, std::move(view), placement());
  TypedView copy = copy_without_repeats({type, std::move(view)});
  return computed(type, device_, std::move(copy.view), copied_for_owner);
}

ArrayPointer Array::pointer_to(std::unique_ptr<Array> array) { return {array.release(), let_go}; }

// A chain of a million arrays must not end in a million nested destructors: an array that goes while another is being
// destroyed waits in a list. The list runs through the arrays, because destruction must not need memory.
void Array::let_go(Array* array) noexcept {
  thread_local Array* waiting = nullptr;
  thread_local bool is_destroying = false;
  array->next_let_go_ = std::exchange(waiting, array);
  if (is_destroying) return;
  is_destroying = true;
  while (waiting) {
    const std::unique_ptr<Array> next(waiting);
    waiting = next->next_let_go_;
  }
  is_destroying = false;
}

ArrayPointer snapshot(const ArrayPointer& array) {
  if (!reads_lent_memory(*array)) return array;
  TypedView copy = copy_without_repeats(array->view());
  std::shared_ptr<Storage> last;
  {
    const std::scoped_lock lock(evaluation_mutex());
    last = array->snapshot_.lock();
  }
  if (last && is_equal_on_host(*last, *copy.view.storage)) {
    copy.view.storage = std::move(last);
  } else {
    const std::scoped_lock lock(evaluation_mutex());
    array->snapshot_ = copy.view.storage;
  }
  return Array::computed(copy.type, array->device(), std::move(copy.view), copied_for_owner);
}

ArrayPointer to_device(const ArrayPointer& array, const std::shared_ptr<Device>& device) {
  if (array->device() == device) return array;
  evaluate({&array, 1});
  TypedView copy = copy_to(array->view(), device);
  return Array::computed(copy.type, device, std::move(copy.view), "copied: from " + array->device()->name());
}

}  // namespace ferrule
