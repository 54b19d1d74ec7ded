// The handles of ferrule.h, and what every function of it begins with.
#pragma once

#include "core/error.h"
#include "core/graph/graph.h"
#include "core/lazy/array.h"
#include "core/registry/registry.h"

#include <ferrule/ferrule.h>

#include <atomic>
#include <string>

struct fe_string {
  std::string text;
};
struct fe_backend_ref {
  std::shared_ptr<ferrule::Backend> backend;
};
struct fe_device {
  std::shared_ptr<ferrule::Device> device;
};
struct fe_array {
  explicit fe_array(ferrule::ArrayPointer pointer) : array(std::move(pointer)) { ++array->handles; }
  ~fe_array() { --array->handles; }
  std::atomic<uint32_t> references{1};
  ferrule::ArrayPointer array;
};
struct fe_graph {
  ferrule::Graph graph;
  std::shared_ptr<ferrule::Device> device;
  std::vector<std::shared_ptr<ferrule::Device>> others;  // of nodes that asked for one
};
struct fe_compiled {
  std::shared_ptr<ferrule::Executable> executable;
  std::shared_ptr<ferrule::Device> device;
  std::vector<fe_scalar> scalars;  // defaults
  std::vector<ferrule::DType> scalar_dtypes;
};

namespace ferrule {

// `what` is an argument's name.
template <class T>
T& given(T* pointer, const char* function, const char* what) {
  if (!pointer) fail_argument("{}: {} is NULL", function, what);
  return *pointer;
}

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

// A new handle for the caller.
template <class Handle, class Part>
void give(const char* function, Handle** out, Part&& part) {
  Handle*& place = given(out, function, "out");  // looked at first: an assignment's right side comes before its left
  place = new Handle{std::forward<Part>(part)};
}

inline fe_error* give_text(const char* function, fe_string** out, std::string text) {
  give(function, out, std::move(text));
  return nullptr;
}

}  // namespace ferrule
