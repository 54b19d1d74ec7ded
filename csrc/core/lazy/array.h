// A lazy array: either its bytes are there, or it remembers the op and the arrays that they come from.
#pragma once

#include "core/executor/executable.h"
#include "core/graph/graph.h"
#include "core/threads/mutexes.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace ferrule {

class Array;
using ArrayPointer = std::shared_ptr<Array>;

class Array : public std::enable_shared_from_this<Array> {
 public:
  enum class State : uint8_t { pending, scalar, computed };

  static ArrayPointer computed(TensorType type, std::shared_ptr<Device> device, View view, std::string placement);
  static ArrayPointer scalar(DType dtype, std::shared_ptr<Device> device, fe_scalar value);
  // Records op(inputs); see ops::input_dtypes for `weak`. Shape, dtype, attribute and device errors are thrown here.
  static ArrayPointer record(const ops::Row& op, std::vector<ArrayPointer> inputs, std::span<const bool> weak,
                             const std::vector<ops::NamedAttribute>& given);
  ~Array() = default;
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  const TensorType& type() const { return type_; }
  const std::shared_ptr<Device>& device() const { return device_; }
  State state() const { return state_.load(std::memory_order_acquire); }
  // Of computed arrays.
  TypedView view() const { return {type_, view_}; }
  std::string placement() const;
  // Handles of the host API that name it: such an array is kept when it is computed on the way to another.
  std::atomic<uint32_t> handles{0};

 private:
  friend class Evaluation;
  Array(TensorType type, std::shared_ptr<Device> device, State state)
      : type_(type), device_(std::move(device)), state_(state) {}
  // The pointer to a new array, whose last reference calls let_go().
  static ArrayPointer pointer_to(std::unique_ptr<Array> array);
  static void let_go(Array* array) noexcept;
  static ArrayPointer record_checked(const ops::Row& op, std::vector<ArrayPointer> inputs, ops::Attributes attributes,
                                     TensorType type);
  ArrayPointer viewed(const ops::Row& op, const ops::Attributes& attributes, const TensorType& type) const;
  friend ArrayPointer snapshot(const ArrayPointer& array);

  const TensorType type_;
  const std::shared_ptr<Device> device_;
  std::atomic<State> state_;
  // Written under evaluation_mutex(), before the state becomes computed.
  View view_;
  std::string placement_;
  std::weak_ptr<Storage> snapshot_;  // the last that was made
  fe_scalar scalar_{};
  const ops::Row* op_ = nullptr;
  std::shared_ptr<const ops::Attributes> attributes_;
  std::vector<ArrayPointer> inputs_;
  uint32_t pending_below_ = 0;  // at least as many nodes as its evaluation has to look at
  Array* next_let_go_ = nullptr;
};

// Guards what pending arrays remember.
BriefMutex& evaluation_mutex();

// Computes the arrays. What fails leaves them as they were.
void evaluate(std::span<const ArrayPointer> arrays, Cancel cancel = {});
// The array, or, where the owner of borrowed memory may change it, a copy of what it is now. Copies of equal bytes
// share one storage while somebody holds it. Throws out_of_memory.
ArrayPointer snapshot(const ArrayPointer& array);
// A contiguous copy on another device; the array itself when it lies there.
ArrayPointer to_device(const ArrayPointer& array, const std::shared_ptr<Device>& device);

// Forgets the executables that evaluations left behind, so that devices can be unloaded.
void clear_compile_cache();

}  // namespace ferrule
