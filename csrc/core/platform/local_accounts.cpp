#include "core/platform/local_accounts.h"

#if !defined(_WIN32)
#include <array>
#include <charconv>
#include <fstream>
#include <istream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace ferrule {
namespace {

std::optional<uint32_t> number_in(std::string_view text) {
  uint32_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "anna:x:1000:1000:Anna:/home/anna:/bin/sh"
std::optional<LocalAccount> account_in(std::string_view line) {
  std::array<std::string_view, 4> fields;
  for (std::string_view& field : fields) {
    const std::size_t end = line.find(':');
    if (end == std::string_view::npos) return std::nullopt;
    field = line.substr(0, end);
    line.remove_prefix(end + 1);
  }
  const auto user = number_in(fields[2]), group = number_in(fields[3]);
  if (fields[0].empty() || !user || !group) return std::nullopt;
  return LocalAccount{std::string(fields[0]), *user, *group};
}

}  // namespace

std::vector<LocalAccount> local_accounts_in(std::istream& passwd) {
  std::vector<LocalAccount> accounts;
  for (std::string line; std::getline(passwd, line);)
    if (auto account = account_in(line)) accounts.push_back(std::move(*account));
  return accounts;
}

std::vector<LocalAccount> local_accounts() {
  std::ifstream file("/etc/passwd");
  return local_accounts_in(file);
}

bool is_first_group_of_trusted_only(uint32_t group, std::span<const LocalAccount> accounts,
                                    const std::function<bool(uint32_t user)>& is_trusted) {
  bool is_known = false;
  for (const LocalAccount& account : accounts) {
    if (account.group != group) continue;
    if (!is_trusted(account.user)) return false;
    is_known = true;
  }
  return is_known;
}

}  // namespace ferrule
#endif
