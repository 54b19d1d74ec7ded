// The verdict about a module, from what its worker said and how it ended.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace ferrule::probe {

// The end of a worker, as its supervisor saw it.
struct Ending {
  std::string ended_because;  // why the supervisor ended it; "" when it did not
  std::string fault;          // what ended it otherwise, such as "SIGSEGV (invalid memory access)"; "" when it exited
  int exit_status = 0;        // when it exited
  bool is_timeout = false;
  bool is_accident = false;  // it may not occur again
};

// The most bytes of an answer. A worker that sends more is ended.
constexpr std::size_t largest_answer = std::size_t{1} << 20;

// The members verdict, reason, code, may_pass, devices, threads and version of what supervise() returns. `answer` is
// the text that the worker of `module` wrote; sentences about the module that are no reason are added to `notes`.
nlohmann::json verdict_about(const std::string& module, const std::string& answer, const std::string& seal,
                             const Ending& ending, std::vector<std::string>& notes);

// A text that a module cannot guess.
std::string new_seal();

}  // namespace ferrule::probe
