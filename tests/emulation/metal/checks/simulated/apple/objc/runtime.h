// What metal-cpp needs of Apple's header of this name, to be compiled on Linux.
#pragma once

struct objc_object {
  void* isa;
};
using SEL = const struct objc_selector*;

extern "C" {
void* objc_lookUpClass(const char* name);
void* objc_getProtocol(const char* name);
SEL sel_registerName(const char* name);
}
