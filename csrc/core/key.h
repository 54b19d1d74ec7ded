// Bytes by which things are told apart: equal sequences of parts give equal keys, and unequal ones unequal keys.
#pragma once

#include "ops/attributes.h"
#include "ops/tensor_type.h"

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace ferrule {

class Key {
 public:
  explicit Key(std::size_t expected_bytes = 0) : bytes_(expected_bytes, '\0') {}
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void add(T value) {
    std::memcpy(place_for(sizeof value), &value, sizeof value);
  }
  void add(const void* thing) { add(reinterpret_cast<uintptr_t>(thing)); }
  void add(std::string_view text) { add(std::span<const char>(text)); }
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void add(std::span<const T> values) {
    add(values.size());
    if (!values.empty()) std::memcpy(place_for(values.size_bytes()), values.data(), values.size_bytes());
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
  void add(const ops::Attributes& attributes) {
    add(attributes.size());
    for (const ops::Attribute& attribute : attributes) {
      add(attribute.index());
      std::visit([this](const auto& value) { add(value); }, attribute);
    }
  }
  std::string_view bytes() const { return {bytes_.data(), used_}; }
  std::string take() {
    bytes_.resize(used_);
    return std::move(bytes_);
  }
  // Keeps its memory.
  void clear() noexcept { used_ = 0; }

 private:
  char* place_for(std::size_t size) {
    if (size > bytes_.size() - used_) bytes_.resize(2 * bytes_.size() + size);
    char* const place = bytes_.data() + used_;
    used_ += size;
    return place;
  }

  std::string bytes_;  // of which some are used
  std::size_t used_ = 0;
};

}  // namespace ferrule
