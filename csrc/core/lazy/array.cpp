#include "core/lazy/array.h"

#include "core/compiler/lowered_graph.h"
#include "core/copy/transfer.h"
#include "core/registry/device.h"
#include "core/sync/fork_generation.h"
#include "core/trace/trace.h"
#include "ops/record_call.h"
#include "ops/table.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ferrule {
namespace {

// Recording evaluates when more nodes than this are pending, so that a loop that never reads its result stays bounded.
constexpr uint32_t max_pending = 10'000;

constexpr const char* copied_for_owner = "copied: the owner of the memory may write to it";

bool borrows_memory(const Array& array) {
  return array.state() == Array::State::computed && may_change(array.strided_array());
}

// Compares storages in host memory; others count as different.
bool is_equal_on_host(const Storage& a, const Storage& b) {
  if (a.size() != b.size() || !a.host_pointer() || !b.host_pointer()) return false;
  a.finish_write();
  b.finish_write();
  return std::memcmp(a.host_pointer(), b.host_pointer(), a.size()) == 0;
}

class ArrayOperands : public ops::Operands {
 public:
  ArrayOperands(std::vector<ArrayPointer>& arrays, std::shared_ptr<Device> device)
      : arrays_(arrays), device_(std::move(device)) {}
  std::size_t count() const override { return arrays_.size(); }
  const TensorType& type(std::size_t i) const override { return arrays_[i]->type(); }
  void place(std::size_t i, const ops::Number& number, DType dtype) override {
    arrays_[i] = Array::scalar(dtype, device_, scalar_of(number, dtype));
  }
  void cast(std::size_t i, DType dtype) override {
    arrays_[i] = Array::record(ops::op_named("astype"), {arrays_[i]}, {}, {{"dtype", dtype}});
  }

 private:
  std::vector<ArrayPointer>& arrays_;
  std::shared_ptr<Device> device_;
};

}  // namespace

BriefMutex& evaluation_mutex() {
  static constinit BriefMutex mutex;
  return mutex;
}

Array::~Array() {
  for (const ArrayPointer& input : inputs_) --input->readers;
}

void Array::set_inputs(std::vector<ArrayPointer> inputs) noexcept {
  inputs_ = std::move(inputs);
  for (const ArrayPointer& input : inputs_) ++input->readers;
}

ArrayPointer Array::computed(TensorType type, std::shared_ptr<Device> device, StridedStorage view,
                             std::string placement) {
  ArrayPointer array = pointer_to(std::unique_ptr<Array>(new Array(type, std::move(device), State::computed)));
  array->result_ = std::make_unique<Result>(Result{std::move(view), std::move(placement)});
  return array;
}

ArrayPointer Array::scalar(DType dtype, std::shared_ptr<Device> device, fe_scalar value) {
  ArrayPointer array = pointer_to(std::unique_ptr<Array>(new Array({dtype, {}}, std::move(device), State::scalar)));
  array->scalar_ = checked_scalar(dtype, value);
  return array;
}

// The view is copied before the mark is checked; donate_storage() sets the mark before it counts the copies. Both write
// the mark atomically, so that the later one sees what the earlier one did.
std::optional<StridedArray> Array::strided_array_unless_donated() const {
  StridedArray view{type_, result_->data};
  uint32_t mark = 0;
  if (!donated_.compare_exchange_strong(mark, 0, std::memory_order_acq_rel)) return std::nullopt;
  return view;
}

StridedArray Array::strided_array() const {
  std::optional<StridedArray> view = strided_array_unless_donated();
  if (!view) fail_argument("{}: its memory was given to a result", to_string(type_));
  return *std::move(view);
}

bool Array::was_donated_before_fork() const {
  const uint32_t mark = donated_.load(std::memory_order_acquire);
  return mark != 0 && mark != 1 + fork_generation();
}

std::shared_ptr<Storage> Array::donate_storage(long pointers, long holders) {
  if (state() != State::computed || !result_->data.storage) return nullptr;
  const std::shared_ptr<Storage>& storage = result_->data.storage;
  const auto is_nobody_elses = [&] {
    return !is_exposed_to_host && weak_from_this().use_count() <= pointers && storage.use_count() <= holders + 1;
  };
  uint32_t mark = 0;
  if (!is_nobody_elses() || !donated_.compare_exchange_strong(mark, 1 + fork_generation(), std::memory_order_acq_rel))
    return nullptr;
  // Check again: earlier readers are counted now, and later readers see the mark.
  try {
    if (is_nobody_elses()) return Storage::move_memory(storage);
  } catch (...) {
    donated_.store(0, std::memory_order_release);
    throw;
  }
  donated_.store(0, std::memory_order_release);
  return nullptr;
}

void Array::return_storage(const std::shared_ptr<Storage>& memory) {
  Storage::move_back(memory, *result_->data.storage);
  donated_.store(0, std::memory_order_release);
}

std::string Array::placement() const {
  if (state() != State::computed) return "lazy: not computed yet";
  const std::scoped_lock lock(evaluation_mutex());
  return result_->placement.empty() ? "computed" : result_->placement;
}

