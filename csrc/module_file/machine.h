// The machines that module files are for.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>

namespace ferrule::module_file {

struct Machine {
  const char* name;
  uint32_t elf, pe, mach_o;  // its numbers in the files; 0 where it has none
};

inline constexpr std::array machines = {
    Machine{"x86-64", 62, 0x8664, 0x01000007},
    Machine{"aarch64", 183, 0xaa64, 0x0100000c},
    Machine{"x86 (32 bit)", 3, 0x014c, 0x00000007},
    Machine{"arm (32 bit)", 40, 0x01c4, 0x0000000c},
    Machine{"riscv", 243, 0x5064, 0},
};

// The machine that this program runs on; without a name when it is not in the table.
#if defined(__x86_64__) || defined(_M_X64)
inline constexpr Machine our_machine = machines[0];
#elif defined(__aarch64__) || defined(_M_ARM64)
inline constexpr Machine our_machine = machines[1];
#else
inline constexpr Machine our_machine = {"", 0, 0, 0};
#endif

// Why a file for the machine of this number cannot be opened here; "" when it can. `number` is elf, pe or mach_o.
inline std::string complaint_about_machine(uint32_t Machine::*format, uint32_t number) {
  if (*our_machine.name == '\0' || number == our_machine.*format) return "";
  std::string name = fmt::format("machine {}", number);
  for (const Machine& machine : machines)
    if (number != 0 && machine.*format == number) name = machine.name;
  return fmt::format("it is a module for {}, this machine is {}", name, our_machine.name);
}

}  // namespace ferrule::module_file
