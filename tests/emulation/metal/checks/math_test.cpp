// Functions of MSL on numbers, compared with those of C++ in float64.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numbers>

#include "metal/checks/kernels.h"

namespace emulation::metal {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
const float not_a_number = std::numeric_limits<float>::quiet_NaN();

// How many float32 numbers lie between a result and the exact value.
double units_between(float result, double exact) {
  if (std::isnan(exact)) return std::isnan(result) ? 0 : 1e30;
  const auto rounded = static_cast<float>(exact);
  if (std::isinf(rounded) || std::isinf(result)) return rounded == result ? 0 : 1e30;
  if (exact == 0) return result == 0 ? 0 : 1e30;
  int exponent = 0;
  std::frexp(rounded == 0 ? static_cast<float>(exact) : rounded, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent - 24, -149));
  return std::abs(static_cast<double>(result) - exact) / unit;
}

// The value of a float16, and the nearest float16 of a number, to even, as IEEE 754 has them.
double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return mantissa != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}
std::uint16_t half_bits(double x) {
  const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return 0x7e00;
  x = std::abs(x);
  if (x == 0) return sign;
  if (x >= 65520) return sign | 0x7c00;
  int exponent = 0;
  std::frexp(x, &exponent);
  const int unit = std::max(exponent - 11, -24);  // of the last place
  const auto steps = static_cast<unsigned>(std::nearbyint(std::ldexp(x, -unit)));
  // A carry into the exponent is right as it is.
  return static_cast<std::uint16_t>(sign | (unit == -24 ? steps : static_cast<unsigned>(unit + 25 - 1) * 1024 + steps));
}

std::vector<float> numbers() {
  std::vector<float> all = {0.0F,         -0.0F,   1.0F,   -1.0F,     0.5F,      -0.5F,       1.5F,
                            2.5F,         -2.5F,   3.0F,   10.0F,     -7.25F,    0.1F,        1e-3F,
                            1e3F,         -1e-30F, 1e30F,  0x1p-149F, 0x1p-126F, infinity,    -infinity,
                            not_a_number, 88.0F,   -88.0F, 0.99F,     -0.999F,   16777216.0F, 3.3e38F};
  std::uint32_t state = 1;
  for (int i = 0; i < 200; ++i) {
    state = state * 1664525 + 1013904223;
    all.push_back((static_cast<float>(state >> 8) / 8388608.0F - 1.0F) * (i % 2 == 0 ? 1.0F : 20.0F));
  }
  return all;
}

struct Unary {
  const char* name;
  double (*exact)(double);
  double units;
};
double round_to_even(double x) { return std::nearbyint(x); }
double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : std::isnan(x) ? 0 : x; }
double fraction(double x) {
  return std::isinf(x) ? std::nan("") : std::min(x - std::floor(x), static_cast<double>(0x1.fffffep-1F));
}
double saturated(double x) { return std::isnan(x) ? 0 : std::min(std::max(x, 0.0), 1.0); }
double of_pi(double (*function)(double), double x) {
  return std::isinf(x) ? std::nan("") : function(std::numbers::pi * std::fmod(x, 2));
}

const Unary unary[] = {
    {"abs", std::fabs, 0},
    {"fabs", std::fabs, 0},
    {"floor", std::floor, 0},
    {"ceil", std::ceil, 0},
    {"trunc", std::trunc, 0},
    {"rint", round_to_even, 0},
    {"round", std::round, 0},
    {"sign", sign, 0},
    {"saturate", saturated, 0},
    {"sqrt", std::sqrt, 0.501},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 0.501},
    {"exp", std::exp, 1},
    {"exp2", std::exp2, 1},
    {"exp10", [](double x) { return std::pow(10, x); }, 1},
    {"log", std::log, 1},
    {"log2", std::log2, 1},
    {"log10", std::log10, 2},
    {"sin", std::sin, 1},
    {"cos", std::cos, 1},
    {"tan", std::tan, 2},
    {"asin", std::asin, 2},
    {"acos", std::acos, 2},
    {"atan", std::atan, 2},
    {"sinh", std::sinh, 3},
    {"cosh", std::cosh, 2},
    {"tanh", std::tanh, 3},
    {"asinh", std::asinh, 3},
    {"acosh", std::acosh, 3},
    {"atanh", std::atanh, 3},
    {"fract", fraction, 0.501},
    {"sinpi", [](double x) { return of_pi(std::sin, x); }, 1},
    {"cospi", [](double x) { return of_pi(std::cos, x); }, 1},
};

