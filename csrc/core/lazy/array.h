// A lazy array: it has either its elements, or the op and the arrays that they are computed from.
#pragma once

#include "core/executor/executable.h"
#include "core/graph/graph.h"
#include "core/sync/mutexes.h"
#include "ops/record_call.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace ferrule {

class Array;
using ArrayPointer = std::shared_ptr<Array>;

class Array : public std::enable_shared_from_this<Array> {
 public:
  enum class State : uint8_t { pending, scalar, computed };
  // The contents of a computed array.
  struct Result {
    StridedStorage data;
    std::string placement = {};            // empty: computed; guarded by evaluation_mutex(), like the next
    std::weak_ptr<Storage> snapshot = {};  // the last one made
  };

  static ArrayPointer computed(TensorType type, std::shared_ptr<Device> device, StridedStorage view,
                               std::string placement);
  static ArrayPointer scalar(DType dtype, std::shared_ptr<Device> device, fe_scalar value);
  // Records op(inputs) and returns its outputs. Inputs that are numbers (see ops::record_call) are null. Throws errors
  // of shape, dtype, attributes and device.
  static std::vector<ArrayPointer> record_call(const ops::Row& op, std::vector<ArrayPointer> inputs,
                                               std::span<const ops::OperandNumber> numbers,
                                               const std::vector<ops::NamedAttribute>& given);
  // record_call() for an op with one output.
  static ArrayPointer record(const ops::Row& op, std::vector<ArrayPointer> inputs,
                             std::span<const ops::OperandNumber> numbers,
                             const std::vector<ops::NamedAttribute>& given);
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  const TensorType& type() const { return type_; }
  const std::shared_ptr<Device>& device() const { return device_; }
  State state() const { return state_.load(std::memory_order_acquire); }
  // The array must be computed. Throws if the memory was donated.
  StridedArray strided_array() const;
  // The same; empty if the memory was donated.
  std::optional<StridedArray> strided_array_unless_donated() const;
  // The array must be computed; its memory may have been donated.
  const Strides& strides() const { return result_->data.strides; }
  // The array must be a scalar.
  const fe_scalar& scalar_value() const { return scalar_; }
  bool is_writable() const { return result_->data.storage && result_->data.storage->writable(); }
  std::string placement() const;
  // Handles of the host API. An array with handles is kept when it is computed as an intermediate result.
  std::atomic<uint32_t> handles{0};
  // Reads by pending arrays. An array with readers is kept as well.
  std::atomic<uint32_t> readers{0};
  // Whether the elements may be read through the host pointer without holding the storage.
  std::atomic<bool> is_exposed_to_host{false};

  // Takes the memory of a computed array, for good or until return_storage(), if it has at most `pointers` pointers and
  // its storage at most `holders` references besides its own; else null. A thread that reads the array meanwhile gets
  // the old elements, or the error of strided_array().
  std::shared_ptr<Storage> donate_storage(long pointers, long holders);
  void return_storage(const std::shared_ptr<Storage>& memory);
  bool is_donated() const { return donated_.load(std::memory_order_acquire) != 0; }
  // Whether the thread that donated the array does not exist in this child of a fork.
  bool was_donated_before_fork() const;

 private:
  friend class Evaluation;
  Array(TensorType type, std::shared_ptr<Device> device, State state)
      : type_(type), device_(std::move(device)), state_(state) {}
  // Makes the pointer to a new array.
  static ArrayPointer pointer_to(std::unique_ptr<Array> array);
  // The deleter of array pointers.
  struct DeferredRelease {
    void operator()(Array* array) const noexcept;
  };
  static std::vector<ArrayPointer> record_checked(const ops::Row& op, std::vector<ArrayPointer> inputs,
                                                  ops::RecordedCall call);
  // Whether the call is a slice of this pending array that is recorded as dynamic_slice, with starts as scalars.
  bool becomes_dynamic_slice(const ops::Row& op, const ops::Attributes& attributes) const;
  // Records a slice as dynamic_slice, so that one compiled graph serves all starts.
  static std::vector<ArrayPointer> record_dynamic_slice(ArrayPointer x, const ops::Row& slice,
                                                        const ops::Attributes& attributes);
  // Computes the outputs of a call that does not give the length of the first one, and cuts that to its length.
  static std::vector<ArrayPointer> cut_to_length(const ops::Row& op, const ops::Attributes& attributes,
                                                 std::vector<ArrayPointer> outputs);
  // Makes the outputs of a call that has several.
  static std::vector<ArrayPointer> outputs_of(const ArrayPointer& call, std::vector<TensorType> types);
  static ArrayPointer pending(const ops::Row& op, std::vector<ArrayPointer> inputs,
                              std::shared_ptr<const ops::Attributes> attributes, TensorType type);
  void set_inputs(std::vector<ArrayPointer> inputs) noexcept;
  ArrayPointer viewed(const ops::Row& op, const ops::Attributes& attributes, const TensorType& type) const;
  friend ArrayPointer snapshot(ArrayPointer array);
  friend ArrayPointer copy_of(const ArrayPointer& array);
  // The same, or a copy if the array is a part of a larger one, whose memory it would keep.
  ArrayPointer copy_of(const ArrayPointer& array);

  const TensorType type_;
  const std::shared_ptr<Device> device_;
  std::atomic<State> state_;
  std::unique_ptr<Result> result_;            // written under evaluation_mutex(), before the state becomes computed
  mutable std::atomic<uint32_t> donated_{0};  // 0, or 1 + the fork generation in which it was donated
  fe_scalar scalar_{};
  // A call of an op with several outputs is an array of its own, which is never computed. It has the types of its
  // outputs and weak pointers to them, and is the only input of each.
  struct Outputs {
    std::vector<TensorType> types;
    std::vector<std::weak_ptr<Array>> arrays;
  };
  const ops::Row* op_ = nullptr;  // null: the array is an output of such a call
  std::shared_ptr<const ops::Attributes> attributes_;
  std::vector<ArrayPointer> inputs_;
  std::unique_ptr<Outputs> outputs_;
  uint32_t output_ = 0;         // output number in the call
  uint32_t pending_below_ = 0;  // upper bound of the nodes that its evaluation visits
  Array* next_let_go_ = nullptr;
  uint64_t place_ = 0;  // position among collected arrays; guarded by evaluation_mutex()
};

// Guards the ops and inputs of pending arrays.
BriefMutex& evaluation_mutex();

// Computes the arrays. They are unchanged if that fails.
void evaluate(std::span<const ArrayPointer> arrays, RunOptions options = {});
// The array, or a copy of its present elements if the owner of borrowed memory may change them. Copies of equal bytes
// share one storage while it is in use. Throws out_of_memory. By value, so that donate_storage() counts the caller's
// pointer.
ArrayPointer snapshot(ArrayPointer array);
// A contiguous copy on another device; the array itself if it is there already.
ArrayPointer to_device(const ArrayPointer& array, const std::shared_ptr<Device>& device);

// Releases the executables that evaluations cached, so that devices can be unloaded.
void clear_compile_cache();

}  // namespace ferrule
