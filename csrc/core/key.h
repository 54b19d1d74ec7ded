// Bytes by which things are told apart: equal sequences of parts give equal keys, and unequal ones unequal keys.
#pragma once

#include "ops/attributes.h"
#include "ops/tensor_type.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace ferrule {

class Key {
 public:
  explicit Key(std::size_t expected_bytes = 0) { bytes_.reserve(expected_bytes); }
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void add(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void add(const void* thing) { add(reinterpret_cast<uintptr_t>(thing)); }
  void add(std::string_view text) {
    add(text.size());
    bytes_ += text;
  }
  template <class T>
  void add(std::span<const T> values) {
    add(values.size());
    for (const T value : values) add(value);
  }
  template <class T>
  void add(const std::vector<T>& values) {
    add(std::span<const T>(values));
  }
  void add(const Dims& dims) { add(std::span<const int64_t>(dims)); }
  void add(const TensorType& type) {
    add(type.dtype);
    add(type.shape);
  }
  void add(const std::vector<ops::Attribute>& attributes) {
    add(attributes.size());
    for (const ops::Attribute& attribute : attributes) add(ops::to_string(attribute));
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace ferrule
