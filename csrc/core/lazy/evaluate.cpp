// Evaluation of pending arrays: builds the graph below them, takes its executable from a cache, and stores the results.
#include "core/executor/executable_cache.h"
#include "core/executor/execution_counters.h"
#include "core/key.h"
#include "core/lazy/array.h"
#include "core/registry/device.h"
#include "core/sync/fork.h"
#include "core/sync/immortal.h"
#include "core/sync/mutexes.h"
#include "core/sync/reuse_pool.h"
#include "core/trace/trace.h"
#include "ops/table.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace ferrule {
namespace {

using CompileCache = ExecutableCache<std::shared_ptr<Executable>>;

// Executables of evaluations, by the structure of the evaluated graph.
struct EvaluationCache : CompileCache {
  EvaluationCache() : CompileCache(256) {}
};
CompileCache& compile_cache() { return Immortal<EvaluationCache>::get(); }

// An array that is evaluated or read.
struct Item {
  ArrayPointer array;
  uint32_t first_input = 0, input_count = 0;    // in item_inputs
  uint32_t reads = 0;                           // by other items, once per operand
  Array::State state = Array::State::computed;  // as it was when collected
  bool is_asked = false;
  bool is_viewed = false;  // by a view that is read by arrays outside of this evaluation
};

// The working data of an evaluation.
struct EvaluationArrays {
  // An array whose inputs are being collected. The pointer is in the array's reader.
  struct Frame {
    const ArrayPointer* array;
    std::size_t next = 0;
  };
  std::vector<Item> items;
  std::vector<uint32_t> item_inputs;
  std::vector<Frame> frames;
  std::vector<uint32_t> outputs;
  std::vector<StridedArray> inputs;
  std::vector<uint32_t> input_items;
  std::vector<fe_scalar> scalars;
  std::vector<std::pair<ArrayPointer, std::shared_ptr<Storage>>> donated;
  std::vector<std::unique_ptr<Array::Result>> results;
  std::vector<ArrayPointer> released;  // inputs of the computed arrays; released outside of all locks
  Key key;

  void clear() noexcept {
    items.clear();
    item_inputs.clear();
    frames.clear();
    outputs.clear();
    inputs.clear();
    input_items.clear();
    scalars.clear();
    donated.clear();
    results.clear();
    released.clear();
    key.clear();
  }
  bool is_large() const noexcept { return items.capacity() > 4096; }
};

using ArraysPool = ReusePool<EvaluationArrays>;
ArraysPool& arrays_pool() { return Immortal<ArraysPool>::get(); }

// The place of the next collected array; guarded by evaluation_mutex(). The places of one evaluation are consecutive,
// and greater than all earlier ones.
uint64_t next_place = 1;

}  // namespace

void clear_compile_cache() {
  compile_cache().clear();
  clear_gathers();
}

// Thrown if another thread is writing to the memory of an array that this evaluation reads.
class Busy {};

