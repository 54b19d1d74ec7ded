// Computing pending arrays: the graph below them, its executable from a cache, and the results put in place.
#include "core/executor/executable_cache.h"
#include "core/key.h"
#include "core/lazy/array.h"
#include "core/registry/device.h"
#include "core/threads/immortal.h"
#include "core/threads/mutexes.h"
#include "ops/table.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <unordered_map>

namespace ferrule {
namespace {

using CompileCache = ExecutableCache<std::shared_ptr<Executable>>;

// Executables of evaluations, by the structure of what was evaluated.
struct EvaluationCache : CompileCache {
  EvaluationCache() : CompileCache(256) {}
};
CompileCache& compile_cache() { return Immortal<EvaluationCache>::get(); }

}  // namespace

void clear_compile_cache() { compile_cache().clear(); }

// An array is being computed on another thread, into memory that it reads.
class Busy {};

class Evaluation : private Donor {
 public:
  Evaluation(std::span<const ArrayPointer> arrays, RunOptions options) : options_(options) {
    const std::scoped_lock lock(evaluation_mutex());
    for (const ArrayPointer& array : arrays)
      if (array->state() != Array::State::computed) collect(array);
    collect_other_outputs();
    std::vector<bool> asked(items_.size());
    for (const ArrayPointer& array : arrays)
      if (const auto found = numbers_.find(array.get()); found != numbers_.end()) asked[found->second] = true;
    for (std::size_t i = 0; i < items_.size(); ++i)
      if (asked[i] || (states_[i] == Array::State::pending && items_[i].array->handles > 0))
        outputs_.push_back(static_cast<uint32_t>(i));
    std::size_t inputs = 0;
    for (const uint32_t output : outputs_) inputs += items_[output].array->inputs_.size();
    released.reserve(inputs);
  }

  void run() {
    if (outputs_.empty()) return;
    Device* const device = items_.back().array->device().get();
    std::string key = key_of(*device);
    std::shared_ptr<Executable> executable = compile_cache().find(key);
    if (executable) {
      ++execution_counters().cache_hits;
    } else {
      executable = build_executable(graph(), device->shared_from_this(), Fallback::warn, true);
      executable = compile_cache().insert(std::move(key), std::move(executable));
    }
    options_.donor = this;
    std::vector<TypedView> results = executable->compute(inputs_, scalars_, {}, options_);
    const std::scoped_lock lock(evaluation_mutex());
    for (std::size_t i = 0; i < outputs_.size(); ++i) publish(*items_[outputs_[i]].array, results[i]);
  }

  // What the results came from; to be let go of outside of all locks.
  std::vector<ArrayPointer> released;

 private:
  struct Item {
    ArrayPointer array;
    std::vector<uint32_t> inputs;  // items
  };

  // Below `root`, in an order in which inputs come first.
  void collect(const ArrayPointer& root) {
    struct Frame {
      ArrayPointer array;
      std::size_t next = 0;
    };
    std::vector<Frame> stack;
    if (!numbers_.contains(root.get())) stack.push_back({root});
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const bool pending = frame.array->state_ == Array::State::pending;
      if (pending && frame.next < frame.array->inputs_.size()) {
        ArrayPointer input = frame.array->inputs_[frame.next++];
        if (!numbers_.contains(input.get())) stack.push_back({std::move(input)});
        continue;
      }
      if (numbers_.emplace(frame.array.get(), static_cast<uint32_t>(items_.size())).second) {
        Item item{frame.array, {}};
        if (pending)
          for (const ArrayPointer& input : frame.array->inputs_) item.inputs.push_back(numbers_.at(input.get()));
        if (frame.array->state_ == Array::State::computed) {
          if (frame.array->is_given_away() && frame.array->handles == 0) throw Busy();
          inputs_.push_back(frame.array->view());
          input_items_.push_back(static_cast<uint32_t>(items_.size()));
        }
        if (frame.array->state_ == Array::State::scalar) scalars_.push_back(frame.array->scalar_);
        states_.push_back(frame.array->state_);
        items_.push_back(std::move(item));
      }
      stack.pop_back();
    }
  }