ArrayPointer Array::record(const ops::Row& op, std::vector<ArrayPointer> inputs,
                           std::span<const ops::OperandNumber> numbers, const std::vector<ops::NamedAttribute>& given) {
  if (op.output_count != 1) fail_argument("{}: has {} outputs; record() takes ops with one", op.name, op.output_count);
  return record_call(op, std::move(inputs), numbers, given).front();
}

std::vector<ArrayPointer> Array::record_call(const ops::Row& op, std::vector<ArrayPointer> inputs,
                                             std::span<const ops::OperandNumber> numbers,
                                             const std::vector<ops::NamedAttribute>& given) {
  const TraceSpan span(FE_TRACE_RECORD, op.name);
  const ArrayPointer* first = nullptr;
  for (const ArrayPointer& input : inputs) {
    if (!input) continue;  // a number
    if (!first) first = &input;
    if (input->device() != (*first)->device())
      fail_argument("{}: its inputs lie on {} and {}; bring them together with to_device", op.name,
                    (*first)->device()->name(), input->device()->name());
  }
  if (!first) fail_argument("{}: it needs an array, whose device it takes", op.name);
  ArrayOperands operands(inputs, (*first)->device());
  ops::RecordedCall call = ops::record_call(op, operands, numbers, given);
  if (inputs[0]->becomes_dynamic_slice(op, call.attributes))
    return record_dynamic_slice(std::move(inputs[0]), op, call.attributes);
  if (!ops::is_open_ended(op, call.attributes)) return record_checked(op, std::move(inputs), std::move(call));
  const ops::Attributes attributes = call.attributes;
  return cut_to_length(op, attributes, record_checked(op, std::move(inputs), std::move(call)));
}

std::vector<ArrayPointer> Array::cut_to_length(const ops::Row& op, const ops::Attributes& attributes,
                                               std::vector<ArrayPointer> outputs) {
  evaluate(outputs);
  int64_t length = 0;
  read_to_host(outputs.back()->strided_array(), &length, sizeof length);
  const auto axis = static_cast<int>(op.bounded_axis({op, attributes}));
  for (std::size_t i = 0; i < op.bounded_outputs; ++i) {
    const Shape bound = outputs[i]->type().shape;
    if (length < 0 || length > bound[axis])
      fail(FE_INTERNAL, "{}: {} counted {}, of {} at most", op.name, outputs[i]->device()->name(), length, bound[axis]);
    const auto rank = static_cast<std::size_t>(bound.rank());
    std::vector<int64_t> sizes(bound.begin(), bound.end());
    sizes[static_cast<std::size_t>(axis)] = length;
    ArrayPointer cut = record(ops::op_named("slice"), {outputs[i]}, {},
                              {{"starts", std::vector<int64_t>(rank, 0)},
                               {"sizes", std::move(sizes)},
                               {"steps", std::vector<int64_t>(rank, 1)}});
    // A short result does not keep the memory of the whole.
    if (length < bound[axis] / 2) cut = record(ops::op_named("copy"), {cut}, {}, {});
    outputs[i] = std::move(cut);
  }
  return outputs;
}

bool Array::becomes_dynamic_slice(const ops::Row& op, const ops::Attributes& attributes) const {
  if (op.kind != ops::Kind::view || state() != State::pending || &op != &ops::op_named("slice")) return false;
  // Each dynamic slice adds its starts to the offset, so only the first view of a chain becomes one.
  static const ops::Row* const dynamic_slice = &ops::op_named("dynamic_slice");
  if (op_ != nullptr && (op_->kind == ops::Kind::view || op_ == dynamic_slice)) return false;
  const auto& steps = ops::AttributeReader{op, attributes}.integers("steps");
  return type_.shape.rank() > 0 && !is_block(type_.dtype) &&
         std::all_of(steps.begin(), steps.end(), [](int64_t step) { return step == 1; });
}

std::vector<ArrayPointer> Array::record_dynamic_slice(ArrayPointer x, const ops::Row& slice,
                                                      const ops::Attributes& attributes) {
  const ops::AttributeReader reader{slice, attributes};
  const std::shared_ptr<Device> device = x->device();
  std::vector<ArrayPointer> inputs = {std::move(x)};
  for (const int64_t start : reader.integers("starts")) {
    fe_scalar value{};
    std::memcpy(value.bytes, &start, sizeof start);
    inputs.push_back(scalar(DType::int64, device, value));
  }
  return record_call(ops::op_named("dynamic_slice"), std::move(inputs), {}, {{"sizes", reader.integers("sizes")}});
}

ArrayPointer Array::pending(const ops::Row& op, std::vector<ArrayPointer> inputs,
                            std::shared_ptr<const ops::Attributes> attributes, TensorType type) {
  ArrayPointer array = pointer_to(std::unique_ptr<Array>(new Array(type, inputs[0]->device(), State::pending)));
  array->op_ = &op;
  array->attributes_ = std::move(attributes);
  array->pending_below_ = 1;
  for (const ArrayPointer& input : inputs)
    if (input->state() == State::pending)
      array->pending_below_ = std::min(array->pending_below_ + input->pending_below_, max_pending + 1);
  array->set_inputs(std::move(inputs));
  return array;
}

