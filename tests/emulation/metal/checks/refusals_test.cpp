// Texts that Metal's compiler refuses are refused, and those that it takes are not.
#include <gtest/gtest.h>

#include "metal/checks/kernels.h"
#include "metal/library/strict_checks.h"

namespace emulation::metal {
namespace {

const std::string kernel =
    "\nkernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = 1; }\n";

struct Refused {
  const char* what;
  const char* text;  // outside of functions; the first line is line 3
  const char* message;
};

const Refused refused[] = {
    {"double", "double twice(float x) { return 2 * x; }", "3: error: 'double' is not supported in Metal"},
    {"recursion", "int f(int n) { return n > 1 ? n * f(n - 1) : 1; }", "3: error: recursive function calls"},
    {"mutual recursion", "int g(int n);\nint f(int n) { return n > 1 ? g(n - 1) : 1; }\nint g(int n) { return f(n); }",
     "error: recursive function calls"},
    {"function pointers", "int f(int n);\nint g() { int (*p)(int) = f; return p(1); }",
     "pointers to functions are not allowed"},
    {"virtual", "struct A { virtual int f() const { return 1; } };",
     "3: error: virtual functions are not supported in Metal"},
    {"exceptions", "void f() { throw 1; }", "3: error: exceptions are not supported in Metal"},
    {"goto", "void f() { goto end; end:; }", "3: error: 'goto' is not supported in Metal"},
    {"new", "void f() { thread int* x = new int; }", "3: error: 'new' is not supported"},
    {"thread_local", "thread_local int x;", "'thread_local' is not supported"},
    {"no address space of a parameter", "float f(float* x) { return *x; }",
     "3: error: pointer type must have explicit address space"},
    {"no address space of a reference", "void f(float& x) { x = 1; }",
     "3: error: reference type must have explicit address space"},
    {"no address space in a template", "template <class T> T f(const T* x) { return *x; }",
     "3: error: pointer type must have"},
    {"no address space of a result", "float* f(device float* x);",
     "3: error: pointer type must have explicit address space"},
    {"no address space of a variable", "float f(device float* x) {\n  const float* y = x;\n  return *y; }",
     "4: error: pointer type must have explicit address space"},
    {"no address space of a field", "struct A { int n; float* x; };",
     "3: error: pointer type must have explicit address space"},
    {"no address space of a method's parameter", "struct A { int n;\n  void set(float& x) { x = n; } };",
     "4: error: reference type must"},
    {"no address space in a cast", "float f(device uint* x) { return *(float*)x; }",
     "3: error: pointer type must have"},
    {"device to constant", "float f(constant float* x) { return *x; }\nfloat g(device float* x) { return f(x); }",
     "program_source:4"},
    {"constant to device", "float f(device const float* x) { return *x; }\nfloat g(constant float* x) { return f(x); }",
     "program_source:4"},
    {"threadgroup to device", "float f(device float* x) { return *x; }\nfloat g(threadgroup float* x) { return f(x); }",
     "program_source:4"},
    {"device to thread", "float f(thread float* x) { return *x; }\nfloat g(device float* x) { return f(x); }",
     "program_source:4"},
    {"thread to device", "float f(device float& x) { return x; }\nfloat g(float x) { return f(x); }",
     "program_source:4"},
    {"a variable of another space", "void f(device float* x) { thread float* y = x; *y = 1; }", "program_source:3"},
    {"a cast to another space", "void f(device float* x) { thread float* y = (thread float*)x; *y = 1; }",
     "program_source:3"},
    {"a method without device",
     "struct A { int n; int twice() const { return 2 * n; } };\nint f(device A* a) { return a->twice(); }",
     "program_source:4"},
    {"a write to constant", "void f(constant float* x) { x[0] = 1; }", "program_source:3"},
    {"a write to a table", "constant float table[2] = {1, 2};\nvoid f() { table[0] = 3; }", "program_source:4"},
    {"a variable outside of functions", "int counter;", "program scope variable must reside in constant address space"},
    {"a constexpr variable without constant", "constexpr int width = 4;",
     "program scope variable must reside in constant"},
    {"threadgroup memory outside of kernels", "void f() { threadgroup float x[4]; x[0] = 1; }",
     "3: error: threadgroup memory can only be declared in kernels"},
    {"FERRULE_THREADGROUP outside of kernels", "void f() { FERRULE_THREADGROUP(float, x, [4]); }",
     "3: error: threadgroup memory can only be declared in kernels"},
    {"an unknown attribute of a parameter", "kernel void l(device int* x [[bufer(0)]]) {}",
     "3: error: unknown attribute 'bufer'"},
    {"an unknown attribute", "[[clang::noinline]] int f() { return 1; }", "3: error: unknown attribute"},
    {"a parameter without attribute", "kernel void l(device int* x) {}",
     "3: error: parameter 'x' of a kernel needs one attribute"},
    {"a buffer by value", "kernel void l(int x [[buffer(0)]]) {}",
     "3: error: parameter 'x' of a kernel with [[buffer]] must be"},
    {"two arguments in one place", "kernel void l(device int* x [[buffer(1)]], device int* y [[buffer(1)]]) {}",
     "are [[buffer(1)]]"},
    {"an index beyond 30", "kernel void l(device int* x [[buffer(31)]]) {}",
     "the number 31 of argument 'x' is more than 30"},
    {"a kernel with a result", "kernel int l(device int* x [[buffer(0)]]) { return 1; }",
     "3: error: a kernel must return void"},
    {"a signed position", "kernel void l(device int* x [[buffer(0)]], int i [[thread_position_in_grid]]) {}",
     "the type 'int' of parameter 'i' of a kernel does not fit"},
    {"max of other types", "float f(float x, half y) { return max(x, int(y)); }", "error: call to 'max' is ambiguous"},
    {"float as bfloat", "bfloat f(float x) { bfloat y = x; return y; }", "program_source:3"},
    {"a literal as bfloat", "bfloat f() { bfloat y = 0; return y; }", "3: error: cannot initialize a variable of type"},
    {"an integer as bfloat", "void f(device bfloat* y, int x) { y[0] = x; }", "program_source:3"},
    {"a function of bfloat", "bfloat f(bfloat x) { return exp(x); }",
     "program_source:3:29: error: call to deleted function 'exp'"},
    {"an unknown name", "float f(float x) { return erf(x); }", "3:27: error: use of undeclared identifier 'erf'"},
    {"an atomic of another type",
     "void f(device atomic<half>* x) { atomic_fetch_add_explicit(x, half(1), memory_order_relaxed); }",
     "MSL has atomic int"},
    {"an atomic function of another memory order",
     "void f(device atomic_int* x) { atomic_fetch_add_explicit(x, 1, memory_order_acquire); }",
     "undeclared identifier 'memory_order_acquire'"},
    {"the minimum of atomic float",
     "void f(device atomic_float* x) { atomic_fetch_min_explicit(x, 1.0f, memory_order_relaxed); }",
     "MSL does not have this function of this type"},
    {"a constructor with too few numbers", "float4 f() { return float4(1, 2, 3); }",
     "a number for each of its elements"},
    {"a header of C++", "#include <cmath>", "'cmath' file not found"},
};

TEST(MetalRefusals, WhatMetalRefuses) {
  for (const Refused& one : refused) {
    const std::string log = refusal_of_text(one.text + kernel);
    EXPECT_NE(log.find(one.message), std::string::npos) << one.what << ":\n" << log;
  }
}

const Refused taken[] = {
    {"pointers of all spaces",
     "struct A { device float* x; constant int* n; };\n"
     "template <class T> T f(const device T* x, thread T& y, constant int& n) { y = x[n]; return y; }\n"
     "float g(A a) { float y; return f(a.x, y, *a.n) + y; }",
     ""},
    {"a product at the beginning of a statement", "int f(int a, int b) { int c; c = a * b; (a * b); return a & b; }",
     ""},
    {"methods and operators",
     "struct A { int n; A operator+(A other) const { return {n + other.n}; } A operator*(A other) const { return {n * "
     "other.n}; }\n"
     "thread A& operator+=(A other) thread { n += other.n; return *this; } operator int() const { return n; } };\n"
     "int f() { A a = {1}, b = {2}; a += b; return a * b + A{3}; }",
     ""},
    {"constructors with initialisers",
     "struct A { int n, m; A(int x) : n(x * 2), m{x} {} };\nint f() { A a(1); return a.n + a.m; }", ""},
    {"overloads of address spaces",
     "float f(device const float* x) { return 1; }\nfloat f(threadgroup const float* x) { return 2; }\n"
     "float f(thread const float* x) { return 3; }\n",
     ""},
    {"structures in constant memory",
     "struct P { int n; float x[3]; };\nfloat f(constant P& p) { P q = p; return q.x[1] + p.x[2]; }", ""},
    {"templates that end",
     "template <int N> int f() { return N * f<N - 1>(); }\ntemplate <> int f<0>() { return 1; }\nint g() { return "
     "f<5>(); }",
     ""},
    {"constants",
     "constant constexpr int width = 4;\nconstant float table[] = {1, 2, 3};\nstruct A { static constant constexpr int "
     "n = 3; };\n"
     "float f() { constexpr int local = 2; const float x = 1.5; return table[local] + width * A::n + x; }",
     ""},
    {"pragmas",
     "#pragma METAL fp contract(off)\nfloat f(device const float* x) {\n float s = 0;\n#pragma unroll\n for (int i = "
     "0; i < 4; ++i) s += x[i];\n return s; }",
     ""},
    {"functors",
     "struct Add { template <class T> T operator()(T x, T y) { return x + y; } };\n"
     "template <class Op> float apply(float x) { return Op()(x, 2.0f); }\nfloat f() { return apply<Add>(1); }",
     ""},
    {"casts of pointers",
     "uint f(device float* x) { return *(device uint*)x + reinterpret_cast<device const uint*>(x)[1]; }", ""},
    {"arrays and references to them",
     "float sum(thread float (&x)[4]) { return x[0] + x[3]; }\nfloat f() { float x[4] = {1, 2, 3, 4}; return sum(x); }",
     ""},
    {"explicit conversions of bfloat",
     "bfloat f(float x, int n) { bfloat y = bfloat(x) * static_cast<bfloat>(n); y += bfloat(1); return y; }\nfloat "
     "g(bfloat x) { return x + exp(float(x)); }\n"
     "float h(bfloat x, half y) { return x < bfloat(1) && float(y) > x ? 1 : 0; }",
     ""},
    {"conversions between half and bfloat",
     "bfloat f(half x) { return static_cast<bfloat>(x); }\nhalf g(bfloat x) { return static_cast<half>(x); }", ""},
    {"parameters of other functions with attributes",
     "void f(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = 1; }", ""},
    {"vectors of truth values",
     "bool f(float4 x) { bool4 b = bool4(true, x.x > 0, false, true); return any(b) && sizeof(bool4) == 4; }", ""},
    {"enumerations and namespaces",
     "namespace n { enum class Mode : uint { one, two };\nconstant int base = 3; inline int f(Mode m) { return m == "
     "Mode::one ? base : 2; } }\nint g() { return n::f(n::Mode::two); }",
     ""},
};

TEST(MetalRefusals, WhatMetalTakes) {
  for (const Refused& one : taken) EXPECT_EQ(refusal_of_text(one.text + kernel), "") << one.what;
}

TEST(MetalRefusals, LinesAreThoseOfTheText) {
  const std::string log =
      refusal_of_text("\n\n#define MISTAKE unknown\n\nfloat f() {\n  return MISTAKE;\n}\n" + kernel);
  EXPECT_NE(log.find("program_source:8:10: error: use of undeclared identifier 'unknown'"), std::string::npos) << log;
}

}  // namespace
}  // namespace emulation::metal