TEST(MetalMath, FunctionsOfOneNumber) {
  std::string text =
      "#define UNARY(name) kernel void k_##name(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], "
      "device float4* z [[buffer(2)]], device half* h [[buffer(3)]], uint i [[thread_position_in_grid]]) { "
      "y[i] = name(x[i]); z[i] = precise::name(float4(x[i], 0.25, x[i], 0.5)); h[i] = name(half(x[i])); }\n";
  for (const Unary& one : unary) text += "UNARY(" + std::string(one.name) + ")\n";
  for (const Unary& one : unary) {
    std::vector<float> x = numbers(), y(x.size()), z(4 * x.size());
    std::vector<std::uint16_t> h(x.size());
    Kernel(text, "k_" + std::string(one.name))
        .buffer(0, x)
        .buffer(1, y)
        .buffer(2, z)
        .buffer(3, h)
        .run(1, static_cast<unsigned>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = one.exact(static_cast<double>(x[i]));
      EXPECT_LE(units_between(y[i], exact), one.units)
          << one.name << "(" << x[i] << ") = " << y[i] << ", not " << exact;
      EXPECT_LE(units_between(z[4 * i + 2], exact), one.units) << one.name << " of a vector";
      EXPECT_LE(units_between(z[4 * i + 1], one.exact(0.25)), one.units) << one.name << " of a vector";
      const double of_half = one.exact(half_value(half_bits(x[i])));
      if (of_half == 0)
        EXPECT_EQ(h[i] & 0x7fff, 0) << one.name << " of half";
      else if (std::isnan(of_half))
        EXPECT_TRUE(std::isnan(half_value(h[i]))) << one.name << " of half";
      else
        EXPECT_LE(std::abs(h[i] - half_bits(of_half)), 1)
            << one.name << "(" << half_value(half_bits(x[i])) << ") of half";
      if (!std::isnan(exact) && exact != 0) {
        EXPECT_EQ(std::signbit(y[i]), std::signbit(exact)) << one.name << "(" << x[i] << ")";
      }
    }
  }
}

struct Binary {
  const char* name;
  double (*exact)(double, double);
  double units;
};
const Binary binary[] = {
    {"fmin", std::fmin, 0},
    {"fmax", std::fmax, 0},
    {"min", std::fmin, 0},
    {"max", std::fmax, 0},
    {"fmod", std::fmod, 0},
    {"pow", std::pow, 1},
    {"atan2", std::atan2, 2},
    {"copysign", std::copysign, 0},
    {"fdim", std::fdim, 0.501},
    {"step", [](double x, double y) { return y < x ? 0.0 : 1.0; }, 0},
    {"fast::divide", [](double x, double y) { return x / y; }, 0.501},
};

TEST(MetalMath, FunctionsOfTwoNumbers) {
  std::string text =
      "#define BINARY(name, function) kernel void name(device const float* x [[buffer(0)]], "
      "device const float* y [[buffer(1)]], device float* z [[buffer(2)]], uint i [[thread_position_in_grid]]) { "
      "z[i] = function(x[i], y[i]); }\n";
  for (std::size_t i = 0; i < std::size(binary); ++i)
    text += "BINARY(k" + std::to_string(i) + ", " + binary[i].name + ")\n";
  std::vector<float> x, y;
  const std::vector<float> all = numbers();
  for (std::size_t i = 0; i < 60; ++i)
    for (std::size_t k = 0; k < 60; ++k) x.push_back(all[i]), y.push_back(all[k]);
  for (std::size_t k = 0; k < std::size(binary); ++k) {
    const Binary& one = binary[k];
    std::vector<float> z(x.size());
    Kernel(text, "k" + std::to_string(k))
        .buffer(0, x)
        .buffer(1, y)
        .buffer(2, z)
        .run(static_cast<unsigned>(x.size() / 60), 60);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = one.exact(static_cast<double>(x[i]), static_cast<double>(y[i]));
      EXPECT_LE(units_between(z[i], exact), one.units)
          << one.name << "(" << x[i] << ", " << y[i] << ") = " << z[i] << ", not " << exact;
    }
  }
}

