// Texts that Metal's compiler refuses are refused: one of each kind. Those that it takes are the kernels.
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
    {"function pointers", "int f(int n);\nint g() { int (*p)(int) = f; return p(1); }",
     "pointers to functions are not allowed"},
    {"virtual", "struct A { virtual int f() const { return 1; } };",
     "3: error: virtual functions are not supported in Metal"},
    {"new", "void f() { thread int* x = new int; }", "3: error: 'new' is not supported"},
    {"no address space of a parameter", "float f(float* x) { return *x; }",
     "3: error: pointer type must have explicit address space"},
    {"no address space of a variable", "float f(device float* x) {\n  const float* y = x;\n  return *y; }",
     "4: error: pointer type must have explicit address space"},
    {"no address space in a cast", "float f(device uint* x) { return *(float*)x; }",
     "3: error: pointer type must have"},
    {"device to constant", "float f(constant float* x) { return *x; }\nfloat g(device float* x) { return f(x); }",
     "program_source:4"},
    {"device to thread", "float f(thread float* x) { return *x; }\nfloat g(device float* x) { return f(x); }",
     "program_source:4"},
    {"a variable of another space", "void f(device float* x) { thread float* y = x; *y = 1; }", "program_source:3"},
    {"a method without device",
     "struct A { int n; int twice() const { return 2 * n; } };\nint f(device A* a) { return a->twice(); }",
     "program_source:4"},
    {"a write to constant", "void f(constant float* x) { x[0] = 1; }", "program_source:3"},
    {"a variable outside of functions", "int counter;", "program scope variable must reside in constant address space"},
    {"threadgroup memory outside of kernels", "void f() { threadgroup float x[4]; x[0] = 1; }",
     "3: error: threadgroup memory can only be declared in kernels"},
    {"an unknown attribute of a parameter", "kernel void l(device int* x [[bufer(0)]]) {}",
     "3: error: unknown attribute 'bufer'"},
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
    {"a function of bfloat", "bfloat f(bfloat x) { return sqrt(x); }",
     "program_source:3:29: error: call to deleted function 'sqrt'"},
    {"an atomic of another type",
     "void f(device atomic<half>* x) { atomic_fetch_add_explicit(x, half(1), memory_order_relaxed); }",
     "MSL has atomic int"},
    {"an atomic function of another memory order",
     "void f(device atomic_int* x) { atomic_fetch_add_explicit(x, 1, memory_order_acquire); }",
     "undeclared identifier 'memory_order_acquire'"},
    {"a constructor with too few numbers", "float4 f() { return float4(1, 2, 3); }",
     "a number for each of its elements"},
};

TEST(MetalRefusals, WhatMetalRefuses) {
  for (const Refused& one : refused) {
    const std::string log = refusal_of_text(one.text + kernel);
    EXPECT_NE(log.find(one.message), std::string::npos) << one.what << ":\n" << log;
  }
}

TEST(MetalRefusals, LinesAreThoseOfTheText) {
  const std::string log =
      refusal_of_text("\n\n#define MISTAKE unknown\n\nfloat f() {\n  return MISTAKE;\n}\n" + kernel);
  EXPECT_NE(log.find("program_source:8:10: error: use of undeclared identifier 'unknown'"), std::string::npos) << log;
}

}  // namespace
}  // namespace emulation::metal