class Evaluation : private Donor {
 public:
  Evaluation(std::span<const ArrayPointer> arrays, RunOptions options)
      : options_(options), arrays_(arrays_pool()), items_(arrays_->items) {
    const std::scoped_lock lock(evaluation_mutex());
    first_place_ = next_place;
    for (const ArrayPointer& array : arrays)
      if (array->state() != Array::State::computed) {
        collect(array);
        items_[number_of(*array)].is_asked = true;
      }
    collect_other_outputs();
    std::size_t inputs = 0;
    for (std::size_t i = items_.size(); i-- > 0;)
      if (is_view(items_[i]) && is_read_later(items_[i]))
        items_[arrays_->item_inputs[items_[i].first_input]].is_viewed = true;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (!is_wanted(items_[i]) || is_left_in_blocks(static_cast<uint32_t>(i))) continue;
      arrays_->outputs.push_back(static_cast<uint32_t>(i));
      inputs += items_[i].input_count;
    }
    arrays_->released.reserve(arrays_->released.size() + inputs);
  }

  void run() {
    if (arrays_->outputs.empty()) return;
    TraceSpan span(FE_TRACE_EVALUATE, "evaluate");
    span.describe([&](TraceLabel& label) { label.detail = fmt::format("{} arrays", arrays_->outputs.size()); });
    Device* const device = items_.back().array->device().get();
    make_key(*device);
    std::shared_ptr<Executable> executable = compile_cache().find(arrays_->key.bytes());
    if (executable) {
      ++execution_counters().cache_hits;
    } else {
      executable = build_executable(graph(), device->shared_from_this(), Fallback::warn, true);
      executable = compile_cache().insert(std::string(arrays_->key.bytes()), std::move(executable));
    }
    // Allocate them before memory is given away: what is computed then must be kept.
    arrays_->results.reserve(arrays_->outputs.size());
    for (std::size_t i = 0; i < arrays_->outputs.size(); ++i)
      arrays_->results.push_back(std::make_unique<Array::Result>());
    options_.donor = this;
    const Running running(*this);
    std::vector<StridedArray> results = executable->compute(arrays_->inputs, arrays_->scalars, {}, options_);
    for (std::size_t i = 0; i < results.size(); ++i) arrays_->results[i]->data = std::move(results[i].data);
    const std::scoped_lock lock(evaluation_mutex());
    for (std::size_t i = 0; i < results.size(); ++i) publish(*items_[arrays_->outputs[i]].array, arrays_->results[i]);
  }

 private:
  // The evaluations in progress on this thread, innermost first: a signal handler may start one while another polls for
  // cancellation.
  class Running {
   public:
    explicit Running(const Evaluation& evaluation) : evaluation_(evaluation), outer_(std::exchange(innermost_, this)) {}
    ~Running() { innermost_ = outer_; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    static bool has_given_away(const Array& array) {
      for (const Running* running = innermost_; running; running = running->outer_)
        for (const auto& [given, memory] : running->evaluation_.arrays_->donated)
          if (given.get() == &array) return true;
      return false;
    }

   private:
    static thread_local const Running* innermost_;
    const Evaluation& evaluation_;
    const Running* const outer_;
  };

  bool is_collected(const Array& array) const { return array.place_ >= first_place_; }
  uint32_t number_of(const Array& array) const { return static_cast<uint32_t>(array.place_ - first_place_); }
  std::span<const uint32_t> inputs_of(const Item& item) const {
    return std::span(arrays_->item_inputs).subspan(item.first_input, item.input_count);
  }

  // Collects the arrays below `root`, inputs before their readers.
  void collect(const ArrayPointer& root) {
    auto& frames = arrays_->frames;
    if (!is_collected(*root)) frames.push_back({&root});
    while (!frames.empty()) {
      EvaluationArrays::Frame& frame = frames.back();
      const Array& array = **frame.array;
      const Array::State state = array.state_;
      if (state == Array::State::pending && frame.next < array.inputs_.size()) {
        const ArrayPointer& input = array.inputs_[frame.next++];
        if (!is_collected(*input)) frames.push_back({&input});
        continue;
      }
      if (!is_collected(array)) add(*frame.array, state);
      frames.pop_back();
    }
  }

  void add(const ArrayPointer& array, Array::State state) {
    Item item{array, static_cast<uint32_t>(arrays_->item_inputs.size())};
    item.state = state;
    if (state == Array::State::pending) {
      item.input_count = static_cast<uint32_t>(array->inputs_.size());
      for (const ArrayPointer& input : array->inputs_) {
        const uint32_t number = number_of(*input);
        arrays_->item_inputs.push_back(number);
        ++items_[number].reads;
      }
    } else if (state == Array::State::computed) {
      std::optional<StridedArray> view = array->strided_array_unless_donated();
      if (!view && array->handles == 0) wait_for(*array);
      arrays_->inputs.push_back(view ? *std::move(view) : array->strided_array());  // throws
      arrays_->input_items.push_back(static_cast<uint32_t>(items_.size()));
    } else {
      arrays_->scalars.push_back(array->scalar_);
    }
    items_.push_back(std::move(item));
    array->place_ = next_place++;
  }

  // Throws Busy if another thread computes into the array's memory, and an error if the wait would never end.
  [[noreturn]] static void wait_for(const Array& array) {
    if (Running::has_given_away(array))
      fail_argument("{}: it is being updated by the evaluation that was interrupted to read it",
                    to_string(array.type()));
    if (array.was_donated_before_fork())
      fail(FE_UNSUPPORTED, "{}: it was being updated by another thread when this process was forked",
           to_string(array.type()));
    throw Busy();
  }

  // The other outputs of a call that are in use are computed with it, so that the call is computed once.
  void collect_other_outputs() {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (items_[i].state != Array::State::pending || !items_[i].array->outputs_) continue;
      const ArrayPointer call = items_[i].array;
      for (const std::weak_ptr<Array>& output : call->outputs_->arrays) {
        ArrayPointer array = output.lock();
        if (!array) continue;
        // If this is the last pointer by now, the array is destroyed later.
        arrays_->released.push_back(std::move(array));
        const ArrayPointer& other = arrays_->released.back();
        const bool is_held = other->handles > 0 || other->readers > 0;
        if (is_held && !is_collected(*other) && other->state_ == Array::State::pending) collect(other);
      }
    }
  }

  static bool is_view(const Item& item) {
    return item.state == Array::State::pending && item.array->op_ && item.array->op_->kind == ops::Kind::view;
  }
  // Whether arrays outside of this evaluation read the item later.
  static bool is_read_later(const Item& item) { return item.is_viewed || item.array->readers > item.reads; }

  // Requested arrays, arrays with handles, and arrays that are read outside of this evaluation: each is computed once.
  static bool is_wanted(const Item& item) {
    if (item.state == Array::State::computed) return false;
    if (item.is_asked) return true;
    if (item.state != Array::State::pending || item.array->outputs_) return false;
    return item.array->handles > 0 || (!is_view(item) && is_read_later(item));
  }

  // Whether the item is decoded from blocks, or a view of such numbers, and products alone read it here: they read the
  // blocks instead (compiler/read_blocks.cpp). The numbers take several times the memory, so they are only computed
  // when they are asked for.
  bool is_left_in_blocks(uint32_t number) const {
    const Item* item = &items_[number];
    if (item->is_asked) return false;
    if (is_view(*item)) item = &items_[inputs_of(*item)[0]];
    if (item->state != Array::State::pending || item->input_count != 1) return false;
    if (!is_block(items_[inputs_of(*item)[0]].array->type().dtype) || is_block(item->array->type().dtype)) return false;
    return std::all_of(items_.begin(), items_.end(), [&](const Item& reader) {
      const std::span<const uint32_t> inputs = inputs_of(reader);
      const ops::Row* const op = reader.array->op_;
      return std::find(inputs.begin(), inputs.end(), number) == inputs.end() || op == &ops::op_named("permute_dims") ||
             op == &ops::op_named("matmul");
    });
  }

  // The memory of an array that only the node that reads it can reach, if that node's result is wanted.
  std::shared_ptr<Storage> take(std::size_t input, long holders) override {
    const uint32_t number = arrays_->input_items[input];
    Array& array = *items_[number].array;
    if (array.handles > 0 || items_[number].reads != 1) return nullptr;
    const auto reads = [&](uint32_t output) {
      const std::span<const uint32_t> inputs = inputs_of(items_[output]);
      return std::find(inputs.begin(), inputs.end(), number) != inputs.end();
    };
    const auto reader = std::find_if(arrays_->outputs.begin(), arrays_->outputs.end(), reads);
    if (reader == arrays_->outputs.end()) return nullptr;
    auto& donated = arrays_->donated;
    donated.reserve(donated.size() + 1);
    std::shared_ptr<Storage> memory = array.donate_storage(2, holders);  // this evaluation and the reader
    if (!memory) return nullptr;
    // If another thread has computed the reader meanwhile, the reader has released this array, and the second pointer
    // belongs to another array, which still has to read it.
    if (!is_pending(*items_[*reader].array)) {
      array.return_storage(memory);
      return nullptr;
    }
    donated.emplace_back(items_[number].array, memory);
    return memory;
  }

  // Takes the lock: an array that is pending under it has not released its inputs.
  static bool is_pending(const Array& array) {
    const std::scoped_lock lock(evaluation_mutex());
    return array.state_ == Array::State::pending;
  }

  // An update can be repeated, because nothing else reads the memory that it updates.
  void failed(bool) noexcept override {
    for (const auto& [array, memory] : arrays_->donated) array->return_storage(memory);
  }

  void make_key(const Device& device) {
    Key& key = arrays_->key;
    key.add(&device);
    for (const Item& item : items_) {
      const Array& array = *item.array;
      key.add(item.state);
      key.add(array.type());
      if (item.state == Array::State::computed) key.add(array.result_->data.strides);
      if (item.state != Array::State::pending) continue;
      key.add(array.op_);
      key.add(inputs_of(item));
      if (array.op_)
        key.add(*array.attributes_);
      else
        key.add(array.output_);
    }
    key.add(arrays_->outputs);
  }

  Graph graph() const {
    Graph graph;
    std::vector<ValueId> values;
    values.reserve(items_.size());
    for (const Item& item : items_) {
      const Array& array = *item.array;
      if (item.state == Array::State::computed) {
        values.push_back(
            graph.add_input(fmt::format("x{}", graph.inputs.size()), array.type(), array.result_->data.strides));
      } else if (item.state == Array::State::scalar) {
        values.push_back(graph.add_scalar(array.type().dtype, array.scalar_));
      } else if (!array.op_) {
        // The values of a call's outputs are consecutive.
        values.push_back(values[inputs_of(item)[0]] + array.output_);
      } else {
        Node node;
        node.op = array.op_;
        node.attributes = array.attributes_;
        for (const uint32_t input : inputs_of(item)) node.inputs.push_back(values[input]);
        const TensorType type[] = {array.type()};
        const std::span<const TensorType> types =
            array.outputs_ ? std::span<const TensorType>(array.outputs_->types) : std::span<const TensorType>(type);
        values.push_back(graph.add_checked(std::move(node), types).front());
      }
    }
    for (const uint32_t output : arrays_->outputs) graph.outputs.push_back(values[output]);
    return graph;
  }

  // A result that is not needed stays with the caller, which releases it outside of all locks. This must not fail,
  // because an array with half of its result is unusable.
  void publish(Array& array, std::unique_ptr<Array::Result>& result) noexcept {
    if (array.state_ == Array::State::computed) return;  // another thread computed it first
    array.result_ = std::move(result);
    for (const ArrayPointer& input : array.inputs_) --input->readers;
    std::move(array.inputs_.begin(), array.inputs_.end(), std::back_inserter(arrays_->released));
    array.inputs_.clear();
    array.state_.store(Array::State::computed, std::memory_order_release);
  }

  RunOptions options_;
  ArraysPool::Use arrays_;
  std::vector<Item>& items_;  // of arrays_
  uint64_t first_place_ = 0;  // place of the first item
};

