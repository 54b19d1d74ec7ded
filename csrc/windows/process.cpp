#include "windows/process.h"

#include "windows/file.h"
#include "windows/text.h"

#include <windows.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <system_error>

namespace ferrule::windows {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(static_cast<int>(GetLastError()), std::system_category(), what);
}

// As CommandLineToArgvW and the C library read it: backslashes count only before a quotation mark.
void append_quoted(std::wstring& line, const std::wstring& argument) {
  if (!line.empty()) line += L' ';
  line += L'"';
  std::size_t backslashes = 0;
  for (const wchar_t letter : argument) {
    if (letter == L'"') line.append(backslashes + 1, L'\\');
    backslashes = letter == L'\\' ? backslashes + 1 : 0;
    line += letter;
  }
  line.append(backslashes, L'\\');
  line += L'"';
}

// A handle that a child inherits.
Handle inheritable(void* handle) {
  HANDLE copy = nullptr;
  HANDLE const self = GetCurrentProcess();
  if (handle == nullptr) {
    SECURITY_ATTRIBUTES attributes{sizeof(SECURITY_ATTRIBUTES), nullptr, TRUE};
    copy = CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, &attributes,
                       OPEN_EXISTING, 0, nullptr);
    if (copy == INVALID_HANDLE_VALUE) fail("NUL");
  } else if (DuplicateHandle(self, handle, self, &copy, 0, TRUE, DUPLICATE_SAME_ACCESS) == 0) {
    fail("DuplicateHandle");
  }
  return Handle(copy);
}

// The list of handles that a child gets.
class HandleList {
 public:
  explicit HandleList(std::vector<void*>& handles) {
    SIZE_T size = 0;
    InitializeProcThreadAttributeList(nullptr, 1, 0, &size);
    memory_.resize(size);
    if (InitializeProcThreadAttributeList(list(), 1, 0, &size) == 0) fail("InitializeProcThreadAttributeList");
    if (UpdateProcThreadAttribute(list(), 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles.data(),
                                  handles.size() * sizeof(HANDLE), nullptr, nullptr) == 0)
      fail("UpdateProcThreadAttribute");
  }
  ~HandleList() { DeleteProcThreadAttributeList(list()); }
  HandleList(const HandleList&) = delete;
  HandleList& operator=(const HandleList&) = delete;
  LPPROC_THREAD_ATTRIBUTE_LIST list() { return reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(memory_.data()); }

 private:
  std::vector<std::byte> memory_;
};

}  // namespace

Process start_process(const std::wstring& program, const std::vector<std::string>& arguments, const Streams& streams,
                      const std::vector<void*>& others, bool is_suspended) {
  std::wstring line;
  append_quoted(line, program);
  for (const std::string& argument : arguments) append_quoted(line, to_wide(argument));
  const std::array<Handle, 3> given = {inheritable(streams.input), inheritable(streams.output),
                                       inheritable(streams.error)};
  std::vector<void*> handles = {given[0].get(), given[1].get(), given[2].get()};
  for (void* const other : others) {
    if (SetHandleInformation(other, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT) == 0) fail("SetHandleInformation");
    handles.push_back(other);
  }
  HandleList list(handles);
  STARTUPINFOEXW startup{};
  startup.StartupInfo.cb = sizeof startup;
  startup.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  startup.StartupInfo.hStdInput = handles[0];
  startup.StartupInfo.hStdOutput = handles[1];
  startup.StartupInfo.hStdError = handles[2];
  startup.lpAttributeList = list.list();
  PROCESS_INFORMATION started{};
  const DWORD flags =
      EXTENDED_STARTUPINFO_PRESENT | CREATE_NO_WINDOW | static_cast<DWORD>(is_suspended ? CREATE_SUSPENDED : 0);
  const BOOL is_started = CreateProcessW(long_path(program).c_str(), line.data(), nullptr, nullptr, TRUE, flags,
                                         nullptr, nullptr, &startup.StartupInfo, &started);
  const DWORD problem = GetLastError();
  for (void* const other : others) SetHandleInformation(other, HANDLE_FLAG_INHERIT, 0);
  if (is_started == 0) throw std::system_error(static_cast<int>(problem), std::system_category(), "CreateProcess");
  return {Handle(started.hProcess), Handle(started.hThread)};
}

Job::Job(uint64_t bytes) : job_(CreateJobObjectW(nullptr, nullptr)) {
  if (!job_) fail("CreateJobObject");
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  limits.BasicLimitInformation.LimitFlags =
      JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION | JOB_OBJECT_LIMIT_JOB_MEMORY;
  limits.JobMemoryLimit = static_cast<SIZE_T>(bytes);
  if (SetInformationJobObject(job_.get(), JobObjectExtendedLimitInformation, &limits, sizeof limits) == 0)
    fail("SetInformationJobObject");
}

void Job::add(const Handle& process) const {
  if (AssignProcessToJobObject(job_.get(), process.get()) == 0) fail("AssignProcessToJobObject");
}

std::vector<std::string> Job::names() const {
  constexpr std::size_t most = 1024;
  std::vector<std::byte> memory(sizeof(JOBOBJECT_BASIC_PROCESS_ID_LIST) + most * sizeof(ULONG_PTR));
  auto* const ids = reinterpret_cast<JOBOBJECT_BASIC_PROCESS_ID_LIST*>(memory.data());
  std::vector<std::string> names;
  if (QueryInformationJobObject(job_.get(), JobObjectBasicProcessIdList, ids, static_cast<DWORD>(memory.size()),
                                nullptr) == 0)
    return names;
  for (DWORD i = 0; i < ids->NumberOfProcessIdsInList; ++i) {
    const Handle process(
        OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, static_cast<DWORD>(ids->ProcessIdList[i])));
    std::wstring path(32768, L'\0');
    auto size = static_cast<DWORD>(path.size());
    if (!process || QueryFullProcessImageNameW(process.get(), 0, path.data(), &size) == 0) continue;
    path.resize(size);
    std::string name = to_utf8(std::filesystem::path(path).filename().native());
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

uint32_t Job::living() const {
  JOBOBJECT_BASIC_ACCOUNTING_INFORMATION counts{};
  QueryInformationJobObject(job_.get(), JobObjectBasicAccountingInformation, &counts, sizeof counts, nullptr);
  return counts.ActiveProcesses;
}

bool Job::end(unsigned milliseconds) const {
  TerminateJobObject(job_.get(), 1);
  for (unsigned waited = 0; living() > 0; waited += 5) {
    if (waited >= milliseconds) return false;
    Sleep(5);
  }
  return true;
}

uint64_t Job::peak_bytes() const {
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION now{};
  QueryInformationJobObject(job_.get(), JobObjectExtendedLimitInformation, &now, sizeof now, nullptr);
  return now.PeakJobMemoryUsed;
}

}  // namespace ferrule::windows
