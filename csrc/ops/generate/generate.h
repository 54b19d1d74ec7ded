// Files that are generated from the op rows, each as text.
#pragma once

#include "ops/row.h"

#include <string>

namespace ferrule::ops {

const char* name_of(Kind kind);

std::string c_header();     // ferrule/ops.h: the attribute structs
std::string op_table();     // ferrule/op_table.hpp: the parts of rows that modules check nodes against
std::string op_samples();   // op_samples.inc: a call of each op for each dtype, for the conformance kit
std::string description();  // ops.json: what python_files.py reads

}  // namespace ferrule::ops
