#include "core/platform/machine/system_state.h"

#include "core/sync/once.h"

#include <array>
#include <cstddef>

#if defined(_WIN32)
#include "windows/text.h"

#include <windows.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#else
#include <fstream>
#endif

namespace ferrule {

#if defined(_WIN32)
namespace {

// "" for a value that does not exist, is no text, or is longer than 255 characters.
std::string registry_text(const std::wstring& key, const wchar_t* value) {
  std::array<wchar_t, 256> text{};
  DWORD size = sizeof text;
  const LSTATUS status =
      RegGetValueW(HKEY_LOCAL_MACHINE, key.c_str(), value, RRF_RT_REG_SZ, nullptr, text.data(), &size);
  return status == ERROR_SUCCESS ? windows::to_utf8(text.data()) : "";
}

}  // namespace

std::string boot_id() {
  DWORD id = 0, size = sizeof id;
  constexpr const wchar_t* key =
      L"SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Memory Management\\PrefetchParameters";
  const LSTATUS status = RegGetValueW(HKEY_LOCAL_MACHINE, key, L"BootId", RRF_RT_REG_DWORD, nullptr, &id, &size);
  return status == ERROR_SUCCESS ? std::to_string(id) : "";
}

std::string display_drivers() {
  // The class of display adapters; each driver has a key with a number of four digits.
  const std::wstring adapters = L"SYSTEM\\CurrentControlSet\\Control\\Class\\{4d36e968-e325-11ce-bfc1-08002be10318}";
  HKEY opened = nullptr;
  if (RegOpenKeyExW(HKEY_LOCAL_MACHINE, adapters.c_str(), 0, KEY_ENUMERATE_SUB_KEYS, &opened) != ERROR_SUCCESS)
    return "";
  std::string lines;
  for (DWORD i = 0;; ++i) {
    std::array<wchar_t, 256> name{};
    auto size = static_cast<DWORD>(name.size());
    if (RegEnumKeyExW(opened, i, name.data(), &size, nullptr, nullptr, nullptr, nullptr) != ERROR_SUCCESS) break;
    const std::wstring adapter = adapters + L"\\" + name.data();
    const std::string version = registry_text(adapter, L"DriverVersion");
    if (!version.empty()) lines += registry_text(adapter, L"DriverDesc") + " " + version + "\n";
  }
  RegCloseKey(opened);
  return lines;
}
#else
std::string boot_id() {
#if defined(__APPLE__)
  std::array<char, 64> id{};
  std::size_t size = id.size() - 1;
  return sysctlbyname("kern.bootsessionuuid", id.data(), &size, nullptr, 0) == 0 ? id.data() : "";
#else
  static constinit Once<std::string> id;
  return id.get([] {
    std::string line;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), line);
    return line;
  });
#endif
}

std::string display_drivers() { return ""; }
#endif

}  // namespace ferrule