// Each expression writes its own element of `out`.
std::vector<float> floats_of(const std::vector<std::string>& expressions, const CompileOptions& options = safe_math,
                             const std::string& before = "") {
  std::string text = before + "kernel void k(device float* out [[buffer(0)]], device const float* x [[buffer(1)]]) {\n";
  for (std::size_t i = 0; i < expressions.size(); ++i)
    text += "out[" + std::to_string(i) + "] = " + expressions[i] + ";\n";
  std::vector<float> out(expressions.size()), x = {0.0F, 1.0F, 2.0F, 3.0F, infinity, not_a_number, 0x1p-130F, -4.0F};
  Kernel(text + "}", "k", options).buffer(0, out).buffer(1, x).run(1, 1);
  return out;
}

TEST(MetalMath, FunctionsOfThreeNumbersAndOfResultsByReference) {
  const std::string helpers = R"(
float mantissa(float v) { int e; return frexp(v, e); }
float exponent(float v) { int e; frexp(v, e); return float(e); }
float fraction(float v) { float w; return modf(v, w); }
float whole(float v) { float w; modf(v, w); return w; }
float cosine(float v) { float c; sincos(v, c); return c; }
)";
  EXPECT_EQ(floats_of({"clamp(x[3], x[0], x[2])", "clamp(x[7], x[0], x[2])", "mix(x[1], x[3], 0.25f)",
                       "fma(x[2], x[3], x[1])", "min3(x[3], x[1], x[2])", "max3(x[1], x[3], x[2])",
                       "median3(x[3], x[1], x[2])", "smoothstep(x[0], x[2], x[1])", "ldexp(x[3], 5)",
                       "float(ilogb(x[7]))", "mantissa(12.0f)", "exponent(12.0f)", "exponent(x[6])", "fraction(-2.75f)",
                       "whole(-2.75f)", "cosine(x[0])", "nextafter(x[1], x[2])"},
                      safe_math, helpers),
            (std::vector<float>{2.0F, 0.0F, 1.5F, 7.0F, 1.0F, 3.0F, 2.0F, 0.5F, 96.0F, 2.0F, 0.75F, 4.0F, -129.0F,
                                -0.75F, -2.0F, 1.0F, std::nextafter(1.0F, 2.0F)}));
}

TEST(MetalMath, RelationalFunctions) {
  EXPECT_EQ(floats_of({"isnan(x[5])", "isnan(x[4])", "isinf(x[4])", "isfinite(x[4])", "isfinite(x[3])", "signbit(x[7])",
                       "isnormal(x[6])", "isnormal(x[3])", "any(float2(x[0], x[1]) < float2(x[0], x[2]))",
                       "all(float2(x[0], x[1]) < float2(x[0], x[2]))", "select(x[1], x[2], x[0] < x[1])",
                       "select(float2(1, 2), float2(3, 4), float2(x[0], x[3]) < float2(x[1], x[1])).x",
                       "select(float2(1, 2), float2(3, 4), float2(x[0], x[3]) < float2(x[1], x[1])).y"}),
            (std::vector<float>{1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 2, 3, 2}));
}

// Literals without a suffix are of float32: 0.1 is not the float64 number.
TEST(MetalMath, LiteralsAreOfFloat32) {
  EXPECT_EQ(floats_of({"(0.1 == 0.1f) ? 1.0 : 0.0", "sizeof(1.0)", "x[3] * 0.1", "1e-3"}),
            (std::vector<float>{1, 4, 3.0F * 0.1F, 1e-3F}));
}

TEST(MetalMath, HalfRoundsEachResult) {
  // 2049 is no float16: 2048 + 1 is 2048 again, and 1 more again.
  EXPECT_EQ(floats_of({"float(half(x[2]) * half(1024) + half(1.0) + half(1.0))", "float(half(2049.0f))", "float(1.5h)",
                       "float(half(70000.0f))", "float(fma(half(x[2]), half(1024), half(1.0)))", "sizeof(half)",
                       "float(half(0.1f))"}),
            (std::vector<float>{2048, 2048, 1.5F, infinity, 2048, 2, static_cast<float>(half_value(half_bits(0.1F)))}));
}

