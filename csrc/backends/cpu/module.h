// Functions that module.cpp and the rest of the module share. module.cpp runs before it is known whether the processor
// can run the rest.
#pragma once

#include <ferrule/backend.h>

#ifdef __cplusplus
extern "C" {
#endif
// Writes the processor's name to `out`: up to 48 characters and a zero byte; empty if it has none.
void ferrule_cpu_brand(char* out);
#ifdef __cplusplus
}
#endif

fe_error* ferrule_cpu_init(const fe_host* host, fe_backend* out);