std::vector<ArrayPointer> Array::record_checked(const ops::Row& op, std::vector<ArrayPointer> inputs,
                                                ops::RecordedCall call) {
  if (op.kind == ops::Kind::view && inputs[0]->state() == State::computed)
    if (ArrayPointer view = inputs[0]->viewed(op, call.attributes, call.results[0])) return {view};
  const bool reads_borrowed_memory =
      std::any_of(inputs.begin(), inputs.end(), [](const auto& input) { return borrows_memory(*input); });
  ArrayPointer first = pending(op, std::move(inputs), ops::shared(std::move(call.attributes)), call.results[0]);
  const bool has_too_much_below = first->pending_below_ > max_pending;
  std::vector<ArrayPointer> outputs;
  if (call.results.size() > 1)
    outputs = outputs_of(first, std::move(call.results));
  else
    outputs.push_back(std::move(first));
  // Later writes by the owner of borrowed memory must not change a result that is recorded now.
  if (reads_borrowed_memory || has_too_much_below) evaluate(outputs);
  return outputs;
}

std::vector<ArrayPointer> Array::outputs_of(const ArrayPointer& call, std::vector<TensorType> types) {
  std::vector<ArrayPointer> arrays;
  call->outputs_ = std::make_unique<Outputs>();
  for (uint32_t number = 0; number < types.size(); ++number) {
    ArrayPointer array = pointer_to(std::unique_ptr<Array>(new Array(types[number], call->device(), State::pending)));
    array->set_inputs({call});
    array->output_ = number;
    array->pending_below_ = call->pending_below_;
    call->outputs_->arrays.push_back(array);
    arrays.push_back(std::move(array));
  }
  call->outputs_->types = std::move(types);
  return arrays;
}

ArrayPointer Array::viewed(const ops::Row& op, const ops::Attributes& attributes, const TensorType& type) const {
  const StridedStorage own = strided_array().data;
  Operand operand{0, type_, own.offset, own.strides};
  if (!apply_view(op, attributes, type.shape, operand)) return nullptr;
  StridedStorage view{element_count(type.shape) == 0 ? nullptr : own.storage, operand.offset, operand.strides};
  if (!may_change({type, view})) return computed(type, device_, std::move(view), placement());
  StridedArray copy = copy_without_repeats({type, std::move(view)});
  return computed(type, device_, std::move(copy.data), copied_for_owner);
}

ArrayPointer Array::pointer_to(std::unique_ptr<Array> array) { return {array.release(), DeferredRelease()}; }

// Destroying a chain of a million arrays must not nest a million destructors: an array that is released while another
// is being destroyed waits in a list. The list links the arrays themselves, because destruction must not need memory.
void Array::DeferredRelease::operator()(Array* array) const noexcept {
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

ArrayPointer snapshot(ArrayPointer array) {
  if (!borrows_memory(*array)) return array;
  StridedArray copy = copy_without_repeats(array->strided_array());
  std::shared_ptr<Storage> last;
  {
    const std::scoped_lock lock(evaluation_mutex());
    last = array->result_->snapshot.lock();
  }
  if (last && is_equal_on_host(*last, *copy.data.storage)) {
    copy.data.storage = std::move(last);
  } else {
    const std::scoped_lock lock(evaluation_mutex());
    array->result_->snapshot = copy.data.storage;
  }
  ArrayPointer now = Array::computed(copy.type, array->device(), std::move(copy.data), copied_for_owner);
  now->is_exposed_to_host = true;  // the next snapshot compares with it
  return now;
}

ArrayPointer copy_of(const ArrayPointer& array) {
  if (array->state() == Array::State::pending && array->op_ != nullptr &&
      (array->op_->kind == ops::Kind::view || array->op_ == &ops::op_named("dynamic_slice")))
    return Array::record(ops::op_named("copy"), {array}, {}, {});
  if (array->state() != Array::State::computed) return array;
  constexpr uint64_t alignment = 256;  // more than the padding of any storage
  const StridedArray own = array->strided_array();
  const auto needed = static_cast<uint64_t>(byte_count(own.type));
  if (!own.data.storage || own.data.storage->size() <= needed + alignment) return snapshot(array);
  StridedArray copy = copy_without_repeats(own);
  return Array::computed(copy.type, array->device(), std::move(copy.data), {});
}

ArrayPointer to_device(const ArrayPointer& array, const std::shared_ptr<Device>& device) {
  if (array->device() == device) return array;
  evaluate({&array, 1});
  StridedArray copy = copy_to(array->strided_array(), device);
  return Array::computed(copy.type, device, std::move(copy.data), "copied: from " + array->device()->name());
}

}  // namespace ferrule
