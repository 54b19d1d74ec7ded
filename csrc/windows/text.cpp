#include "windows/text.h"

#include <windows.h>

#include <shellapi.h>

namespace ferrule::windows {

std::wstring to_wide(std::string_view text) {
  const int count = static_cast<int>(text.size());
  std::wstring wide(static_cast<std::size_t>(MultiByteToWideChar(CP_UTF8, 0, text.data(), count, nullptr, 0)), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, text.data(), count, wide.data(), static_cast<int>(wide.size()));
  return wide;
}

std::string to_utf8(std::wstring_view wide) {
  const int count = static_cast<int>(wide.size());
  const int size = WideCharToMultiByte(CP_UTF8, 0, wide.data(), count, nullptr, 0, nullptr, nullptr);
  std::string text(static_cast<std::size_t>(size), '\0');
  WideCharToMultiByte(CP_UTF8, 0, wide.data(), count, text.data(), size, nullptr, nullptr);
  return text;
}

std::string error_text(unsigned long code) {
  wchar_t* wide = nullptr;
  const DWORD count =
      FormatMessageW(FORMAT_MESSAGE_ALLOCATE_BUFFER | FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS,
                     nullptr, code, 0, reinterpret_cast<wchar_t*>(&wide), 0, nullptr);
  std::string text = count > 0 ? to_utf8({wide, count}) : "error " + std::to_string(code) + " of Windows";
  LocalFree(wide);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == '.' || text.back() == ' '))
    text.pop_back();
  return text;
}

std::string last_error_text() { return error_text(GetLastError()); }

std::vector<std::string> program_arguments() {
  int count = 0;
  wchar_t** const words = CommandLineToArgvW(GetCommandLineW(), &count);
  std::vector<std::string> arguments;
  for (int i = 1; i < count; ++i) arguments.push_back(to_utf8(words[i]));
  LocalFree(words);
  return arguments;
}

}  // namespace ferrule::windows
