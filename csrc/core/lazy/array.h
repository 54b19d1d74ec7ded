// A lazy array: either its bytes are there, or it remembers the op and the arrays that they come from.
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
  // What a computed array has.
  struct Result {
    StridedStorage data;
    std::string placement = {};            // empty: computed; guarded by evaluation_mutex(), as is the next
    std::weak_ptr<Storage> snapshot = {};  // the last that was made
  };

  static ArrayPointer computed(TensorType type, std::shared_ptr<Device> device, StridedStorage view,
                               std::string placement);
  static ArrayPointer scalar(DType dtype, std::shared_ptr<Device> device, fe_scalar value);
  // Records op(inputs), and gives its outputs; null where ops::record_call has a number. Shape, dtype, attribute and
  // device errors are thrown here.
  static std::vector<ArrayPointer> record_call(const ops::Row& op, std::vector<ArrayPointer> inputs,
                                               std::span<const ops::OperandNumber> numbers,
                                               const std::vector<ops::NamedAttribute>& given);
  // The same for an op with one output.
  static ArrayPointer record(const ops::Row& op, std::vector<ArrayPointer> inputs,
                             std::span<const ops::OperandNumber> numbers,
                             const std::vector<ops::NamedAttribute>& given);
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  const TensorType& type() const { return type_; }
  const std::shared_ptr<Device>& device() const { return device_; }
  State state() const { return state_.load(std::memory_order_acquire); }
  // Only for a computed array. Throws if its memory was given away.
  StridedArray strided_array() const;
  // The same, or nothing if its memory was given away.
  std::optional<StridedArray> strided_array_unless_given_away() const;
  // Of a computed array, also when its memory was given away.
  const Strides& strides() const { return result_->data.strides; }
  bool is_writable() const { return result_->data.storage && result_->data.storage->writable(); }
  std::string placement() const;
  // Handles of the host API that name it: such an array is kept when it is computed on the way to another.
  std::atomic<uint32_t> handles{0};
  // How often pending arrays read it: such an array, too, is kept.
  std::atomic<uint32_t> readers{0};
  // Whether somebody may look at the elements without holding the storage, by the host's pointer.
  std::atomic<bool> is_looked_at{false};

  // The memory of a computed array, for good or until it is given back, where no more than `pointers` name the array
  // and no storage but `holders` and its own is of that memory; else null. What reads the array meanwhile on another
  // thread has its elements as they were, or the error of strided_array().
  std::shared_ptr<Storage> give_away(long pointers, long holders);
  void give_back(const std::shared_ptr<Storage>& memory);
  bool is_given_away() const { return given_away_.load(std::memory_order_acquire) != 0; }
  // By a thread that there is not in this child of a fork.
  bool was_given_away_before_fork() const;

 private:
  friend class Evaluation;
  Array(TensorType type, std::shared_ptr<Device> device, State state)
      : type_(type), device_(std::move(device)), state_(state) {}
  // The pointer to a new array.
  static ArrayPointer pointer_to(std::unique_ptr<Array> array);
  // The last reference calls it.
  struct LetGo {
    void operator()(Array* array) const noexcept;
  };
  static std::vector<ArrayPointer> record_checked(const ops::Row& op, std::vector<ArrayPointer> inputs,
                                                  ops::RecordedCall call);
  // Whether the call is a slice, of what is not computed yet, that may begin anywhere.
  bool is_cut_anywhere(const ops::Row& op, const ops::Attributes& attributes) const;
  // A slice as dynamic_slice: its starts are values, and no fact that a graph is compiled for.
  static std::vector<ArrayPointer> record_moving(ArrayPointer x, const ops::Row& slice,
                                                 const ops::Attributes& attributes);
  // Computes the outputs of a call that does not say how long the first one is, and cuts that to its length.
  static std::vector<ArrayPointer> cut_to_length(const ops::Row& op, const ops::Attributes& attributes,
                                                 std::vector<ArrayPointer> outputs);
  // The outputs of a call that an array stands for.
  static std::vector<ArrayPointer> outputs_of(const ArrayPointer& call, std::vector<TensorType> types);
  static ArrayPointer pending(const ops::Row& op, std::vector<ArrayPointer> inputs,
                              std::shared_ptr<const ops::Attributes> attributes, TensorType type);
  void set_inputs(std::vector<ArrayPointer> inputs) noexcept;
  ArrayPointer viewed(const ops::Row& op, const ops::Attributes& attributes, const TensorType& type) const;
  friend ArrayPointer snapshot(ArrayPointer array);

  const TensorType type_;
  const std::shared_ptr<Device> device_;
  std::atomic<State> state_;
  std::unique_ptr<Result> result_;               // written under evaluation_mutex(), before the state becomes computed
  mutable std::atomic<uint32_t> given_away_{0};  // else 1 + the generation of the fork in which it was
  fe_scalar scalar_{};
  // The call of an op with several outputs is an array of its own, which is never computed: it has the types of the
  // outputs and knows them, and it is the only input of each.
  struct Outputs {
    std::vector<TensorType> types;
    std::vector<std::weak_ptr<Array>> arrays;
  };
  const ops::Row* op_ = nullptr;  // null: the array is an output of such a call
  std::shared_ptr<const ops::Attributes> attributes_;
  std::vector<ArrayPointer> inputs_;
  std::unique_ptr<Outputs> outputs_;
  uint32_t output_ = 0;         // which one it is
  uint32_t pending_below_ = 0;  // at least as many nodes as its evaluation has to look at
  Array* next_let_go_ = nullptr;
  uint64_t place_ = 0;  // among what evaluations looked at; guarded by evaluation_mutex()
};

// Guards what pending arrays remember.
BriefMutex& evaluation_mutex();

// Computes the arrays. What fails leaves them as they were.
void evaluate(std::span<const ArrayPointer> arrays, RunOptions options = {});
// The array, or, where the owner of borrowed memory may change it, a copy of what it is now. Copies of equal bytes
// share one storage while somebody holds it. Throws out_of_memory. By value: the caller's pointer is counted by
// give_away() before the array is looked at.
ArrayPointer snapshot(ArrayPointer array);
// A contiguous copy on another device; the array itself when it lies there.
ArrayPointer to_device(const ArrayPointer& array, const std::shared_ptr<Device>& device);

// Forgets the executables that evaluations left behind, so that devices can be unloaded.
void clear_compile_cache();

}  // namespace ferrule
