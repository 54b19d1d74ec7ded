// objc_msgSend and the functions of the Objective-C runtime that programs call.
//
// objc_msgSend saves the registers that may hold arguments (System V ABI of x86-64), asks for the function, restores
// them and jumps to it, so that the function sees the arguments as the caller has passed them.
#include <cstdio>
#include <string>

#include "metal/objc/exports.h"
#include "metal/objc/faults.h"
#include "metal/objc/object.h"

#if !defined(__x86_64__) || !defined(__linux__)
#error "The simulated Objective-C runtime is for Linux on x86-64"
#endif

using namespace objc;

// Returns zeros: what a message to nil returns, and one that is a fault.
extern "C" __attribute__((visibility("hidden"))) void simulated_objc_nothing();

extern "C" __attribute__((visibility("hidden"), used)) Function simulated_objc_lookup(Object* self,
                                                                                      const char* name) noexcept {
  const Known about = known(self);
  if (about.state == Known::State::nothing) {
    report_fault(std::string("message ") + name + " is sent to " + described(self));
    return simulated_objc_nothing;
  }
  if (about.state == Known::State::freed) {
    report_fault("-[" + about.isa->name() + " " + name + "]: message sent to freed instance " + described(self));
    return simulated_objc_nothing;
  }
  const bool is_class = about.isa == &class_of_classes();
  const auto* const as_class = static_cast<const Class*>(self);
  // Selectors of programs come from sel_registerName; others have another address.
  const auto find = [&](Selector selector) {
    return is_class ? as_class->find_class_method(selector) : about.isa->find(selector);
  };
  const Function found = find(name);
  if (found != nullptr) return found;
  if (find(selector_of(name)) != nullptr)
    report_fault(std::string("the selector ") + name + " is not one of sel_registerName");
  else if (is_class)
    report_fault("+[" + as_class->name() + " " + name + "]: unrecognized selector sent to class");
  else
    report_fault("-[" + about.isa->name() + " " + name + "]: unrecognized selector sent to instance " +
                 described(self));
  return simulated_objc_nothing;
}

asm(R"(
  .text
  .globl objc_msgSend
  .type objc_msgSend, @function
  .p2align 4
objc_msgSend:
  .cfi_startproc
  endbr64
  testq %rdi, %rdi
  je simulated_objc_nothing
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  subq $192, %rsp
  movq %rdi, 0(%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movq %rax, 48(%rsp)
  movups %xmm0, 64(%rsp)
  movups %xmm1, 80(%rsp)
  movups %xmm2, 96(%rsp)
  movups %xmm3, 112(%rsp)
  movups %xmm4, 128(%rsp)
  movups %xmm5, 144(%rsp)
  movups %xmm6, 160(%rsp)
  movups %xmm7, 176(%rsp)
  call simulated_objc_lookup
  movq %rax, %r11
  movq 0(%rsp), %rdi
  movq 8(%rsp), %rsi
  movq 16(%rsp), %rdx
  movq 24(%rsp), %rcx
  movq 32(%rsp), %r8
  movq 40(%rsp), %r9
  movq 48(%rsp), %rax
  movups 64(%rsp), %xmm0
  movups 80(%rsp), %xmm1
  movups 96(%rsp), %xmm2
  movups 112(%rsp), %xmm3
  movups 128(%rsp), %xmm4
  movups 144(%rsp), %xmm5
  movups 160(%rsp), %xmm6
  movups 176(%rsp), %xmm7
  leave
  .cfi_def_cfa %rsp, 8
  jmp *%r11
  .cfi_endproc
  .size objc_msgSend, .-objc_msgSend

  .hidden simulated_objc_nothing
  .globl simulated_objc_nothing
  .type simulated_objc_nothing, @function
  .p2align 4
simulated_objc_nothing:
  .cfi_startproc
  endbr64
  xorl %eax, %eax
  xorl %edx, %edx
  xorps %xmm0, %xmm0
  xorps %xmm1, %xmm1
  ret
  .cfi_endproc
  .size simulated_objc_nothing, .-simulated_objc_nothing
)");

SIMULATED_EXPORT const char* sel_registerName(const char* name) { return selector_of(name); }

SIMULATED_EXPORT const void* objc_getClass(const char* name) { return class_of_name(name); }

SIMULATED_EXPORT Object* objc_retain(Object* object) { return retain(object); }
SIMULATED_EXPORT void objc_release(Object* object) { release(object); }
SIMULATED_EXPORT void* objc_autoreleasePoolPush() { return push_pool(); }
SIMULATED_EXPORT void objc_autoreleasePoolPop(void* token) { pop_pool(token); }
