// The handles of ferrule.h, and helpers of its functions.
#pragma once

#include "core/error.h"
#include "core/graph/graph.h"
#include "core/lazy/array.h"
#include "core/registry/registry.h"
#include "core/struct_size.h"
#include "core/sync/mutexes.h"

#include <ferrule/ferrule.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

struct fe_string {
  std::string text;
};
struct fe_backend_ref {
  explicit fe_backend_ref(std::shared_ptr<ferrule::Backend> referred)
      : backend(std::move(referred)), path(backend->file()) {}
  const std::shared_ptr<ferrule::Backend> backend;
  const std::string path;
  mutable ferrule::BriefMutex mutex;   // guards the members below
  mutable std::shared_ptr<void> hold;  // set when a proc of the backend was requested
  mutable std::optional<std::vector<std::pair<std::string, std::string>>> known_features;  // set once

  // The features that the backend reports. They are asked for once: the module owns its own.
  const std::vector<std::pair<std::string, std::string>>& features() const;
};
struct fe_device {
  std::shared_ptr<ferrule::Device> device;
};
struct fe_array {
  explicit fe_array(ferrule::ArrayPointer pointer, uint64_t max_cut = UINT64_MAX)
      : array(std::move(pointer)), max_cut_bytes(max_cut) {
    ++array->handles;
  }
  ~fe_array() { --array->handles; }
  std::atomic<uint32_t> references{1};
  const ferrule::ArrayPointer array;
  const uint64_t max_cut_bytes;  // limit for arrays cut from it, from fe_buffer_from_host_ptr

  // Description of what it was donated to; empty if it was not.
  std::string donated_to() const;
  bool is_donated() const { return is_donated_.load(std::memory_order_acquire); }
  // The description is "a call" if there is no memory for it.
  void donate(const char* to, const char* how) noexcept;

 private:
  mutable ferrule::BriefMutex mutex_;
  std::atomic<bool> is_donated_{false};
  std::unique_ptr<const std::string> donated_to_;  // null also if there was no memory for it
};
// Thread-safe: all recording and reading goes through record() and read().
struct fe_graph {
  explicit fe_graph(std::shared_ptr<ferrule::Device> home) : device(std::move(home)) {}
  const std::shared_ptr<ferrule::Device> device;

  template <class Function>
  decltype(auto) record(Function function) {
    const std::scoped_lock ordered(recording_);
    const std::scoped_lock whole(changing_);  // the child of a fork must not find half a node
    return function(graph_, others_);
  }
  template <class Function>
  decltype(auto) read(Function function) const {
    const std::scoped_lock ordered(recording_);
    return function(std::as_const(graph_), std::as_const(others_));
  }

 private:
  // Held while the graph is written or read, which takes long for a large one. Slower operations, such as compiling and
  // computing, work on a copy without it.
  mutable ferrule::LongMutex recording_;
  ferrule::BriefMutex changing_;
  ferrule::Graph graph_;
  std::vector<std::shared_ptr<ferrule::Device>> others_;  // devices that nodes requested
};
struct fe_compiled {
  struct Parts {
    std::shared_ptr<ferrule::Executable> executable;
    std::shared_ptr<ferrule::Device> device;
    std::vector<fe_dtype> scalar_dtypes;
    std::vector<fe_scalar> scalars;  // defaults
  };
  explicit fe_compiled(std::shared_ptr<const Parts> compiled, std::shared_ptr<void> with = nullptr)
      : parts(std::move(compiled)), context(std::move(with)) {}
  std::atomic<uint32_t> references{1};
  const std::shared_ptr<const Parts> parts;
  const std::shared_ptr<void> context;  // owner of the caller's context, for one found in fe_calls
};

namespace ferrule {

// Throws if an argument is NULL; `what` is its name.
template <class T>
T& given(T* pointer, const char* function, const char* what) {
  if (!pointer) fail_argument("{}: {} is NULL", function, what);
  return *pointer;
}

// The array of a handle. Throws if it was donated.
const ArrayPointer& array_of(const fe_array* handle, const char* function, const char* what);

inline Shape shape_from(const char* function, int32_t rank, const int64_t* sizes) {
  if (rank < 0 || rank > FE_MAX_RANK)
    fail_argument("{}: {} dimensions; an array has 0 to {}", function, rank, FE_MAX_RANK);
  if (rank > 0) given(sizes, function, "shape");
  const Shape shape(std::span(sizes, static_cast<std::size_t>(rank)));
  element_count(shape);  // throws
  return shape;
}

inline DType dtype_from(const char* function, fe_dtype dtype) {
  const DTypeRow* const row = find_dtype(dtype);
  if (!row) fail_argument("{}: there is no dtype with the id {}", function, dtype);
  return row->dtype;
}

// Stores a new handle for the caller.
template <class Handle, class Part>
void give(const char* function, Handle** out, Part&& part) {
  Handle*& place = given(out, function, "out");  // checked first: an assignment evaluates its right side first
  place = new Handle{std::forward<Part>(part)};
}

inline fe_array_info info_of(const TensorType& type, const Strides& strides) {
  fe_array_info info{};
  info.dtype = static_cast<fe_dtype>(type.dtype);
  info.rank = type.shape.rank();
  std::copy(type.shape.begin(), type.shape.end(), info.shape);
  std::copy(strides.begin(), strides.end(), info.strides);
  info.nbytes = byte_count(type);
  return info;
}

inline fe_error* give_text(const char* function, fe_string** out, std::string text) {
  give(function, out, std::move(text));
  return nullptr;
}

}  // namespace ferrule
