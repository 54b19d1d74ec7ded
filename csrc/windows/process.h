// Child processes, and jobs: groups of processes that end together.
#pragma once

#include "windows/handle.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ferrule::windows {

struct Streams {
  void* input;  // handles; null is the empty file
  void* output;
  void* error;
};

struct Process {
  Handle process, first_thread;
};

// Starts a program without a window and with these arguments (UTF-8), not counting its name. The child gets the streams
// and the `others`, and no further handle of this process. `is_suspended`: until ResumeThread(first_thread). Throws
// std::system_error.
Process start_process(const std::wstring& program, const std::vector<std::string>& arguments, const Streams& streams,
                      const std::vector<void*>& others = {}, bool is_suspended = false);

// Ends all its processes, and those that they start, when it is destroyed, or this process ends.
class Job {
 public:
  // `bytes`: the limit of the memory of all processes together. Throws std::system_error.
  explicit Job(uint64_t bytes);
  void add(const Handle& process) const;
  // The names of the programs of the living processes, each once.
  std::vector<std::string> names() const;
  // Ends all, and waits for at most so many milliseconds; false when some live then.
  bool end(unsigned milliseconds) const;
  uint64_t peak_bytes() const;  // of memory, of all together; 0 when the system does not tell

 private:
  uint32_t living() const;
  Handle job_;
};

}  // namespace ferrule::windows
