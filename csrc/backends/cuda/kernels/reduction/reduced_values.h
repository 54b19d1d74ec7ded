// The values that reductions combine. An op converts an element to a Near, which is valid within a leaf (reduce.h); a
// Near is widened to a Value, and a Value is stored as the result.
#pragma once

#include "kernels/device.h"
#include "kernels/reduction/reduce.h"

namespace ferrule::cuda {

// The integers that are compared in place of items: the greatest one stands for NaN, the least one for no element.
template <bool kIsWide>
struct KeyOf {
  using Type = int32_t;
  static constexpr Type least = INT32_MIN, greatest = INT32_MAX, sign = INT32_MIN;
};
template <>
struct KeyOf<true> {
  using Type = int64_t;
  static constexpr Type least = INT64_MIN, greatest = INT64_MAX, sign = INT64_MIN;
};

struct Bool {
  uint8_t byte;
};

__device__ __forceinline__ int32_t ordered_bits(float x) {
  const auto bits = bits_as<int32_t>(x);
  return bits ^ (bits >> 31 & INT32_MAX);
}
__device__ __forceinline__ int64_t ordered_bits(double x) {
  const auto bits = bits_as<int64_t>(x);
  return bits ^ (bits >> 63 & INT64_MAX);
}

// The order of items as that of keys, and back. Floating-point numbers are ordered by their bits: -0 is less than 0.
template <class Item>
struct Integers {
  using Key = KeyOf<(sizeof(Item) > 4)>;
  static constexpr bool has_nan = false;
  static constexpr bool is_flipped = Item(-1) > Item(0) && sizeof(Item) >= 4;  // unsigned, as wide as the key
  static __device__ __forceinline__ typename Key::Type key(Item x) {
    return is_flipped ? static_cast<typename Key::Type>(x) ^ Key::sign : static_cast<typename Key::Type>(x);
  }
  static __device__ __forceinline__ Item item(typename Key::Type key) {
    return static_cast<Item>(is_flipped ? key ^ Key::sign : key);
  }
};
template <class Item>
struct Floats {
  using Key = KeyOf<false>;
  static constexpr bool has_nan = true;
  static __device__ __forceinline__ float number(Item x) { return to_float(x); }
  static __device__ __forceinline__ Item item(int32_t key) {
    return from_float<Item>(bits_as<float>(key ^ (key >> 31 & INT32_MAX)));
  }
};
template <class Item>
struct Order : Integers<Item> {};
template <>
struct Order<Half> : Floats<Half> {};
template <>
struct Order<BFloat16> : Floats<BFloat16> {};
template <>
struct Order<float> : Floats<float> {};
template <>
struct Order<double> {
  using Key = KeyOf<true>;
  static constexpr bool has_nan = true;
  static __device__ __forceinline__ double number(double x) { return x; }
  static __device__ __forceinline__ double item(int64_t key) { return bits_as<double>(key ^ (key >> 63 & INT64_MAX)); }
};
template <>
struct Order<Bool> {
  using Key = KeyOf<false>;
  static constexpr bool has_nan = false;
  static __device__ __forceinline__ int32_t key(Bool x) { return x.byte != 0 ? 1 : 0; }
  static __device__ __forceinline__ Bool item(int32_t key) { return {static_cast<uint8_t>(key > 0 ? 1 : 0)}; }
};

// The key whose maximum is wanted: of max and any if the mask is 0, of min and all if all of its bits are set. NaN is
// the greatest in both. The places of equal zeros are compared, so kJoinsZeros makes -0 a 0.
template <class Item, bool kJoinsZeros>
__device__ __forceinline__ typename Order<Item>::Key::Type key_of(Item item, typename Order<Item>::Key::Type mask) {
  if constexpr (Order<Item>::has_nan) {
    auto x = Order<Item>::number(item);
    if (kJoinsZeros) x = x + decltype(x)(0);
    const typename Order<Item>::Key::Type key = ordered_bits(x) ^ mask;  // before the condition: no branch
    return x != x ? Order<Item>::Key::greatest : key;
  } else {
    return Order<Item>::key(item) ^ mask;
  }
}

// ---- the ops
template <class Item_>
struct Accumulated {  // floating-point numbers in float or double, integers modulo 2^64
  using Type = float;
  static __device__ __forceinline__ float value(Item_ x) { return to_float(x); }
  static __device__ __forceinline__ Item_ item(float x) { return from_float<Item_>(x); }
};
template <class T>
struct AccumulatedAsIs {
  using Type = T;
  static __device__ __forceinline__ T value(T x) { return x; }
  static __device__ __forceinline__ T item(T x) { return x; }
};
template <>
struct Accumulated<double> : AccumulatedAsIs<double> {};
template <>
struct Accumulated<uint64_t> : AccumulatedAsIs<uint64_t> {};

template <class Item_, bool kIsProduct>
struct Adding {
  using Item = Item_;
  using Value = typename Accumulated<Item>::Type;
  using Near = Value;
  explicit __device__ Adding(uint32_t /*is_reversed*/) {}
  static __device__ __forceinline__ Near no_element() { return kIsProduct ? Near(1) : Near(0); }
  static __device__ __forceinline__ Value nothing() { return no_element(); }
  static __device__ __forceinline__ Value combined(Value a, Value b) { return kIsProduct ? a * b : a + b; }
  static __device__ __forceinline__ Near near_of(Item x, uint32_t /*place*/) { return Accumulated<Item>::value(x); }
  static __device__ __forceinline__ Value widened(Near near, uint64_t /*first*/) { return near; }
  static __device__ __forceinline__ void store(Address to, uint64_t index, Value value) {
    pointer<Item>(to)[index] = Accumulated<Item>::item(value);
  }
};
template <class Item>
using Sum = Adding<Item, false>;
template <class Item>
using Product = Adding<Item, true>;

// The greatest or the least item.
template <class Item_>
struct Extreme {
  using Item = Item_;
  using Key = typename Order<Item>::Key;
  using Value = typename Key::Type;
  using Near = Value;
  Value mask;
  explicit __device__ Extreme(uint32_t is_reversed) : mask(is_reversed != 0 ? -1 : 0) {}
  static __device__ __forceinline__ Near no_element() { return Key::least; }
  static __device__ __forceinline__ Value nothing() { return Key::least; }
  static __device__ __forceinline__ Value combined(Value a, Value b) { return a > b ? a : b; }
  __device__ __forceinline__ Near near_of(Item x, uint32_t /*place*/) const { return key_of<Item, false>(x, mask); }
  static __device__ __forceinline__ Value widened(Near near, uint64_t /*first*/) { return near; }
  __device__ __forceinline__ void store(Address to, uint64_t index, Value value) const {
    pointer<Item>(to)[index] = Order<Item>::item(value ^ mask);
  }
};

// The place of the greatest or the least item: of equal ones, the first.
template <class Key, class Place>
struct Placed {
  Key key;
  Place place;
};
template <class Item_>
struct ExtremeIndex {
  using Item = Item_;
  using Key = typename Order<Item>::Key;
  using Value = Placed<typename Key::Type, int64_t>;
  using Near = Placed<typename Key::Type, uint32_t>;
  typename Key::Type mask;
  explicit __device__ ExtremeIndex(uint32_t is_reversed) : mask(is_reversed != 0 ? -1 : 0) {}
  static __device__ __forceinline__ Near no_element() { return {Key::least, UINT32_MAX}; }
  static __device__ __forceinline__ Value nothing() { return {Key::least, INT64_MAX}; }
  template <class Candidate>
  static __device__ __forceinline__ Candidate combined(Candidate a, Candidate b) {
    const bool is_second = b.key > a.key || (b.key == a.key && b.place < a.place);
    return {is_second ? b.key : a.key, is_second ? b.place : a.place};
  }
  __device__ __forceinline__ Near near_of(Item x, uint32_t place) const { return {key_of<Item, true>(x, mask), place}; }
  static __device__ __forceinline__ Value widened(Near near, uint64_t first) {
    return {near.key, near.place == UINT32_MAX ? INT64_MAX : static_cast<int64_t>(first + near.place)};
  }
  static __device__ __forceinline__ void store(Address to, uint64_t index, Value value) {
    pointer<int64_t>(to)[index] = value.place;
  }
};

}  // namespace ferrule::cuda
