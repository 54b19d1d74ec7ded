// Host API: text and errors.
#include "core/api/handles.h"

extern "C" {

const char* fe_string_data(const fe_string* string) { return string ? string->text.c_str() : ""; }
void fe_string_release(fe_string* string) { delete string; }
fe_code fe_error_code(const fe_error* error) { return error ? ferrule::code_of(error) : FE_OK; }
const char* fe_error_message(const fe_error* error) { return error ? ferrule::message_of(error) : ""; }
void fe_error_release(fe_error* error) { ferrule::release(error); }
const char* fe_version(void) { return FERRULE_VERSION; }
}
