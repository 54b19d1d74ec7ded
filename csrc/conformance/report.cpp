#include "conformance/check.h"

#include <cstdio>

namespace ferrule::conformance {

void Report::problem(const std::string& sentence) {
  constexpr size_t most = 20;
  if (problems_.size() < most - 1) return problems_.push_back(sentence);
  if (problems_.size() == most - 1) problems_.emplace_back("and more of the same");
}

void Report::now(const std::string& what) const { std::fprintf(stderr, "now: %s\n", what.c_str()); }

}  // namespace ferrule::conformance
