// Vectors, packed vectors, arrays, structures and the address spaces of what they are read from.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

#include "metal/checks/kernels.h"

namespace emulation::metal {
namespace {

std::vector<float> outputs_of(const std::string& body, const std::string& before = "") {
  std::vector<float> out(16, -99.0F), x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  Kernel kernel(before +
                "kernel void k(device float* out [[buffer(0)]], device float* x [[buffer(1)]], "
                "constant float* c [[buffer(2)]]) {\nuint n = 0;\n" +
                body + "\n}");
  std::vector<float> c = {0.5F, 0.25F, 0.125F};
  kernel.buffer(0, out).buffer(1, x).buffer(2, c).run(1, 1);
  while (!out.empty() && out.back() == -99.0F) out.pop_back();
  return out;
}

TEST(MetalVectors, Constructors) {
  EXPECT_EQ(
      outputs_of(
          "float4 v = float4(x[0], x[1], x[2], x[3]), w = float4(v.xy, 7, 8), u(9), t = vec<float, 4>(1, float3(2));\n"
          "out[0] = v.w; out[1] = w.y; out[2] = w.z; out[3] = u.w; out[4] = t.w; out[5] = float2(v.zw).x; "
          "out[6] = float3(int3(1.9f, 2.9f, -3.9f)).z; out[7] = float2().y; out[8] = half4(v).z; "
          "out[9] = uint2(float2(3.7f, 4.2f)).x; out[10] = metal::float2(5, 6).y; out[11] = uchar4(uint4(257)).x;"),
      (std::vector<float>{4, 2, 7, 9, 2, 3, -3, 0, 3, 3, 6, 1}));
}

TEST(MetalVectors, SwizzlesAndOperators) {
  EXPECT_EQ(
      outputs_of(
          "float4 v = *(device float4*)x; v.xz = v.zx; v.w += 10; v *= 2; out[0] = v.x; out[1] = v.z; "
          "out[2] = v.w; out[3] = v.wzyx.x; out[4] = (v + 1.0f).y; out[5] = (-v).y; out[6] = v.rgb.g; out[7] = v[2];"
          "((device float4*)(out + 8))[0] = v; x[4] = 1;"),
      (std::vector<float>{6, 2, 28, 28, 5, -4, 4, 2, 6, 4, 2, 28}));
}

TEST(MetalVectors, SizesAndAlignments) {
  EXPECT_EQ(
      outputs_of("out[n++] = sizeof(float3); out[n++] = sizeof(packed_float3); out[n++] = alignof(packed_float3); "
                 "out[n++] = sizeof(half4); out[n++] = sizeof(packed_half3); out[n++] = sizeof(uchar4); out[n++] "
                 "= alignof(float4);"
                 "out[n++] = alignof(packed_float4); out[n++] = sizeof(long); out[n++] = sizeof(bool); out[n++] = "
                 "sizeof(size_t);"
                 "out[n++] = sizeof(ushort3); out[n++] = sizeof(bfloat4);"),
      (std::vector<float>{16, 12, 4, 8, 6, 4, 16, 4, 8, 1, 8, 8, 8}));
}

TEST(MetalVectors, PackedVectorsLieAtAnyAddress) {
  EXPECT_EQ(
      outputs_of(
          "device packed_float3* p = (device packed_float3*)(x + 1);\nfloat3 v = p[1]; out[0] = v.x; out[1] = v.z; "
          "out[2] = p[0].y; p[2] = packed_float3(float3(20, 21, 22)); out[3] = x[9];\n"
          "float4 w = ((device packed_float4*)(x + 1))[0]; out[4] = w.w;\n"
          "out[5] = float3(packed_float3(1, 2, 3)).y; out[6] = float4(p[0], 1).w;"),
      (std::vector<float>{5, 7, 3, 22, 5, 2, 1}));
}

TEST(MetalVectors, StructuresAreCopiedFromEachAddressSpace) {
  const std::string text = R"(
struct Pair { float first, second; float sum() const { return first + second; } };
constant Pair pairs[2] = {{1, 2}, {3, 4}};
float added(Pair p) { return p.sum(); }
float of(constant Pair& p) { return p.first; }
float of(device const Pair& p) { return p.second; }
struct Shape { uint size[3]; Pair pair; };
)";
  EXPECT_EQ(outputs_of(
                "threadgroup Pair shared; Pair p = pairs[1]; shared = p; Pair q = shared; out[0] = q.second;\n"
                "device Pair* d = (device Pair*)x; out[1] = added(d[1]); Pair r = d[2]; out[2] = r.first; d[0] = q;\n"
                "out[3] = x[1]; constant Pair& s = *(constant Pair*)c; out[4] = of(s); Pair t = s; out[5] = t.second;\n"
                "out[6] = of(d[1]); array<float, 3> a = {{1, 2, 3}}; a[1] = 9; out[7] = a[1]; out[8] = a.size();",
                text),
            (std::vector<float>{4, 7, 5, 4, 0.5F, 0.25F, 4, 9, 3}));
}

TEST(MetalVectors, BitsAsAnotherType) {
  EXPECT_EQ(outputs_of("out[0] = as_type<uint>(1.0f) == 0x3f800000; out[1] = as_type<float>(0x40490fdbu); "
                       "out[2] = as_type<ushort2>(0x00020001u).y; out[3] = as_type<half>(ushort(0x3c00)); "
                       "out[4] = as_type<uint2>(1ul << 32).y; out[5] = as_type<uchar4>(0x04030201)[2];"),
            (std::vector<float>{1, std::bit_cast<float>(0x40490fdbU), 2, 1, 1, 3}));
}

TEST(MetalVectors, Geometry) {
  EXPECT_EQ(
      outputs_of(
          "out[0] = dot(float3(1, 2, 3), float3(4, 5, 6)); out[1] = length(float2(3, 4)); "
          "out[2] = cross(float3(1, 0, 0), float3(0, 1, 0)).z; out[3] = distance(float2(1, 1), float2(4, 5)); "
          "out[4] = normalize(float2(0, 2)).y; out[5] = max(int2(1, 5), int2(3, 2)).y; out[6] = abs(float2(-1, 2)).x;"
          "out[7] = clamp(float2(-1, 2), float2(0), float2(1)).y;"),
      (std::vector<float>{32, 5, 1, 5, 1, 5, 1, 1}));
}

TEST(MetalVectors, TypeTraits) {
  EXPECT_EQ(outputs_of(R"(
out[n++] = is_same_v<float, half>; out[n++] = is_same<float, float>::value; out[n++] = is_integral_v<ushort>;
out[n++] = is_floating_point_v<half>; out[n++] = is_signed_v<char>; out[n++] = is_signed_v<uchar>;
out[n++] = sizeof(conditional_t<true, char, int>); out[n++] = is_same_v<make_unsigned_t<int>, uint>;
out[n++] = is_same_v<remove_reference_t<thread float&>, thread float>; out[n++] = is_arithmetic_v<float4>;
out[n++] = chosen(1); out[n++] = chosen(1.0f);
)",
                       "template <class T, typename = enable_if_t<is_integral_v<T>>> float chosen(T) { return 1; }\n"
                       "float chosen(float) { return 2; }\n"),
            (std::vector<float>{0, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 2}));
}

TEST(MetalVectors, MethodsOfEachAddressSpace) {
  EXPECT_EQ(outputs_of(
                "thread Number t = {1}; threadgroup Number g; g.value = 2; device Number* d = (device Number*)x;\n"
                "out[0] = t.where(); out[1] = g.where(); out[2] = d->where();",
                "struct Number { float value; float where() const thread { return 1; } float where() const threadgroup "
                "{ return 2; }\n"
                "float where() const device { return 3; } float where() const constant { return 4; } };\n"),
            (std::vector<float>{1, 2, 3}));
}

TEST(MetalVectors, NamesThatOnlyOpenclReserves) {
  EXPECT_EQ(outputs_of("float local = 1, global = 2; int pipe = 3; out[0] = local + global + pipe;"),
            (std::vector<float>{6}));
}

}  // namespace
}  // namespace emulation::metal
