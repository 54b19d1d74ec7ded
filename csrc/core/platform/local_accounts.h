// The accounts in this machine's /etc/passwd.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace ferrule {

struct LocalAccount {
  std::string name;
  uint32_t user = 0;   // the uid
  uint32_t group = 0;  // the gid of its primary group
  friend bool operator==(const LocalAccount&, const LocalAccount&) = default;
};

// Lines that are not accounts are skipped.
std::vector<LocalAccount> local_accounts_in(std::istream& passwd);
// The accounts of this machine; empty when they cannot be read.
std::vector<LocalAccount> local_accounts();

// Whether at least one account has this group as its primary group, and all such accounts are trusted. /etc/passwd is
// read because the group database does not list these accounts, and enumerating the users of a network directory may
// be slow, disabled or incomplete.
bool is_first_group_of_trusted_only(uint32_t group, std::span<const LocalAccount> accounts,
                                    const std::function<bool(uint32_t user)>& is_trusted);

}  // namespace ferrule
