// Keys made of bytes: equal sequences of parts give equal keys, and different sequences give different keys.
#pragma once

#include "ops/attributes.h"
#include "base/tensor_type.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace ferrule {

class Key {
 public:
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
  std::string_view bytes() const { return {many_.empty() ? few_.data() : many_.data(), used_}; }
  // Empties the key and keeps its memory.
  void clear() noexcept { used_ = 0; }

 private:
  char* place_for(std::size_t size) {
    const std::size_t end = used_ + size;
    if (end > few_.size() && end > many_.size()) {
      const bool was_small = many_.empty();
      many_.resize(2 * end);
      if (was_small) std::memcpy(many_.data(), few_.data(), used_);
    }
    char* const place = (many_.empty() ? few_.data() : many_.data()) + used_;
    used_ = end;
    return place;
  }

  std::array<char, 240> few_;  // holds short keys without an allocation
  std::vector<char> many_;     // replaces few_ once a key was longer
  std::size_t used_ = 0;
};

}  // namespace ferrule
