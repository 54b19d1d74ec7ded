// The process that opens a module: what it does, and what it says on the way.
#pragma once

#include <string>

namespace ferrule::probe {

// Opens the module, lists its devices, and on each compiles and runs one small graph; then unloads it. Writes lines of
// JSON to the descriptor `answer`: {"step": ..} before each step, at last {"answer": {..}}. Does not return: it ends
// without calling what a module left to be called at exit.
// `seal` goes with the answer: what is written without it came from the module.
[[noreturn]] void work(const std::string& module, int answer, const std::string& seal);

// What the worker exits with when its answer cannot be written any more.
constexpr int answer_is_closed = 77;

}  // namespace ferrule::probe