TEST(MetalMath, BfloatIsTheUpperHalfOfFloat) {
  EXPECT_EQ(floats_of({"float(bfloat(257.0f))", "float(bfloat(258.0f))", "float(bfloat(x[3]) * bfloat(0.5f))",
                       "float(bfloat(256.0f) + bfloat(1.0f) + bfloat(1.0f))", "sizeof(bfloat)",
                       "float(as_type<bfloat>(ushort(0x4049)))", "float(bfloat(1e38f) * bfloat(1e38f))",
                       "float(static_cast<bfloat>(static_cast<float>(half(1.5h))))"}),
            (std::vector<float>{256, 258, 1.5F, 256, 2, 3.140625F, infinity, 1.5F}));
}

TEST(MetalMath, FastMathFusesAndAPragmaForbidsIt) {
  // (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24 if it is rounded once, and 0 if the product is rounded, too.
  // Both numbers are read before, as a sanitizer's checks between product and difference keep them apart.
  const std::string product =
      "kernel void k(device float* x [[buffer(0)]]) { const float a = x[0], b = x[2]; x[1] = a * a - b; }";
  for (const bool is_separate : {false, true}) {
    std::vector<float> x = {1 + 0x1p-12F, 0, 1 + 0x1p-11F};
    Kernel((is_separate ? "#pragma METAL fp contract(off)\n" : "") + product).buffer(0, x).run(1, 1);
    EXPECT_EQ(x[1], is_separate ? 0.0F : 0x1p-24F);
  }
}

TEST(MetalMath, FlushesSubnormalNumbersOnDemand) {
  for (const bool flushes : {false, true}) {
    ::setenv("FERRULE_EMULATION_METAL_FLUSH", flushes ? "1" : "0", 1);
    EXPECT_EQ(floats_of({"x[6] * 2.0f", "x[6] + x[0]", "x[1] * 0x1p-126f * 0.5f"}),
              flushes ? (std::vector<float>{0, 0, 0}) : (std::vector<float>{0x1p-129F, 0x1p-130F, 0x1p-127F}));
    volatile float least = 0x1p-126F;
    EXPECT_EQ(least * 0.5F, 0x1p-127F);  // the host's numbers are as before
  }
  ::unsetenv("FERRULE_EMULATION_METAL_FLUSH");
}

TEST(MetalMath, PreciseFunctionsKnowNansInFastMath) {
  const CompileOptions fast{.fast_math = true};
  const std::vector<float> found =
      floats_of({"precise::fmax(x[5], x[2])", "precise::exp(x[4])", "precise::sqrt(x[3])"}, fast);
  EXPECT_EQ(found, (std::vector<float>{2, infinity, std::sqrt(3.0F)}));
}

// ---- integers
template <class T>
std::vector<T> integers_of(const std::string& type, const std::vector<std::string>& expressions) {
  std::string text =
      "typedef " + type + " T;\nkernel void k(device T* out [[buffer(0)]], device const T* x [[buffer(1)]]) {\n";
  for (std::size_t i = 0; i < expressions.size(); ++i)
    text += "out[" + std::to_string(i) + "] = " + expressions[i] + ";\n";
  std::vector<T> out(expressions.size());
  std::vector<T> x = {0,   1, 2, 100, static_cast<T>(-1), std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
                      0x5a};
  Kernel(text + "}").buffer(0, out).buffer(1, x).run(1, 1);
  return out;
}

