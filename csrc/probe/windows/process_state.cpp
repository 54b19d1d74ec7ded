#include "probe/process_state.h"

#include "module_file/path_text.h"

#include <windows.h>

#include <tlhelp32.h>

#include <cfenv>
#include <clocale>
#include <cwchar>
#include <filesystem>

namespace ferrule::probe {
namespace {

// The bits of MXCSR that let an arithmetic fault end the program, all set in a new process.
int floating_point_traps() {
#if defined(__x86_64__)
  return static_cast<int>(~__builtin_ia32_stmxcsr() >> 7 & 0x3f);
#else
  return 0;
#endif
}

std::map<std::string, std::string> variables() {
  std::map<std::string, std::string> out;
  wchar_t* const block = GetEnvironmentStringsW();
  if (block == nullptr) return out;
  for (const wchar_t* entry = block; *entry != L'\0'; entry += std::wcslen(entry) + 1) {
    const std::string text = path_to_text(std::filesystem::path(entry));
    // The names of the current directory of each drive begin with '='.
    const std::size_t equals = text.find('=', 1);
    if (equals != std::string::npos) out.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  FreeEnvironmentStringsW(block);
  return out;
}

}  // namespace

std::string name_of_handler(std::size_t) { return "unhandled exceptions"; }

ProcessState ProcessState::now() {
  ProcessState state;
  const char* locale = std::setlocale(LC_ALL, nullptr);
  state.locale = locale != nullptr ? locale : "";
  std::error_code problem;
  state.folder = path_to_text(std::filesystem::current_path(problem));
  state.keeps_denormals = denormals_are_kept();
  state.rounding = std::fegetround();
  state.traps = floating_point_traps();
  for (const DWORD stream : {STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE}) {
    HANDLE const handle = GetStdHandle(stream);
    state.streams.push_back(reinterpret_cast<uintptr_t>(handle));
    state.streams.push_back(GetFileType(handle));  // of a closed one unknown
  }
  LPTOP_LEVEL_EXCEPTION_FILTER const filter = SetUnhandledExceptionFilter(nullptr);
  SetUnhandledExceptionFilter(filter);
  state.handlers = {0, reinterpret_cast<uintptr_t>(filter)};
  state.environment = variables();
  return state;
}

Sentinels::Sentinels() {
  for (intptr_t& handle : descriptors_)
    handle = reinterpret_cast<intptr_t>(
        CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr, OPEN_EXISTING, 0, nullptr));
}

bool Sentinels::are_open() const {
  for (const intptr_t handle : descriptors_)
    if (GetFileType(reinterpret_cast<HANDLE>(handle)) != FILE_TYPE_CHAR) return false;
  return true;
}

std::size_t thread_count() {
  HANDLE const all = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
  if (all == INVALID_HANDLE_VALUE) return 0;
  std::size_t count = 0;
  THREADENTRY32 thread{};
  thread.dwSize = sizeof thread;
  const DWORD own = GetCurrentProcessId();
  for (BOOL found = Thread32First(all, &thread); found != 0; found = Thread32Next(all, &thread))
    if (thread.th32OwnerProcessID == own) ++count;
  CloseHandle(all);
  return count;
}

}  // namespace ferrule::probe
