#include "core/platform/files/file_writers.h"

#if defined(_WIN32)
#include "core/error.h"
#include "module_file/path_text.h"
#include "windows/file.h"
#include "windows/text.h"

#include <windows.h>

#include <aclapi.h>
#include <sddl.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace ferrule {
namespace {

constexpr std::string_view everyone = "S-1-1-0", authenticated_users = "S-1-5-11", users = "S-1-5-32-545",
                           accounts = "S-1-5-21-",  // of this machine and of domains
    accounts_of_entra = "S-1-12-1-";
// These can write every file: the system, the administrators, and the installer of Windows. Entries for the creator and
// for "owner rights" stand for the owner.
constexpr std::array<std::string_view, 5> powerful = {
    "S-1-5-18", "S-1-5-32-544", "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464", "S-1-3-0", "S-1-3-4"};

std::string text_of(PSID sid) {
  wchar_t* wide = nullptr;
  if (ConvertSidToStringSidW(sid, &wide) == 0) fail(FE_IO, "{}", windows::last_error_text());
  std::string text = windows::to_utf8(wide);
  LocalFree(wide);
  return text;
}

std::string own_user() {
  HANDLE opened = nullptr;
  if (OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &opened) == 0) return "";
  const windows::Handle token(opened);
  alignas(TOKEN_USER) std::array<std::byte, 1024> memory{};
  DWORD size = 0;
  if (GetTokenInformation(token.get(), TokenUser, memory.data(), static_cast<DWORD>(memory.size()), &size) == 0)
    return "";
  return text_of(reinterpret_cast<const TOKEN_USER*>(memory.data())->User.Sid);
}

// The rights with which a file or folder, or what it contains, can become something else.
DWORD rights_of_writer(WriterOf what) {
  constexpr DWORD always = DELETE | WRITE_DAC | WRITE_OWNER | GENERIC_ALL;
  switch (what) {
    case WriterOf::file:
      return always | GENERIC_WRITE | FILE_WRITE_DATA | FILE_APPEND_DATA;
    case WriterOf::folder:
      return always | GENERIC_WRITE | FILE_ADD_FILE | FILE_DELETE_CHILD;
    default:
      return always | FILE_DELETE_CHILD;  // a new folder beside one that exists does no harm
  }
}

}  // namespace

std::vector<Writer> writers_of(const std::filesystem::path& path, WriterOf what) {
  // The root of a network path is a server, which has no access list.
  if (path == path.root_path() && path.native().starts_with(L"\\\\")) return {};
  std::wstring name = windows::long_path(path.native());
  PSID owner = nullptr;
  PACL list = nullptr;
  PSECURITY_DESCRIPTOR descriptor = nullptr;
  const DWORD problem =
      GetNamedSecurityInfoW(name.data(), SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION, &owner,
                            nullptr, &list, nullptr, &descriptor);
  if (problem != ERROR_SUCCESS)
    fail(FE_IO, "{} cannot be inspected: {}", path_to_text(path), windows::error_text(problem));
  struct Freed {
    PSECURITY_DESCRIPTOR descriptor;
    ~Freed() { LocalFree(descriptor); }
  } const freed{descriptor};
  std::vector<Writer> writers;
  if (owner != nullptr) writers.push_back({text_of(owner)});
  if (list == nullptr) {  // no list at all allows everything
    writers.push_back({std::string(everyone)});
    return writers;
  }
  for (DWORD i = 0; i < list->AceCount; ++i) {
    void* entry = nullptr;
    if (GetAce(list, i, &entry) == 0) continue;
    const auto* const allowed = static_cast<const ACCESS_ALLOWED_ACE*>(entry);
    // Denials are not subtracted: what is left would depend on the groups of each user.
    if (allowed->Header.AceType != ACCESS_ALLOWED_ACE_TYPE &&
        allowed->Header.AceType != ACCESS_ALLOWED_CALLBACK_ACE_TYPE)
      continue;
    if ((allowed->Header.AceFlags & INHERIT_ONLY_ACE) != 0 || (allowed->Mask & rights_of_writer(what)) == 0) continue;
    writers.push_back({text_of(const_cast<DWORD*>(&allowed->SidStart))});
  }
  return writers;
}

bool is_among(const Writer& writer, const std::set<Writer>& writers) {
  const auto has = [&](std::string_view sid) { return writers.contains({std::string(sid)}); };
  if (has(writer.sid) || has(everyone)) return true;
  if (std::find(powerful.begin(), powerful.end(), writer.sid) != powerful.end()) return true;
  if (writer.sid == own_user()) return true;
  const bool is_group_of_all = writer.sid == authenticated_users || writer.sid == users;
  const bool is_account = writer.sid.starts_with(accounts) || writer.sid.starts_with(accounts_of_entra);
  return (is_group_of_all || is_account) && (has(authenticated_users) || has(users));
}

std::string describe(const Writer& writer) {
  if (writer.sid == everyone) return "everybody";
  PSID sid = nullptr;
  if (ConvertStringSidToSidW(windows::to_wide(writer.sid).c_str(), &sid) == 0) return writer.sid;
  std::array<wchar_t, 256> name{}, domain{};
  auto name_size = static_cast<DWORD>(name.size()), domain_size = static_cast<DWORD>(domain.size());
  SID_NAME_USE kind{};
  const BOOL is_known = LookupAccountSidW(nullptr, sid, name.data(), &name_size, domain.data(), &domain_size, &kind);
  LocalFree(sid);
  if (is_known == 0) return writer.sid;
  const std::string account = windows::to_utf8(name.data()), of = windows::to_utf8(domain.data());
  return of.empty() ? account : of + "\\" + account;
}

std::string advice_against(const Writer&, const std::filesystem::path&) { return "put it where only you can write"; }

}  // namespace ferrule
#endif