template <class T>
void check_integers(const std::string& type) {
  using Unsigned = std::make_unsigned_t<T>;
  constexpr int bits = 8 * sizeof(T);
  constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  constexpr T ones = static_cast<T>(-1);
  const std::vector<T> found = integers_of<T>(type, {"popcount(x[7])",
                                                     "popcount(x[4])",
                                                     "clz(x[1])",
                                                     "clz(x[0])",
                                                     "ctz(x[3])",
                                                     "ctz(x[0])",
                                                     "addsat(x[6], x[1])",
                                                     "addsat(x[5], x[4])",
                                                     "subsat(x[5], x[1])",
                                                     "subsat(x[3], x[2])",
                                                     "rotate(x[7], x[1])",
                                                     "rotate(x[4], x[2])",
                                                     "reverse_bits(x[1])",
                                                     "extract_bits(x[7], 1, 3)",
                                                     "insert_bits(x[0], x[4], 2, 3)",
                                                     "mulhi(x[6], x[2])",
                                                     "mulhi(x[4], x[4])",
                                                     "absdiff(x[3], x[7])",
                                                     "max(x[3], x[4])",
                                                     "min(x[3], x[4])",
                                                     "clamp(x[3], x[1], x[2])",
                                                     "hadd(x[6], x[6])",
                                                     "rhadd(x[1], x[2])",
                                                     "madhi(x[6], x[2], x[1])",
                                                     "abs(x[3])"});
  const auto wide = [](T x, T y) {
    return static_cast<T>(
        std::is_signed_v<T>
            ? static_cast<__int128>(x) * y >> bits
            : static_cast<__int128>(
                  (static_cast<unsigned __int128>(static_cast<Unsigned>(x)) * static_cast<Unsigned>(y)) >> bits));
  };
  const std::vector<T> wanted = {4,
                                 static_cast<T>(bits),
                                 static_cast<T>(bits - 1),
                                 static_cast<T>(bits),
                                 2,
                                 static_cast<T>(bits),
                                 most,
                                 std::is_signed_v<T> ? least : ones,
                                 std::is_signed_v<T> ? least : T(0),
                                 98,
                                 static_cast<T>(std::rotl<Unsigned>(0x5a, 1)),
                                 ones,
                                 static_cast<T>(Unsigned(1) << (bits - 1)),
                                 static_cast<T>(std::is_signed_v<T> ? -3 : 5),
                                 0x1c,
                                 wide(most, 2),
                                 wide(ones, ones),
                                 10,
                                 std::max<T>(100, ones),
                                 std::min<T>(100, ones),
                                 2,
                                 most,
                                 2,
                                 static_cast<T>(wide(most, 2) + 1),
                                 100};
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], wanted[i]) << type << ", expression " << i;
}

TEST(MetalMath, FunctionsOfIntegers) {
  check_integers<std::int8_t>("char");
  check_integers<std::uint8_t>("uchar");
  check_integers<std::int16_t>("short");
  check_integers<std::uint16_t>("ushort");
  check_integers<std::int32_t>("int");
  check_integers<std::uint32_t>("uint");
  check_integers<std::int64_t>("long");
  check_integers<std::uint64_t>("ulong");
}

TEST(MetalMath, FunctionsOfIntegersOf24Bits) {
  EXPECT_EQ(integers_of<std::int32_t>("int", {"mul24(int(-5), int(1000))", "mad24(int(3), int(4), int(5))",
                                              "int(mul24(3u, 0xffffffu) & 0xffu)", "max(short(3), short(7))"}),
            (std::vector<std::int32_t>{-5000, 17, (3 * 0xffffff) & 0xff, 7}));
}

TEST(MetalMath, LimitsAreThoseOfTheTypes) {
  EXPECT_EQ(floats_of({"numeric_limits<float>::max()", "numeric_limits<float>::lowest()",
                       "numeric_limits<float>::epsilon()", "numeric_limits<float>::infinity()",
                       "float(numeric_limits<half>::max())", "numeric_limits<float>::min()",
                       "float(numeric_limits<int>::min())", "float(numeric_limits<uchar>::max())", "FLT_MAX", "M_PI_F",
                       "float(HALF_MAX)", "INFINITY", "float(INT_MAX == 2147483647)", "MAXFLOAT"}),
            (std::vector<float>{std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest(), 0x1p-23F,
                                infinity, 65504, 0x1p-126F, -2147483648.0F, 255, std::numeric_limits<float>::max(),
                                std::numbers::pi_v<float>, 65504, infinity, 1, std::numeric_limits<float>::max()}));
}

}  // namespace
}  // namespace emulation::metal
