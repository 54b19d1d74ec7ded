// An object of Windows that is closed on destruction, and pipes.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace ferrule::windows {

class Handle {
 public:
  Handle() = default;
  explicit Handle(void* value);  // takes INVALID_HANDLE_VALUE for none
  Handle(Handle&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Handle() { close(); }
  void close() noexcept;
  void* get() const noexcept { return value_; }
  explicit operator bool() const noexcept { return value_ != nullptr; }

 private:
  void* value_ = nullptr;
};

// No child process inherits these, unless start_process is given them. Throws std::system_error.
struct Pipe {
  Pipe();
  Handle reader, writer;
};

// Appends what is in the pipe, at most `most` bytes, without waiting. False when there is nothing and all writers have
// closed it.
bool read_available(const Handle& reader, std::string& to, std::size_t most);

}  // namespace ferrule::windows
