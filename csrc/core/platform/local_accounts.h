// The accounts that this machine itself keeps, in /etc/passwd.
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
  uint32_t user = 0;   // its number
  uint32_t group = 0;  // the number of its first group
  friend bool operator==(const LocalAccount&, const LocalAccount&) = default;
};

// Lines that are no accounts are left out.
std::vector<LocalAccount> local_accounts_in(std::istream& passwd);
// Of this machine; none when they cannot be read.
std::vector<LocalAccount> local_accounts();

// Whether a group has accounts, and none but these: at least one account has it as its first group, and each that has
// it so is trusted. The system has no question "whose first group is this": its database of groups names other members
// only, and asking a directory on the network for all its users may be slow, switched off or incomplete.
bool is_first_group_of_trusted_only(uint32_t group, std::span<const LocalAccount> accounts,
                                    const std::function<bool(uint32_t user)>& is_trusted);

}  // namespace ferrule
