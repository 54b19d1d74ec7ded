// What module.cpp and the rest of the module call of each other. module.cpp is run before it is known whether anything
// else may be.
#pragma once

#include <ferrule/backend.h>

#ifdef __cplusplus
extern "C" {
#endif
// Writes the processor's name, 48 characters and a zero; empty if it has none.
void ferrule_cpu_brand(char* out);
#ifdef __cplusplus
}
#endif

fe_error* ferrule_cpu_init(const fe_host* host, fe_backend* out);
