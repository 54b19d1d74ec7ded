#include "windows/handle.h"

#include <windows.h>

#include <algorithm>
#include <system_error>

namespace ferrule::windows {

Handle::Handle(void* value) : value_(value == INVALID_HANDLE_VALUE ? nullptr : value) {}

void Handle::close() noexcept {
  if (value_ != nullptr) CloseHandle(value_);
  value_ = nullptr;
}

Pipe::Pipe() {
  HANDLE read = nullptr, write = nullptr;
  if (CreatePipe(&read, &write, nullptr, 1 << 16) == 0)
    throw std::system_error(static_cast<int>(GetLastError()), std::system_category(), "pipe");
  reader = Handle(read), writer = Handle(write);
}

bool read_available(const Handle& reader, std::string& to, std::size_t most) {
  DWORD there = 0;
  if (PeekNamedPipe(reader.get(), nullptr, 0, nullptr, &there, nullptr) == 0) return false;
  const std::size_t before = to.size();
  DWORD count = 0;
  to.resize(before + std::min<std::size_t>(there, most));
  if (there > 0 && most > 0)
    ReadFile(reader.get(), to.data() + before, static_cast<DWORD>(to.size() - before), &count, nullptr);
  to.resize(before + count);
  return true;
}

}  // namespace ferrule::windows