thread_local const Evaluation::Running* Evaluation::Running::innermost_ = nullptr;

namespace {

// Evaluates arrays of one device. False if another thread is writing to memory that this evaluation has to read.
bool try_evaluate(std::span<const ArrayPointer> arrays, const RunOptions& options) {
  try {
    Evaluation(arrays, options).run();
    return true;
  } catch (const Busy&) {
    return false;
  }
}

void evaluate_together(std::span<const ArrayPointer> arrays, const RunOptions& options) {
  while (!try_evaluate(arrays, options)) {
    options.cancel.check();
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

}  // namespace

void evaluate(std::span<const ArrayPointer> arrays, RunOptions options) {
  if (options.cancel.function == nullptr) options.cancel = Cancel::of_process();
  const auto is_with_first = [&](const ArrayPointer& array) { return array->device() == arrays[0]->device(); };
  if (std::all_of(arrays.begin(), arrays.end(), is_with_first)) return evaluate_together(arrays, options);
  // Arrays of several devices are several graphs.
  std::vector<ArrayPointer> rest(arrays.begin(), arrays.end());
  while (!rest.empty()) {
    const Device* const device = rest.front()->device().get();
    std::vector<ArrayPointer> now, later;
    for (ArrayPointer& array : rest) (array->device().get() == device ? now : later).push_back(std::move(array));
    evaluate_together(now, options);
    rest = std::move(later);
  }
}

}  // namespace ferrule
