// Computing pending arrays: the graph below them, its executable from a cache, and the results put in place.
#include "core/key.h"
#include "core/lazy/array.h"
#include "core/registry/device.h"
#include "core/threads/immortal.h"
#include "core/threads/mutexes.h"
#include "ops/table.h"

#include <list>
#include <unordered_map>

namespace ferrule {
namespace {

// Executables by the structure of what was computed; the least recently used go first.
class CompileCache {
 public:
  static constexpr std::size_t capacity = 256;
  std::shared_ptr<Executable> find(const std::string& key) {
    const std::scoped_lock lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return nullptr;
    order_.splice(order_.begin(), order_, found->second);
    return found->second->second;
  }
  void insert(const std::string& key, std::shared_ptr<Executable> executable) {
    decltype(order_) added, gone;
    added.emplace_front(key, std::move(executable));
    const std::scoped_lock lock(mutex_);
    if (!entries_.emplace(key, added.begin()).second) return;
    order_.splice(order_.begin(), added);
    if (order_.size() <= capacity) return;
    entries_.erase(order_.back().first);
    gone.splice(gone.begin(), order_, std::prev(order_.end()));
  }
  void clear() {
    decltype(order_) gone;
    const std::scoped_lock lock(mutex_);
    entries_.clear();
    gone.swap(order_);
  }

 private:
  BriefMutex mutex_;
  std::list<std::pair<std::string, std::shared_ptr<Executable>>> order_;
  std::unordered_map<std::string, decltype(order_)::iterator> entries_;
};

CompileCache& compile_cache() { return Immortal<CompileCache>::get(); }

}  // namespace

void clear_compile_cache() { compile_cache().clear(); }

class Evaluation {
 public:
  Evaluation(std::span<const ArrayPointer> arrays, Cancel cancel) : cancel_(cancel) {
    const std::scoped_lock lock(evaluation_mutex());
    for (const ArrayPointer& array : arrays)
      if (array->state() != Array::State::computed) collect(array);
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
      compile_cache().insert(key, executable);
    }
    std::vector<TypedView> results = executable->compute(inputs_, scalars_, {}, cancel_);
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
        if (frame.array->state_ == Array::State::computed) inputs_.push_back(frame.array->view());
        if (frame.array->state_ == Array::State::scalar) scalars_.push_back(frame.array->scalar_);
        states_.push_back(frame.array->state_);
        items_.push_back(std::move(item));
      }
      stack.pop_back();
    }
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
      key.add(*array.attributes_);
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
      } else {
        Node node;
        node.op = array.op_;
        node.attributes = array.attributes_;
        for (uint32_t input : items_[i].inputs) node.inputs.push_back(values[input]);
        const TensorType type[] = {array.type()};
        values.push_back(graph.add_checked(std::move(node), type).front());
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

  Cancel cancel_;
  std::unordered_map<const Array*, uint32_t> numbers_;
  std::vector<Item> items_;
  std::vector<Array::State> states_;  // as they were when collected
  std::vector<uint32_t> outputs_;
  std::vector<TypedView> inputs_;
  std::vector<fe_scalar> scalars_;
};

void evaluate(std::span<const ArrayPointer> arrays, Cancel cancel) {
  // Arrays of several devices are several graphs.
  std::vector<ArrayPointer> rest(arrays.begin(), arrays.end());
  while (!rest.empty()) {
    const Device* const device = rest.front()->device().get();
    std::vector<ArrayPointer> now, later;
    for (ArrayPointer& array : rest) (array->device().get() == device ? now : later).push_back(std::move(array));
    Evaluation evaluation(now, cancel);
    evaluation.run();
    rest = std::move(later);
  }
}

}  // namespace ferrule