  // What somebody holds of the other outputs of a call is computed with it, and not by computing the call again.
  void collect_other_outputs() {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (states_[i] != Array::State::pending || !items_[i].array->outputs_) continue;
      const ArrayPointer call = items_[i].array;
      for (const std::weak_ptr<Array>& output : call->outputs_->arrays)
        if (const ArrayPointer array = output.lock();
            array && array->handles > 0 && array->state_ == Array::State::pending)
          collect(array);
    }
  }

  // The memory of an array that nobody can reach but by the one node that reads it, whose result is wanted.
  std::shared_ptr<Storage> take(std::size_t input, long holders) override {
    const uint32_t item = input_items_[input];
    Array& array = *items_[item].array;
    if (array.handles > 0) return nullptr;
    const auto reads = [&](uint32_t output) {
      return std::count(items_[output].inputs.begin(), items_[output].inputs.end(), item);
    };
    long wanted = 0, all = 0;
    for (uint32_t i = 0; i < items_.size(); ++i) all += reads(i);
    for (const uint32_t output : outputs_) wanted += reads(output);
    if (all != 1 || wanted != 1) return nullptr;
    given_away_.reserve(given_away_.size() + 1);
    std::shared_ptr<Storage> memory = array.give_away(2, holders);  // this evaluation and the node
    if (memory) given_away_.emplace_back(items_[item].array, memory);
    return memory;
  }

  // An update may be done twice, and nothing else reads what it updates.
  void failed(bool) noexcept override {
    for (const auto& [array, memory] : given_away_) array->give_back(memory);
  }

  std::string key_of(const Device& device) const {
    Key key(items_.size() * 64);
    key.add(&device);
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const Array& array = *items_[i].array;
      key.add(states_[i]);
      key.add(array.type());
      if (states_[i] == Array::State::computed) key.add(array.view_.strides);
      if (states_[i] != Array::State::pending) continue;
      key.add(array.op_);
      key.add(items_[i].inputs);
      if (array.op_)
        key.add(*array.attributes_);
      else
        key.add(array.output_);
    }
    key.add(outputs_);
    return key.take();
  }

  Graph graph() const {
    Graph graph;
    std::vector<ValueId> values;
    values.reserve(items_.size());
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const Array& array = *items_[i].array;
      if (states_[i] == Array::State::computed) {
        values.push_back(graph.add_input(fmt::format("x{}", graph.inputs.size()), array.type(), array.view_.strides));
      } else if (states_[i] == Array::State::scalar) {
        values.push_back(graph.add_scalar(array.type().dtype, array.scalar_));
      } else if (!array.op_) {
        // The values of a call's outputs follow one another.
        values.push_back(values[items_[i].inputs[0]] + array.output_);
      } else {
        Node node;
        node.op = array.op_;
        node.attributes = array.attributes_;
        for (uint32_t input : items_[i].inputs) node.inputs.push_back(values[input]);
        const TensorType type[] = {array.type()};
        const std::span<const TensorType> types =
            array.outputs_ ? std::span<const TensorType>(array.outputs_->types) : std::span<const TensorType>(type);
        values.push_back(graph.add_checked(std::move(node), types).front());
      }
    }
    for (uint32_t output : outputs_) graph.outputs.push_back(values[output]);
    return graph;
  }

  // A result that is not wanted stays with the caller, who lets go of it outside of all locks. Nothing here may fail:
  // an array that has half of its result cannot be used.
  void publish(Array& array, TypedView& result) noexcept {
    if (array.state_ == Array::State::computed) return;  // another thread was first
    array.view_ = std::move(result.view);
    std::move(array.inputs_.begin(), array.inputs_.end(), std::back_inserter(released));
    array.inputs_.clear();
    array.state_.store(Array::State::computed, std::memory_order_release);
  }

  RunOptions options_;
  std::unordered_map<const Array*, uint32_t> numbers_;
  std::vector<Item> items_;
  std::vector<Array::State> states_;  // as they were when collected
  std::vector<uint32_t> outputs_;
  std::vector<TypedView> inputs_;
  std::vector<uint32_t> input_items_;
  std::vector<fe_scalar> scalars_;
  std::vector<std::pair<ArrayPointer, std::shared_ptr<Storage>>> given_away_;
};

namespace {

// False when an array is just being computed on another thread, from what this one would have to read.
bool evaluated(const std::vector<ArrayPointer>& arrays, RunOptions options) {
  try {
    Evaluation(arrays, options).run();
    return true;
  } catch (const Busy&) {
    return false;
  }
}

}  // namespace

void evaluate(std::span<const ArrayPointer> arrays, RunOptions options) {
  // Arrays of several devices are several graphs.
  std::vector<ArrayPointer> rest(arrays.begin(), arrays.end());
  while (!rest.empty()) {
    const Device* const device = rest.front()->device().get();
    std::vector<ArrayPointer> now, later;
    for (ArrayPointer& array : rest) (array->device().get() == device ? now : later).push_back(std::move(array));
    while (!evaluated(now, options)) std::this_thread::sleep_for(std::chrono::microseconds(100));
    rest = std::move(later);
  }
}

}  // namespace ferrule
