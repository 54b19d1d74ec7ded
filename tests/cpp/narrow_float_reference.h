// Reference for float16, bfloat16 and both float8 formats, from their definitions: a sorted list of all values,
// searched for the nearest.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace ferrule::test {

class NarrowFormat {
 public:
  // Without infinities the greatest exponent holds numbers, and only its greatest mantissa is NaN.
  NarrowFormat(std::string name, int exponent_bits, int mantissa_bits, bool has_infinity = true)
      : name_(std::move(name)),
        mantissa_bits_(mantissa_bits),
        sign_(1U << (exponent_bits + mantissa_bits)),
        too_large_(has_infinity ? sign_ - (1U << mantissa_bits) : sign_ - 1),
        least_nan_(has_infinity ? too_large_ + 1 : too_large_) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    for (unsigned bits = 0; bits <= too_large_; ++bits) {  // the last value is the threshold of overflow
      const int exponent = static_cast<int>(bits >> mantissa_bits), fraction = static_cast<int>(bits & mask());
      const int whole = exponent == 0 ? 0 : 1 << mantissa_bits;
      values_.push_back(
          std::ldexp(static_cast<long double>(whole + fraction), std::max(exponent, 1) - bias - mantissa_bits));
    }
  }

  const std::string& name() const { return name_; }
  double value(uint16_t bits) const {
    const unsigned magnitude = bits & (sign_ - 1);
    const double x = magnitude >= least_nan_   ? std::numeric_limits<double>::quiet_NaN()
                     : magnitude == too_large_ ? std::numeric_limits<double>::infinity()
                                               : static_cast<double>(values_[magnitude]);
    return (bits & sign_) != 0 ? -x : x;
  }
  bool is_nan(uint16_t bits) const { return (bits & (sign_ - 1)) >= least_nan_; }
  // Not for NaN. A long double holds every double, int64 and uint64, and every midpoint of two narrow numbers.
  uint16_t nearest(long double x) const {
    const unsigned sign = std::signbit(x) ? sign_ : 0;
    const long double magnitude = std::abs(x);
    if (magnitude >= values_.back()) return static_cast<uint16_t>(sign | too_large_);
    const auto above = std::lower_bound(values_.begin(), values_.end(), magnitude);
    auto bits = static_cast<unsigned>(above - values_.begin());
    if (*above != magnitude) {
      const long double up = *above - magnitude, down = magnitude - *(above - 1);
      if (down < up || (down == up && bits % 2 == 1)) --bits;
    }
    return static_cast<uint16_t>(sign | bits);
  }
  // Each finite value, the midpoint to the next value, and the neighbours of both; as doubles, with both signs.
  std::vector<double> hard_cases() const {
    std::vector<double> cases;
    for (std::size_t i = 0; i + 1 < values_.size(); ++i) {
      const auto here = static_cast<double>(values_[i]),
                 half_way = static_cast<double>((values_[i] + values_[i + 1]) / 2);
      for (const double x : {here, half_way})
        for (const double near : {x, std::nextafter(x, 1e300), std::nextafter(x, -1e300)})
          cases.insert(cases.end(), {near, -near});
    }
    for (const double x : {1e300, 1e-300, 5e-324, 3.5e38, 3.4e38, 1e39, std::numeric_limits<double>::infinity()})
      cases.insert(cases.end(), {x, -x});
    return cases;
  }

 private:
  unsigned mask() const { return (1U << mantissa_bits_) - 1; }
  std::string name_;
  int mantissa_bits_;
  unsigned sign_, too_large_, least_nan_;
  std::vector<long double> values_;
};

inline const std::array<NarrowFormat, 2>& half_formats() {
  static const std::array<NarrowFormat, 2> formats = {NarrowFormat("float16", 5, 10), NarrowFormat("bfloat16", 8, 7)};
  return formats;
}

inline const std::array<NarrowFormat, 4>& narrow_formats() {
  static const std::array<NarrowFormat, 4> formats = {half_formats()[0], half_formats()[1],
                                                      NarrowFormat("float8_e4m3fn", 4, 3, false),
                                                      NarrowFormat("float8_e5m2", 5, 2)};
  return formats;
}

// Integers whose highest bits are `top` and whose remaining bits decide the rounding.
template <class T>
std::vector<T> hard_integers() {
  std::vector<T> cases = {0, 1, std::numeric_limits<T>::max(), std::numeric_limits<T>::min()};
  for (int bits = 1; bits < std::numeric_limits<T>::digits; ++bits)
    for (int kept : {3, 4, 8, 9, 11, 12})
      for (int low : {-1, 0, 1}) {
        const T top = static_cast<T>(T{1} << bits);
        const T odd = bits >= kept ? static_cast<T>(T{1} << (bits - kept)) : T{0};
        for (const T x :
             {static_cast<T>(top + odd + static_cast<T>(low)), static_cast<T>(top + odd * 3 + static_cast<T>(low))})
          cases.push_back(x);
        if (std::numeric_limits<T>::is_signed) cases.push_back(static_cast<T>(-cases.back()));
      }
  return cases;
}

}  // namespace ferrule::test
