// The process that opens a module and reports its steps.
#pragma once

#include <cstdint>
#include <string>

namespace ferrule::probe {

// Opens the module, lists its devices, compiles and runs a small graph on each, and unloads it. Writes lines of JSON to
// the descriptor, on Windows the handle, `answer`: {"step": ..} before each step, finally {"answer": {..}}. Exits
// without running the module's exit handlers. `seal` is written with the answer: an answer without it comes from the
// module and is ignored.
[[noreturn]] void work(const std::string& module, intptr_t answer, const std::string& seal);

// The first of the arguments of a ferrule-probe that is the worker; the others are the handle, the seal, the module and
// the folder of libraries.
constexpr const char* worker_option = "--work";

// The worker's exit status when it cannot write its answer.
constexpr int answer_is_closed = 77;

}  // namespace ferrule::probe
