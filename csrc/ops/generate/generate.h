// Files that are generated from the op rows, each as text.
#pragma once

#include <string>

namespace ferrule::ops {

std::string c_header();     // ferrule/ops.h: the attribute structs
std::string op_table();     // ferrule/op_table.hpp: the parts of rows that modules check nodes against
std::string op_samples();   // op_samples.inc: a call of each op for each dtype, for the conformance kit
std::string description();  // ops.json: what python_files.py makes the functions and their page of

}  // namespace ferrule::ops
