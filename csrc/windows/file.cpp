#include "windows/file.h"

#include "windows/text.h"

#include <windows.h>

#include <sddl.h>

#include <algorithm>

namespace ferrule::windows {

std::wstring long_path(const std::wstring& path) {
  constexpr std::size_t longest = 240;  // of a folder even less than 260
  if (path.size() < longest || path.starts_with(L"\\\\?\\")) return path;
  std::wstring normal = path;
  std::replace(normal.begin(), normal.end(), L'/', L'\\');
  if (normal.starts_with(L"\\\\")) return L"\\\\?\\UNC" + normal.substr(1);
  if (normal.size() > 2 && normal[1] == L':' && normal[2] == L'\\') return L"\\\\?\\" + normal;
  return path;
}

Handle open_file(const std::wstring& path, bool follows_links, std::string& problem) {
  const std::wstring name = long_path(path);
  const DWORD flags = FILE_FLAG_BACKUP_SEMANTICS | (follows_links ? 0 : DWORD{FILE_FLAG_OPEN_REPARSE_POINT});
  Handle file(CreateFileW(name.c_str(), GENERIC_READ, FILE_SHARE_READ, nullptr, OPEN_EXISTING, flags, nullptr));
  if (!file) {
    problem = "it cannot be read: " + last_error_text();
    return {};
  }
  BY_HANDLE_FILE_INFORMATION about{};
  if (GetFileInformationByHandle(file.get(), &about) == 0)
    problem = "it cannot be read: " + last_error_text();
  else if ((about.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 && !follows_links)
    problem = "it is a link, not a regular file";
  else if ((about.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0)
    problem = "it is a folder, not a regular file";
  else if (GetFileType(file.get()) != FILE_TYPE_DISK)
    problem = "it is a device or a pipe, not a regular file";
  return problem.empty() ? std::move(file) : Handle();
}

namespace {

// The system counts 100 ns since 1601. Nanoseconds since then do not fit; a file system without a time says 0.
int64_t ns_since_1970(LARGE_INTEGER time) {
  constexpr int64_t ticks_to_1970 = 116'444'736'000'000'000;
  return time.QuadPart <= ticks_to_1970 ? 0 : (time.QuadPart - ticks_to_1970) * 100;
}

}  // namespace

std::optional<FileStatus> status_of(const Handle& file) {
  BY_HANDLE_FILE_INFORMATION about{};
  FILE_BASIC_INFO times{};
  if (!file || GetFileInformationByHandle(file.get(), &about) == 0 ||
      GetFileInformationByHandleEx(file.get(), FileBasicInfo, &times, sizeof times) == 0)
    return std::nullopt;
  const auto both = [](DWORD high, DWORD low) { return uint64_t{high} << 32 | low; };
  return FileStatus{about.dwVolumeSerialNumber, both(about.nFileIndexHigh, about.nFileIndexLow),
                    both(about.nFileSizeHigh, about.nFileSizeLow), ns_since_1970(times.LastWriteTime),
                    ns_since_1970(times.ChangeTime)};
}

std::string make_private_folder(const std::wstring& path) {
  // Nothing is inherited; the system, the administrators and the owner have all rights, also below.
  constexpr const wchar_t* rights = L"D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;OW)";
  PSECURITY_DESCRIPTOR descriptor = nullptr;
  if (ConvertStringSecurityDescriptorToSecurityDescriptorW(rights, SDDL_REVISION_1, &descriptor, nullptr) == 0)
    return last_error_text();
  SECURITY_ATTRIBUTES attributes{sizeof attributes, descriptor, FALSE};
  const bool is_made = CreateDirectoryW(long_path(path).c_str(), &attributes) != 0;
  const std::string problem = is_made ? "" : last_error_text();
  LocalFree(descriptor);
  return problem;
}

int64_t read_at(const Handle& file, uint64_t offset, void* to, std::size_t count) {
  OVERLAPPED place{};
  place.Offset = static_cast<DWORD>(offset);
  place.OffsetHigh = static_cast<DWORD>(offset >> 32);
  DWORD part = 0;
  const auto wanted = static_cast<DWORD>(std::min(count, std::size_t{1} << 30));
  if (ReadFile(file.get(), to, wanted, &part, &place) == 0) return GetLastError() == ERROR_HANDLE_EOF ? 0 : -1;
  return part;
}

}  // namespace ferrule::windows
