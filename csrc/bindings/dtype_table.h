// The table of dtypes (ferrule/dtypes.h) for Python.
#pragma once

namespace ferrule::python {

// The DLPack code of a dtype; -1 if there is none.
int dlpack_code_of(const char* name);

}  // namespace ferrule::python
