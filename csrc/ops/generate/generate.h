// What is generated from the op rows, each as text for one file.
#pragma once

#include <string>

namespace ferrule::ops {

std::string c_header();       // ferrule/ops.h: the attribute structs
std::string json();           // the op set as data
std::string python_module();  // ferrule/_ops.py
std::string python_stub();    // ferrule/_ops.pyi
std::string markdown();       // docs/ops.md

}  // namespace ferrule::ops
